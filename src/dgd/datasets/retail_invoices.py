"""Online Retail II: two years of invoices of a British online shop, as daily counts.

D. Chen, UCI Machine Learning Repository 502, CC BY 4.0. Every retained invoice is
one arrival; its marks say whether its value, its quantity and its number of
distinct products lie strictly above the medians of the warm-up.
"""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import cast

import polars as pl

from dgd.counting.assignment import Assignment
from dgd.counting.spending import spending_cohorts
from dgd.datasets.dataset import Dataset
from dgd.datasets.retail_files import find_invoices, parse_lines, read_sheets
from dgd.datasets.sources import data_folder
from dgd.datasets.tallies import Tally
from dgd.datasets.windows import RETAIL_WINDOWS, Window, refuse_empty_parts, window_named
from dgd.errors import InputError
from dgd.panel.panel import Panel
from dgd.tables.clock import Clock

MARKS = {"high_value": "value", "high_quantity": "quantity", "many_products": "products"}
STORE = "store"


def online_retail(path: str | Path | None = None, window: int | Window = 2010) -> Dataset:
    """The invoices of one window: four customer cohorts, one store, three basket marks.

    Cohorts are single-purchase, low-spending repeat and high-spending repeat
    customers of the warm-up; everyone else, and customers without an
    identifier, are "new", with one reference unit.

    Args:
        path: The UCI workbook, a CSV or a Parquet file with its columns, or a folder
            that holds one of them; without it the folder DGD_DATA names, or the one
            `dgd data fetch online-retail` fills.
        window: 2010 or 2011 for the paper's windows, or a `Window` of your own dates.

    Returns:
        The panel, its window, the medians, and a report of what each rule removed.

    Raises:
        InputError: The file is not there or not whole, or does not cover the window.
    """
    if not isinstance(window, Window):
        window = window_named(window, RETAIL_WINDOWS)
    file = find_invoices(data_folder(path))
    sheets = [parse_lines(table, name) for name, table in read_sheets(file).items()]
    _refuse_uncovered(window, pl.concat(sheets)["date"], file.name)
    tally = Tally("Invoice", "invoices")
    lines = _clean(sheets, tally)
    invoices = _invoices(lines)
    refuse_empty_parts(window, invoices["date"], "InvoiceDate", "invoices")
    in_window = pl.col("date").is_between(window.warmup_start, window.test_end)
    tally.keep("in the window", lines.filter(in_window))
    warmup = invoices.filter(in_window, pl.col("date") <= window.warmup_end)
    thresholds = {mark: cast(float, warmup[measure].median()) for mark, measure in MARKS.items()}
    cohorts = _cohorts(invoices, window)
    invoices = cohorts.assign(invoices.filter(in_window))
    return Dataset(
        panel=_panel_of_invoices(invoices, cohorts, thresholds, window),
        window=window,
        report=tally.report(),
        thresholds=thresholds,
        summary_retention=0.85,
    )


def _refuse_uncovered(window: Window, days: pl.Series, name: str) -> None:
    """Days the file does not reach are unknown, not days without customers."""
    first, last = cast(date, days.min()), cast(date, days.max())
    wanted = min(window.warmup_start, window.history[0])
    if wanted < first or window.test_end > last:
        raise InputError(
            f"{name}, column InvoiceDate: its {len(days):,} rows run from {first} to {last}, but "
            f"window {window.name} runs from {wanted} to {window.test_end}; choose dates in "
            "that range."
        )


def _clean(sheets: Sequence[pl.DataFrame], tally: Tally) -> pl.DataFrame:
    """Positive-price merchandise lines, each once, of invoices that agree with themselves."""
    tally.keep("rows read", pl.concat(sheets))
    single = [sheet.unique(maintain_order=True) for sheet in sheets]
    lines = tally.keep("not an exact duplicate", pl.concat(single))
    if len(sheets) > 1:
        lines = tally.keep("not in an earlier sheet too", lines.unique(maintain_order=True))
    merchandise = pl.col("StockCode").str.contains(r"^\d{5}")
    rules = {
        "not a cancellation": ~pl.col("Invoice").str.starts_with("C"),
        "quantity above 0": pl.col("Quantity") > 0,
        "price above 0": pl.col("Price") > 0,
        "stock code starts with five digits": merchandise,
    }
    for rule, kept in rules.items():
        lines = tally.keep(rule, lines.filter(kept))
    dates = pl.col("InvoiceDate").n_unique().over("Invoice")
    return tally.keep("one date per invoice", lines.filter(dates == 1))


def _invoices(lines: pl.DataFrame) -> pl.DataFrame:
    """One row per invoice."""
    # Sums of pence as floats differ in their last bits with the order of the lines;
    # rounding lets an invoice that equals the median compare as equal.
    value = (pl.col("Quantity") * pl.col("Price")).sum().round(6)
    return lines.group_by("Invoice", maintain_order=True).agg(
        pl.col("date").first(),
        pl.col("Customer ID").drop_nulls().first().alias("customer"),
        value.alias("value"),
        pl.col("Quantity").sum().alias("quantity"),
        pl.col("StockCode").n_unique().alias("products"),
    )


def _cohorts(invoices: pl.DataFrame, window: Window) -> Assignment:
    first, last = window.history
    cohorts = spending_cohorts(
        invoices, Clock("date"), person="customer", amount="value", start=first, end=last
    )
    empty = cohorts.sizes.filter(pl.col("size") == 0)["cohort"].to_list()
    if empty:
        raise InputError(
            f'column Customer ID has no customer for the cohort "{empty[0]}" from {first} to '
            f"{last}; choose a longer history."
        )
    return cohorts


def _panel_of_invoices(
    invoices: pl.DataFrame, cohorts: Assignment, thresholds: dict[str, float], window: Window
) -> Panel:
    marks = ((pl.col(MARKS[mark]) > median).alias(mark) for mark, median in thresholds.items())
    marked = invoices.with_columns(pl.lit(STORE).alias("unit"), *marks)
    counts = marked.group_by("date", "unit", "cohort", *MARKS).agg(pl.len().alias("count"))
    return Panel.from_counts(
        counts,
        behaviors=list(MARKS),
        sizes=cohorts.sizes,
        units=[STORE],
        cohorts=cohorts.labels,
        country="GB-ENG",
        start=window.warmup_start,
        end=window.test_end,
    )
