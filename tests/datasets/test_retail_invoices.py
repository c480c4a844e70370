"""Online Retail II comes out as the paper counts it, and every rule tells what it removed."""

from datetime import date, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dgd import InputError
from dgd.datasets import Dataset, Window, online_retail
from support.real_data import real_data
from support.small_shop import WINDOW, line, removed, shop, table


def read(tmp_path: Path, *lines: dict[str, object], window: Window = WINDOW) -> Dataset:
    file = tmp_path / "shop.parquet"
    table(*lines).write_parquet(file)
    return online_retail(file, window)


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
    christmas = panel.index(date(year - 1, 12, 25), "christmas")
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
    train = slice(panel.index(window.warmup_end, "") + 1, panel.index(window.train_end, "") + 1)
    test = slice(panel.index(window.validation_end, "") + 1, None)
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
    fifth = dataset.panel.index("2010-12-05", "day")
    assert dataset.thresholds == {"high_value": 2.5, "high_quantity": 1, "many_products": 1}
    assert dataset.panel.behavior_counts[fifth].sum((0, 1)).tolist() == [1, 0, 0]


def test_a_sum_of_pence_equal_to_the_median_is_not_above_it(tmp_path):
    cheap = [entry | {"Price": 0.3} for entry in shop()]
    cheap[1]["Price"] = cheap[3]["Price"] = 0.4
    pence = [line("600", 5, Price=0.1), line("600", 5, Price=0.2, StockCode="22041")]
    dataset = read(tmp_path, *cheap, *pence)
    fifth = dataset.panel.index("2010-12-05", "day")
    assert dataset.thresholds["high_value"] == 0.3
    assert dataset.panel.behavior_counts[fifth, 0, :, 0].sum() == 0


def test_cohorts_are_fixed_in_the_warm_up(tmp_path):
    later = [
        line(f"60{index}", 5, **{"Customer ID": customer})
        for index, customer in enumerate((1, 2, 3, 4, None))
    ]
    dataset = read(tmp_path, *shop(), *later)
    fifth = dataset.panel.index("2010-12-05", "day")
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


# --- windows that the invoices do not fill --------------------------------------------------------


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
