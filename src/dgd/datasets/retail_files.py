"""Online Retail II as it comes: a workbook, a CSV or a Parquet file of invoice lines."""

from pathlib import Path

import polars as pl

from dgd.datasets.sources import SOURCES, missing_file
from dgd.errors import InputError
from dgd.tables import refusing

SHEETS = ("Year 2009-2010", "Year 2010-2011")
INVOICE_COLUMNS = (
    "Invoice", "StockCode", "Description", "Quantity", "InvoiceDate", "Price", "Customer ID",
    "Country",
)  # fmt: skip
FILES = ("online_retail_II.parquet", "online_retail_II.csv", "online_retail_II.xlsx")
SUFFIXES = (".parquet", ".csv", ".xlsx")
DATE_FORMATS = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M")


def find_invoices(path: Path) -> Path:
    """The file itself, or the one file with the data in a folder."""
    if path.is_file():
        return path
    if path.suffix in SUFFIXES:
        raise missing_file("online-retail", path.name, path.parent)
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
    raise missing_file("online-retail", "online_retail_II.xlsx", path)


def read_sheets(file: Path) -> dict[str, pl.DataFrame]:
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
        refusing.refuse_empty(table, name, "hand over at least one invoice")
        refusing.require_columns(table, name, INVOICE_COLUMNS)
    return {
        name: table.select(pl.col(INVOICE_COLUMNS).cast(pl.String))
        for name, table in sheets.items()
    }


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
    text = dict.fromkeys(INVOICE_COLUMNS, pl.String)
    return {
        name: pl.read_excel(
            file, sheet_name=name, schema_overrides=text, raise_if_empty=False, engine="calamine"
        )
        for name in SHEETS
    }


def parse_lines(table: pl.DataFrame, name: str) -> pl.DataFrame:
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
    numbered = refusing.number_rows(table)
    for column, bad, way_out in rules:
        refusing.refuse(numbered, name, column, bad, way_out)
    return table.with_columns(
        quantity, price, customer.cast(pl.Int64), InvoiceDate=moment, date=moment.dt.date()
    )


def _number(column: str) -> pl.Expr:
    """The column as finite numbers, null where it holds anything else."""
    value = pl.col(column).cast(pl.Float64, strict=False)
    return pl.when(value.is_finite()).then(value).alias(column)
