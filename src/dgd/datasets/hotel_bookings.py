"""Bookings of two Portuguese hotels (Antonio, de Almeida, Nunes 2019, CC BY 4.0), as daily counts.

A day's arrivals are the bookings due on it, cancelled ones included; the marks are special
requests, changes, a parking space, and cancellation.
"""

from pathlib import Path

import polars as pl

from dgd.datasets.dataset import Dataset
from dgd.datasets.marked_events import dataset_of_events, find_table, read_columns
from dgd.datasets.tallies import Tally
from dgd.datasets.windows import HOTEL_WINDOWS, Window, window_named

FILE, FOLDER = "hotel_bookings.parquet", "arena"
PAGE = "https://doi.org/10.1016/j.dib.2018.11.126"
DATE = ("ArrivalDateYear", "ArrivalDateMonth", "ArrivalDateDayOfMonth")
MARKED = {
    "request": "TotalOfSpecialRequests",
    "change": "BookingChanges",
    "parking": "RequiredCarParkingSpaces",
    "cancel": "IsCanceled",
}
RARE, OTHER = ("Complementary", "Aviation", "Undefined"), "Other"


def hotels(path: str | Path | None = None, window: str | Window = "2016") -> Dataset:
    """Two hotels, the market segments with the rare ones together, four marks, no sizes.

    Args:
        path: The Parquet or CSV file, or a folder that holds it; without it the folder
            DGD_DATA names.
        window: "2016", "2017", "short 2016", "short 2017", or a `Window` of your own dates.
    """
    if not isinstance(window, Window):
        window = window_named(window, HOTEL_WINDOWS)
    columns = [*DATE, "MarketSegment", "HotelNumber", *MARKED.values()]
    tally = Tally("HotelNumber", "hotels")
    table = tally.keep("rows read", read_columns(find_table(path, FILE, FOLDER, PAGE), columns))
    year, month, day = (pl.col(name).cast(pl.String) for name in DATE)
    segment = pl.col("MarketSegment").str.strip_chars()
    events = table.select(
        pl.concat_str([year, month, day], separator=" ").str.to_date("%Y %B %d").alias("date"),
        pl.col("HotelNumber").str.strip_chars().alias("unit"),
        "HotelNumber",
        pl.when(segment.is_in(RARE)).then(pl.lit(OTHER)).otherwise(segment).alias("cohort"),
        *((pl.col(column) > 0).alias(mark) for mark, column in MARKED.items()),
    )
    return dataset_of_events(events, window, tally, list(MARKED), country="PT")
