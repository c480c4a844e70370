"""Stops by the Minneapolis police in 2017 (MplsStops of the R package carData), as daily counts.

Every stop is one arrival on the city's own day; its marks say whether it was a traffic stop,
whether the person was searched, and whether the vehicle was. Stops of which the file does not
say who was searched are left out.
"""

from pathlib import Path

import polars as pl

from dgd.datasets.dataset import Dataset
from dgd.datasets.marked_events import dataset_of_events, find_table, grouped, read_columns
from dgd.datasets.tallies import Tally
from dgd.datasets.windows import STOP_WINDOWS, Window, window_named
from dgd.tables import refusing

FILE, FOLDER = "minneapolis_stops_2017.parquet", "arena"
PAGE = "https://vincentarelbundock.github.io/Rdatasets/doc/carData/MplsStops.html"
SEARCHED = {"person": "personSearch", "vehicle": "vehicleSearch"}
COLUMNS = ("idNum", "date", "problem", *SEARCHED.values(), "race", "policePrecinct")
MARKS = ("traffic", *SEARCHED)
RACES, OTHER = ("Black", "White", "Unknown"), "other"
TIME_ZONE = "America/Chicago"
TIME_FORMATS = ("%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.fZ")


def police_stops(path: str | Path | None = None, window: str | Window = "autumn") -> Dataset:
    """Five precincts, race as the officer saw it with the rarer ones together, three marks.

    Args:
        path: The Parquet or CSV file, or a folder that holds it; without it the folder
            DGD_DATA names.
        window: "autumn", "short March", or a `Window` of your own dates.
    """
    if not isinstance(window, Window):
        window = window_named(window, STOP_WINDOWS)
    file = find_table(path, FILE, FOLDER, PAGE)
    tally = Tally("idNum", "stops")
    table = _with_days(tally.keep("rows read", read_columns(file, COLUMNS)), file.name)
    told = pl.all_horizontal(pl.col(column).is_in(["YES", "NO"]) for column in SEARCHED.values())
    table = tally.keep("both searches are YES or NO", table.filter(told))
    events = table.select(
        "date",
        pl.col("policePrecinct").cast(pl.String).alias("unit"),
        "idNum",
        grouped("race", {race: [race] for race in RACES}, OTHER).alias("cohort"),
        (pl.col("problem") == "traffic").alias("traffic"),
        *((pl.col(column) == "YES").alias(mark) for mark, column in SEARCHED.items()),
    )
    return dataset_of_events(events, window, tally, MARKS, cohorts=[*RACES, OTHER], country="US")


def _with_days(table: pl.DataFrame, name: str) -> pl.DataFrame:
    """The stops with the day in Minneapolis in the place of the time in UTC."""
    written = pl.col("date").cast(pl.String)
    moment = pl.coalesce(
        written.str.to_datetime(form, strict=False, time_unit="us") for form in TIME_FORMATS
    )
    way_out = "is not a time; write it in UTC, like 2017-03-06 13:45:00."
    refusing.refuse(refusing.number_rows(table), name, "date", moment.is_null(), way_out)
    local = moment.dt.replace_time_zone("UTC").dt.convert_time_zone(TIME_ZONE)
    return table.with_columns(local.dt.date().alias("date"))
