"""Online Retail II is read alike from a workbook, a CSV or a Parquet file, or refused."""

import numpy as np
import polars as pl
import pytest

from dgd import InputError
from dgd.datasets import online_retail
from support.small_shop import SHEETS, WINDOW, line, removed, shop, table, write_workbook


def test_workbook_csv_and_parquet_give_the_same_panel(tmp_path):
    pytest.importorskip("fastexcel", reason="reads the workbook")
    lines = [
        *shop(),
        line("C600", 5),
        line("601", 5, StockCode="79323P", **{"Customer ID": None}, Price=0.55),
    ]
    table(*lines).write_parquet(tmp_path / "shop.parquet")
    with_floats = table(*lines).with_columns(pl.col("Customer ID").cast(pl.Float64))
    with_floats.write_csv(tmp_path / "shop.csv", datetime_format="%Y-%m-%d %H:%M:%S")
    write_workbook(tmp_path / "shop.xlsx", dict(zip(SHEETS, (lines[:8], lines[8:]), strict=True)))
    expected = online_retail(tmp_path / "shop.parquet", WINDOW).panel
    for name in ("shop.csv", "shop.xlsx"):
        found = online_retail(tmp_path / name, WINDOW).panel
        np.testing.assert_array_equal(found.patterns, expected.patterns)
        np.testing.assert_array_equal(found.size, expected.size)


def test_days_in_both_sheets_are_counted_once(tmp_path):
    pytest.importorskip("fastexcel", reason="reads the workbook")
    sheets = dict(zip(SHEETS, (shop(1, 9), shop(1, 10)), strict=True))
    dataset = online_retail(write_workbook(tmp_path / "shop.xlsx", sheets), WINDOW)
    assert removed(dataset, "not in an earlier sheet too") == (11, 0)
    assert dataset.panel.arrivals.sum() == 12


def test_a_line_that_only_one_sheet_has_is_kept(tmp_path):
    pytest.importorskip("fastexcel", reason="reads the workbook")
    sheets = dict(zip(SHEETS, ([*shop(1, 9), line("600", 5)], shop(1, 10)), strict=True))
    dataset = online_retail(write_workbook(tmp_path / "shop.xlsx", sheets), WINDOW)
    assert dataset.panel.arrivals.sum() == 13


@pytest.mark.parametrize("inside", [".", "online_retail_ii"])
def test_a_folder_and_the_environment_lead_to_the_file(tmp_path, monkeypatch, inside):
    (tmp_path / inside).mkdir(exist_ok=True)
    table(*shop()).write_parquet(tmp_path / inside / "online_retail_II.parquet")
    assert online_retail(tmp_path, WINDOW).panel.arrivals.sum() == 12
    monkeypatch.setenv("DGD_DATA", str(tmp_path))
    assert online_retail(window=WINDOW).panel.arrivals.sum() == 12


def test_a_missing_file_is_answered_with_its_name_and_publisher(tmp_path):
    with pytest.raises(InputError, match=r"online_retail_II\.xlsx.*archive\.ics\.uci\.edu.*/502/"):
        online_retail(tmp_path, 2010)


def test_a_named_file_that_is_not_there_is_answered_with_its_name(tmp_path):
    with pytest.raises(InputError, match=r"mine\.csv of Online Retail II is not in"):
        online_retail(tmp_path / "mine.csv", 2010)


def test_two_files_to_choose_from_are_named(tmp_path):
    for name in ("online_retail_II_a.csv", "online_retail_II_b.csv"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"_a\.csv and online_retail_II_b\.csv; name the one"):
        online_retail(tmp_path, 2010)


def test_a_workbook_with_other_sheets_is_named_with_what_it_has(tmp_path):
    pytest.importorskip("fastexcel", reason="reads the workbook")
    file = write_workbook(tmp_path / "shop.xlsx", {"Sales": shop(), "Notes": []})
    with pytest.raises(InputError, match='no sheet "Year 2009-2010", only Sales, Notes'):
        online_retail(file, WINDOW)


def test_a_file_that_is_no_workbook_is_refused(tmp_path):
    pytest.importorskip("fastexcel", reason="reads the workbook")
    (tmp_path / "shop.xlsx").write_bytes(b"not a workbook")
    with pytest.raises(InputError, match=r"shop\.xlsx cannot be read as a workbook"):
        online_retail(tmp_path / "shop.xlsx", WINDOW)


@pytest.mark.parametrize("name", ["shop.parquet", "shop.csv", "shop.txt"])
def test_a_file_that_is_no_table_is_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=name):
        online_retail(tmp_path / name, WINDOW)


def test_a_missing_column_is_named(tmp_path):
    table(*shop()).drop("Price").write_parquet(tmp_path / "shop.parquet")
    with pytest.raises(InputError, match='has no column "Price"; its columns are Invoice'):
        online_retail(tmp_path / "shop.parquet", WINDOW)


def test_an_empty_log_is_refused(tmp_path):
    table(*shop()).head(0).write_parquet(tmp_path / "shop.parquet")
    with pytest.raises(InputError, match="has no rows; hand over"):
        online_retail(tmp_path / "shop.parquet", WINDOW)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("InvoiceDate", "5 Dec", '"5 Dec" .and 1 more rows. is not a time'),
        ("InvoiceDate", "12/5/2010 8:26", "is not a time; write it like 2010-12-01 08:26:00"),
        ("InvoiceDate", None, "missing .and 1 more rows. is not a time"),
        ("Quantity", "many", '"many" .and 1 more rows. is not a number'),
        ("Price", "NaN", '"NaN" .and 1 more rows. is not a number'),
        ("Price", None, "missing .and 1 more rows. is not a number"),
        ("Customer ID", "Smith", '"Smith" .and 1 more rows. is not a customer number'),
        ("Invoice", None, "is not an invoice number"),
        ("StockCode", None, "is not a stock code"),
    ],
)
def test_a_bad_value_is_named_with_row_column_and_number(tmp_path, column, value, message):
    rows = table(*shop(), line("601", 5), line("602", 5)).with_columns(
        pl.col("InvoiceDate").dt.to_string("%Y-%m-%d %H:%M:%S"), pl.exclude("InvoiceDate").cast(str)
    )
    bad = pl.Series([*rows[column].to_list()[:12], value, value], dtype=pl.String)
    rows.with_columns(bad.alias(column)).write_parquet(tmp_path / "shop.parquet")
    with pytest.raises(InputError, match=f"row 13, column {column}: .*{message}"):
        online_retail(tmp_path / "shop.parquet", WINDOW)
