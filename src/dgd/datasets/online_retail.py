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
from dgd.datasets.fetch import SOURCES, data_folder, missing
from dgd.datasets.windows import RETAIL_WINDOWS, Dataset, Tally, Window, refuse_empty_parts
from dgd.errors import InputError
from dgd.panel.panel import Panel
from dgd.tables import checks
from dgd.tables.clock import Clock

SHEETS = ("Year 2009-2010", "Year 2010-2011")
COLUMNS = (
    "Invoice", "StockCode", "Description", "Quantity", "InvoiceDate", "Price", "Customer ID",
    "Country",
)  # fmt: skip
FILES = ("online_retail_II.parquet", "online_retail_II.csv", "online_retail_II.xlsx")
SUFFIXES = (".parquet", ".csv", ".xlsx")
DATE_FORMATS = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M")
MARKS = {"high_value": "value", "high_quantity": "quantity", "many_products": "products"}
STORE = "store"
SUMMARY_RETENTION = 0.85


def online_retail(path: str | Path | None = None, window: int | Window = 2010) -> Dataset:
    """The invoices of one window: four customer cohorts, one store, three basket marks.

    **Arguments:**

    - `path`: the UCI workbook, a CSV or a Parquet file with its columns, or a folder
        that holds one of them; without it the folder DGD_DATA names, or the one
        `dgd data fetch online-retail` fills.
    - `window`: 2010 or 2011 for the paper's windows, or a `Window` of your own dates.

    Cohorts are single-purchase, low-spending repeat and high-spending repeat
    customers of the warm-up; everyone else, and customers without an
    identifier, are "new", with one reference unit.
    """
    window = _window(window)
    file = _find(data_folder(path))
    sheets = [_parse(table, name) for name, table in _read(file).items()]
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
        panel=_panel(invoices, cohorts, thresholds, window),
        window=window,
        report=tally.report(),
        thresholds=thresholds,
        summary_retention=SUMMARY_RETENTION,
    )


def _window(window: int | Window) -> Window:
    if isinstance(window, Window):
        return window
    if window not in RETAIL_WINDOWS:
        raise InputError(
            f"window {window!r} is not one of {', '.join(map(str, RETAIL_WINDOWS))}; choose one "
            "or hand over a dgd.datasets.Window."
        )
    return RETAIL_WINDOWS[window]


def _find(path: Path) -> Path:
    """The file itself, or the one file with the data in a folder."""
    if path.is_file():
        return path
    if path.suffix in SUFFIXES:
        raise missing("online-retail", path.name, path.parent)
    folders = (path / SOURCES["online-retail"].folder, path)
    for folder in folders:
        for name in FILES:
            if (folder / name).is_file():
                return folder / name
        others = [p for p in sorted(folder.glob("online_retail_II*")) if p.suffix in SUFFIXES]
        if len(others) == 1:
            return others[0]
        if others:
            names = " and ".join(p.name for p in others)
            raise InputError(f"{folder} holds {names}; name the one to read with path.")
    raise missing("online-retail", "online_retail_II.xlsx", path)


def _read(file: Path) -> dict[str, pl.DataFrame]:
    """Every sheet of the file, all columns as text; CSV and Parquet are one sheet."""
    if file.suffix == ".xlsx":
        sheets = _read_workbook(file)
    elif file.suffix in SUFFIXES:
        try:
            if file.suffix == ".csv":
                table = pl.read_csv(file, infer_schema=False, encoding="utf8-lossy")
            else:
                table = pl.read_parquet(file)
        except pl.exceptions.PolarsError as error:
            raise InputError(f"{file.name} cannot be read ({error}); save it again.") from error
        sheets = {file.name: table}
    else:
        raise InputError(
            f"{file.name} is neither .xlsx nor .csv nor .parquet; save the rows as one of these."
        )
    for name, table in sheets.items():
        if table.height == 0:
            raise InputError(f"{name} has 0 rows; hand over at least one invoice.")
        checks.require_columns(table, name, COLUMNS)
    return {name: table.select(pl.col(COLUMNS).cast(pl.String)) for name, table in sheets.items()}


def _read_workbook(file: Path) -> dict[str, pl.DataFrame]:
    try:
        import fastexcel
    except ImportError as error:
        raise InputError(
            f"{file.name} is a workbook, and fastexcel, which reads workbooks, is not installed; "
            "pip install fastexcel, or save the rows as CSV or Parquet."
        ) from error
    try:
        found = fastexcel.read_excel(file).sheet_names
    except fastexcel.FastExcelError as error:
        raise InputError(f"{file.name} cannot be read as a workbook ({error}).") from error
    absent = [name for name in SHEETS if name not in found]
    if absent:
        raise InputError(
            f'{file.name} has no sheet "{absent[0]}", only {", ".join(found)}; hand over the '
            f"workbook from {SOURCES['online-retail'].page}, or its rows as CSV or Parquet."
        )
    text = dict.fromkeys(COLUMNS, pl.String)
    return {
        name: pl.read_excel(
            file, sheet_name=name, schema_overrides=text, raise_if_empty=False, engine="calamine"
        )
        for name in SHEETS
    }


def _parse(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """Text into numbers and dates; the day of an invoice is the shop's own."""
    moment = pl.coalesce(
        pl.col("InvoiceDate").str.to_datetime(form, strict=False, time_unit="ms")
        for form in DATE_FORMATS
    )
    quantity, price, customer = map(_number, ("Quantity", "Price", "Customer ID"))
    customer_unread = customer.is_null() & pl.col("Customer ID").is_not_null()
    rules = (
        ("Invoice", pl.col("Invoice").is_null(), "is not an invoice number; fill it in."),
        ("StockCode", pl.col("StockCode").is_null(), "is not a stock code; fill it in."),
        ("InvoiceDate", moment.is_null(), "is not a time; write it like 2010-12-01 08:26:00."),
        ("Quantity", quantity.is_null(), "is not a number; write how many were sold."),
        ("Price", price.is_null(), "is not a number; write the price of one piece."),
        ("Customer ID", customer_unread, "is not a customer number; leave it empty if unknown."),
    )
    numbered = checks.number_rows(table)
    for column, bad, way_out in rules:
        checks.refuse(numbered, name, column, bad, way_out)
    return table.with_columns(
        quantity, price, customer.cast(pl.Int64), InvoiceDate=moment, date=moment.dt.date()
    )


def _number(column: str) -> pl.Expr:
    """The column as finite numbers, null where it holds anything else."""
    value = pl.col(column).cast(pl.Float64, strict=False)
    return pl.when(value.is_finite()).then(value).alias(column)


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


def _panel(
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
        start=window.warmup_start,
        end=window.test_end,
    )
