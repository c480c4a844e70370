"""Online Retail II comes out as the paper counts it, from whichever file it is read."""

from datetime import date, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dgd.datasets import Dataset, Window, online_retail
from dgd.errors import InputError
from support.real_data import real_data

WINDOW = Window("2010-12-01", "2010-12-04", "2010-12-06", "2010-12-08", "2010-12-10")
SHEETS = ("Year 2009-2010", "Year 2010-2011")


def line(invoice: str, day: int, **changes: object) -> dict[str, object]:
    """One line of an invoice, as the workbook has it."""
    return {
        "Invoice": invoice,
        "StockCode": "85048",
        "Description": "GLASS BALL",
        "Quantity": 1,
        "InvoiceDate": datetime(2010, 12, day, 9, 30),
        "Price": 2.5,
        "Customer ID": 13000,
        "Country": "United Kingdom",
    } | changes


def table(*lines: dict[str, object]) -> pl.DataFrame:
    return pl.DataFrame(lines, infer_schema_length=None)


def shop(first: int = 1, last: int = 10) -> list[dict[str, object]]:
    """Twelve invoices in ten days: customers 1 and 13000 buy once in the warm-up, 2 and 3 twice."""
    entries = [
        line("501", 1, **{"Customer ID": 2}),
        line("502", 1, **{"Customer ID": 3}, Price=3.5),
        line("503", 2, **{"Customer ID": 2}),
        line("504", 2, **{"Customer ID": 3}, Price=3.5),
        line("505", 3, **{"Customer ID": 1}),
        *(line(str(510 + day), day) for day in range(4, 11)),
    ]
    return [e for e in entries if first <= e["InvoiceDate"].day <= last]


def read(tmp_path: Path, *lines: dict[str, object], window: Window = WINDOW) -> Dataset:
    file = tmp_path / "shop.parquet"
    table(*lines).write_parquet(file)
    return online_retail(file, window)


def removed(dataset: Dataset, rule: str) -> tuple[int, int]:
    row = dataset.report.row(by_predicate=pl.col("rule") == rule, named=True)
    return row["rows_removed"], row["invoices_removed"]


def write_workbook(file: Path, sheets: dict[str, list[dict[str, object]]]) -> Path:
    """A workbook with the cell types of UCI's: numbers where a code is all digits."""
    xlsxwriter = pytest.importorskip("xlsxwriter", reason="writes the test's workbook")
    with xlsxwriter.Workbook(file) as book:
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
        for name, lines in sheets.items():
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, list(lines[0]) if lines else [])
            for row, values in enumerate(lines, start=1):
                for column, value in enumerate(values.values()):
                    if isinstance(value, datetime):
                        sheet.write_datetime(row, column, value, moment)
                    elif isinstance(value, str) and value.isdigit():
                        sheet.write_number(row, column, int(value))
                    elif value is not None:
                        sheet.write(row, column, value)
    return file


# --- the paper's figures, from the real rows -------------------------------------------------


@pytest.mark.parametrize(
    ("year", "events"), [(2010, (1665, 2237, 682, 960)), (2011, (1549, 2159, 565, 869))]
)
def test_the_papers_events_and_days_come_out(year, events):
    dataset = online_retail(real_data("online_retail_ii"), year)
    assert tuple(dataset.parts["events"]) == events
    assert tuple(dataset.parts["days"]) == (31, 59, 14, 17)


@pytest.mark.parametrize(
    ("year", "medians"), [(2010, (294.52, 135, 14)), (2011, (254.40, 110, 13))]
)
def test_the_papers_medians_come_out(year, medians):
    dataset = online_retail(real_data("online_retail_ii"), year)
    assert tuple(dataset.thresholds.values()) == medians
    assert tuple(dataset.thresholds) == dataset.panel.behaviors


@pytest.mark.parametrize(
    ("year", "sizes"), [(2010, (671, 140, 140, 1)), (2011, (622, 131, 131, 1))]
)
def test_the_papers_cohorts_come_out(year, sizes):
    dataset = online_retail(real_data("online_retail_ii"), year)
    assert tuple(dataset.sizes.values()) == sizes
    assert tuple(dataset.sizes) == ("single", "repeat low", "repeat high", "new")


@pytest.mark.parametrize("year", [2010, 2011])
def test_days_without_customers_stay_as_zeros(year):
    panel = online_retail(real_data("online_retail_ii"), year).panel
    assert panel.days == 121
    christmas = panel.place(date(year - 1, 12, 25), "christmas")
    assert panel.arrivals[christmas].sum() == 0


def test_the_report_accounts_for_every_real_row():
    dataset = online_retail(real_data("online_retail_ii"), 2010)
    report = dataset.report
    assert report["rows_kept"][0] == 289_765
    assert report["rows_kept"][0] - report["rows_removed"].sum() == report["rows_kept"][-1]
    assert report["invoices_kept"][-1] == dataset.panel.arrivals.sum()
    # Both windows of the file together: nothing else is left after cleaning.
    cleaned = report.row(by_predicate=pl.col("rule") == "one date per invoice", named=True)
    other = online_retail(real_data("online_retail_ii"), 2011).panel.arrivals.sum()
    assert cleaned["invoices_kept"] == dataset.panel.arrivals.sum() + other


@pytest.mark.parametrize(
    ("year", "strength", "nll", "count_error"),
    [(2010, 10, 1.7234, 13.53), (2011, 100, 1.7351, 14.34)],
)
def test_training_history_scores_as_it_does_in_the_paper(year, strength, nll, count_error):
    dataset = online_retail(real_data("online_retail_ii"), year)
    panel, window = dataset.panel, dataset.window
    train = slice(panel.place(window.warmup_end, "") + 1, panel.place(window.train_end, "") + 1)
    test = slice(panel.place(window.validation_end, "") + 1, None)
    history = panel.patterns[train].sum((0, 1))
    prior = (history.sum(0) + 0.5) / (history.sum() + 0.5 * 8)
    expected = (history + strength * prior) / (history.sum(-1, keepdims=True) + strength)
    seen = panel.patterns[test, 0]
    assert round(-(seen * np.log(expected)).sum() / seen.sum(), 4) == nll
    per_day = history.sum(-1)[:, None] / 59 * expected
    rates = per_day.sum(0) @ np.array([[(y >> h) & 1 for h in range(3)] for y in range(8)])
    errors = np.abs(rates - panel.behavior_counts[test].sum((1, 2)))
    assert round(errors.mean(), 2) == count_error


def test_own_dates_cut_the_same_invoices():
    whole = online_retail(real_data("online_retail_ii"), 2010)
    own = Window("2009-12-01", "2009-12-31", "2010-01-31", "2010-02-14", "2010-02-28")
    cut = online_retail(real_data("online_retail_ii"), own)
    assert cut.thresholds == whole.thresholds
    np.testing.assert_array_equal(cut.panel.patterns, whole.panel.patterns[: cut.panel.days])


# --- the rules, one by one ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "extra"),
    [
        ("not an exact duplicate", line("515", 5)),
        ("not a cancellation", line("C600", 5)),
        ("quantity above 0", line("600", 5, Quantity=-1)),
        ("quantity above 0", line("600", 5, Quantity=0)),
        ("price above 0", line("600", 5, Price=0.0)),
        ("stock code starts with five digits", line("600", 5, StockCode="POST")),
        ("stock code starts with five digits", line("600", 5, StockCode="1234A")),
        ("in the window", line("600", 11)),
    ],
)
def test_each_rule_removes_its_rows_and_says_so(tmp_path, rule, extra):
    plain = read(tmp_path, *shop())
    dataset = read(tmp_path, *shop(), extra)
    assert removed(dataset, rule)[0] == removed(plain, rule)[0] + 1
    np.testing.assert_array_equal(dataset.panel.patterns, plain.panel.patterns)


def test_an_invoice_with_two_dates_goes_as_a_whole(tmp_path):
    split = (
        line("600", 5),
        line("600", 5, InvoiceDate=datetime(2010, 12, 5, 9, 31), StockCode="22041"),
    )
    dataset = read(tmp_path, *shop(), *split)
    assert removed(dataset, "one date per invoice") == (2, 1)
    assert dataset.panel.arrivals.sum() == 12


def test_a_stock_code_with_a_letter_after_five_digits_is_merchandise(tmp_path):
    dataset = read(tmp_path, *shop(), line("600", 5, StockCode="79323P"))
    assert dataset.panel.arrivals.sum() == 13


def test_marks_are_strictly_above_the_warm_up_medians(tmp_path):
    equal = line("600", 5, Price=2.5)
    above = line("601", 5, Price=2.51)
    dataset = read(tmp_path, *shop(), equal, above)
    fifth = dataset.panel.place("2010-12-05", "day")
    assert dataset.thresholds == {"high_value": 2.5, "high_quantity": 1, "many_products": 1}
    assert dataset.panel.behavior_counts[fifth].sum((0, 1)).tolist() == [1, 0, 0]


def test_a_sum_of_pence_equal_to_the_median_is_not_above_it(tmp_path):
    cheap = [entry | {"Price": 0.3} for entry in shop()]
    cheap[1]["Price"] = cheap[3]["Price"] = 0.4
    pence = [line("600", 5, Price=0.1), line("600", 5, Price=0.2, StockCode="22041")]
    dataset = read(tmp_path, *cheap, *pence)
    fifth = dataset.panel.place("2010-12-05", "day")
    assert dataset.thresholds["high_value"] == 0.3
    assert dataset.panel.behavior_counts[fifth, 0, :, 0].sum() == 0


def test_cohorts_are_fixed_in_the_warm_up(tmp_path):
    later = [
        line(f"60{place}", 5, **{"Customer ID": customer})
        for place, customer in enumerate((1, 2, 3, 4, None))
    ]
    dataset = read(tmp_path, *shop(), *later)
    fifth = dataset.panel.place("2010-12-05", "day")
    assert list(dataset.sizes.values()) == [2, 1, 1, 1]
    assert dataset.panel.arrivals[fifth, 0].tolist() == [2, 1, 1, 2]


def test_history_may_start_before_the_warm_up(tmp_path):
    window = Window(
        "2010-12-03", "2010-12-04", "2010-12-06", "2010-12-08", "2010-12-10",
        history=("2010-12-01", "2010-12-02"),
    )  # fmt: skip
    early = line("600", 2, **{"Customer ID": 7})
    dataset = read(tmp_path, *shop(), early, window=window)
    assert list(dataset.sizes.values()) == [1, 1, 1, 1]
    assert dataset.panel.arrivals.sum() == 8


# --- files of any kind ---------------------------------------------------------------------------


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


@pytest.mark.parametrize("place", [".", "online_retail_ii"])
def test_a_folder_and_the_environment_lead_to_the_file(tmp_path, monkeypatch, place):
    (tmp_path / place).mkdir(exist_ok=True)
    table(*shop()).write_parquet(tmp_path / place / "online_retail_II.parquet")
    assert online_retail(tmp_path, WINDOW).panel.arrivals.sum() == 12
    monkeypatch.setenv("DGD_DATA", str(tmp_path))
    assert online_retail(window=WINDOW).panel.arrivals.sum() == 12


# --- bad input -----------------------------------------------------------------------------------


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
    with pytest.raises(InputError, match="has 0 rows"):
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


def test_a_range_without_invoices_is_named(tmp_path):
    closed = [entry for entry in shop() if entry["InvoiceDate"].day not in (7, 8)]
    with pytest.raises(
        InputError,
        match="InvoiceDate has none of its 10 invoices in the validation range 2010-12-07",
    ):
        read(tmp_path, *closed)


def test_dates_the_file_does_not_reach_are_refused(tmp_path):
    with pytest.raises(
        InputError, match="its 11 rows run from 2010-12-01 to 2010-12-09, but window custom runs"
    ):
        read(tmp_path, *shop(1, 9))


def test_an_unknown_year_is_refused():
    with pytest.raises(InputError, match="window 2012 is not one of 2010, 2011"):
        online_retail(window=2012)


def test_a_warm_up_without_repeat_customers_is_refused(tmp_path):
    once = [entry for entry in shop() if entry["Invoice"] not in ("503", "504")]
    with pytest.raises(InputError, match='no customer for the cohort "repeat low" from 2010-12-01'):
        read(tmp_path, *once)
