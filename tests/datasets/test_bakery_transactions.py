"""The bakery: an arrival is a transaction, marked by what was among its items."""

from pathlib import Path

import polars as pl

from dgd.datasets import Window, bakery
from support.real_data import real_data
from support.refusals import refused

WINDOW = Window.of_days("2016-11-07", 1, 1, 1, 1, name="four days")
FILE = "bakery.parquet"


def items() -> pl.DataFrame:
    """Five transactions on four days, one of them with nothing written down."""
    rows = [
        (1, "11/7/2016", "Coffee"), (1, "11/7/2016", "Coffee"), (1, "11/7/2016", "Cake"),
        (2, "11/8/2016", "NONE"), (3, "11/9/2016", "Bread"), (3, "11/9/2016", "Bread Pudding"),
        (4, "11/10/2016", "Tea"), (5, "11/10/2016", "Coffee"), (5, "11/10/2016", "NONE"),
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=["Transaction", "Date", "Item"], orient="row")


def test_a_transaction_is_one_arrival_with_a_mark_for_each_item(tmp_path: Path) -> None:
    items().write_parquet(tmp_path / FILE)
    found = bakery(tmp_path, WINDOW)
    panel = found.panel
    assert panel.units == ("shop",)
    assert panel.cohorts == ("all",)
    assert panel.behaviors == ("coffee", "bread", "tea", "cake")
    assert panel.arrivals.sum((1, 2)).tolist() == [1, 1, 1, 2]
    assert panel.behavior_counts[:, 0, 0].tolist() == [
        [1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0],
    ]  # fmt: skip
    assert found.report["rows_kept"].to_list() == [9, 5, 5]
    assert found.report["transactions_kept"].to_list() == [5, 5, 5]


def test_dates_written_year_first_are_the_same_days(tmp_path: Path) -> None:
    items().write_parquet(tmp_path / FILE)
    year_first = pl.col("Date").str.to_date("%m/%d/%Y").cast(pl.String)
    items().with_columns(year_first).write_csv(tmp_path / "bakery.csv")
    ours, theirs = (bakery(tmp_path / name, WINDOW).panel for name in (FILE, "bakery.csv"))
    assert (ours.patterns == theirs.patterns).all()


def test_a_day_written_before_its_month_is_refused(tmp_path: Path) -> None:
    wrong = pl.concat([items(), items().tail(1).with_columns(Date=pl.lit("30/11/2016"))])
    wrong.write_parquet(tmp_path / FILE)
    with refused(FILE, "row 10", "column Date", '"30/11/2016"', "month/day/year"):
        bakery(tmp_path, WINDOW)


def test_the_published_file_has_known_totals() -> None:
    found = bakery(real_data(f"arena/{FILE}"))
    assert found.report["rows_kept"][0] == 21_293
    assert found.report["transactions_kept"][0] == 9531
    assert found.panel.arrivals.sum() == 8420
    assert found.panel.behavior_counts.sum((0, 1, 2)).tolist() == [4018, 2785, 1179, 902]
