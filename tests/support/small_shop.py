"""Online Retail II in small: twelve invoices in ten days, as a table or a workbook."""

from datetime import datetime
from pathlib import Path

import polars as pl
import pytest

from dgd.datasets import Dataset, Window

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


def removed(dataset: Dataset, rule: str) -> tuple[int, int]:
    """How many rows and invoices a rule removed."""
    row = dataset.report.row(by_predicate=pl.col("rule") == rule, named=True)
    return row["rows_removed"], row["invoices_removed"]
