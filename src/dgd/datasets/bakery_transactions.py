"""Transactions of a bakery from autumn 2016 to spring 2017 ("Transactions from a bakery", Kaggle).

Every transaction is one arrival, also where no item was written down ("NONE"); its marks say
whether coffee, bread, tea or cake was among what was bought.
"""

from pathlib import Path

import polars as pl

from dgd.datasets.dataset import Dataset
from dgd.datasets.marked_events import dataset_of_events, find_table, read_columns
from dgd.datasets.tallies import Tally
from dgd.datasets.windows import BAKERY_WINDOWS, Window, window_named
from dgd.tables import refusing

FILE, FOLDER = "bakery.parquet", "arena"
PAGE = "https://www.kaggle.com/datasets/sulmansarwar/transactions-from-a-bakery"
COLUMNS = ("Transaction", "Date", "Item")
ITEMS = {"coffee": "Coffee", "bread": "Bread", "tea": "Tea", "cake": "Cake"}
DATE_FORMATS = ("%m/%d/%Y", "%Y-%m-%d")
SHOP, CUSTOMERS = "shop", "all"


def bakery(path: str | Path | None = None, window: str | Window = "winter") -> Dataset:
    """One shop, all customers together, four marks, no sizes.

    Args:
        path: The Parquet or CSV file, or a folder that holds it; without it the folder
            DGD_DATA names.
        window: "winter", or a `Window` of your own dates.
    """
    if not isinstance(window, Window):
        window = window_named(window, BAKERY_WINDOWS)
    file = find_table(path, FILE, FOLDER, PAGE)
    tally = Tally("Transaction", "transactions")
    items = _with_dates(tally.keep("rows read", read_columns(file, COLUMNS)), file.name)
    transactions = items.group_by("Transaction", "date", maintain_order=True).agg(
        (pl.col("Item") == item).any().alias(mark) for mark, item in ITEMS.items()
    )
    events = tally.keep("one row per transaction", transactions).with_columns(
        unit=pl.lit(SHOP), cohort=pl.lit(CUSTOMERS)
    )
    return dataset_of_events(events, window, tally, list(ITEMS), country="GB-SCT")


def _with_dates(items: pl.DataFrame, name: str) -> pl.DataFrame:
    """The items with the day on which they were bought."""
    written = pl.col("Date").cast(pl.String)
    day = pl.coalesce(written.str.to_date(form, strict=False) for form in DATE_FORMATS)
    way_out = "is not a date; write month/day/year, like 11/7/2016."
    refusing.refuse(refusing.number_rows(items), name, "Date", day.is_null(), way_out)
    return items.with_columns(day.alias("date"))
