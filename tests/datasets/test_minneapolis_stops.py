"""Police stops: counted on Minneapolis's own days, and only where the searches are known."""

from pathlib import Path

import polars as pl

from dgd.datasets import Window, police_stops
from support.real_data import real_data
from support.refusals import refused

WINDOW = Window.of_days("2017-03-10", 2, 2, 1, 1, name="the clocks change")
"""Midnight is 06:00 UTC up to 12 March and 05:00 UTC from the 13th on."""
FILE = "minneapolis_stops_2017.parquet"


def stops() -> pl.DataFrame:
    """A stop a day; that of the 12th just before midnight, that of the 13th just after it."""
    table = pl.DataFrame(
        {
            "idNum": [f"17-{number}" for number in range(8)],
            "date": [
                "2017-03-10 06:00:00", "2017-03-12 05:59:59", "2017-03-12 06:00:00",
                "2017-03-13 04:59:59", "2017-03-13 05:00:00", "2017-03-15 04:59:59",
                "2017-03-15 12:00:00", "2017-03-11 12:00:00",
            ],
            "problem": ["traffic", "suspicious"] * 4,
            "personSearch": ["YES", "NO", "NO", "NO", "YES", "NO", "NO", None],
            "vehicleSearch": ["NO", "NO", "NO", "NO", "YES", "NO", "NO", None],
            "race": ["Black", "White", "Unknown", "Other", "Asian", "Black", "Black", None],
            "policePrecinct": [1, 2, 1, 2, 1, 2, 1, 2],
        }
    )  # fmt: skip
    return table.with_columns(pl.col("date").str.to_datetime())


def test_a_stop_is_counted_on_the_day_of_the_city(tmp_path: Path) -> None:
    stops().write_parquet(tmp_path / FILE)
    panel = police_stops(tmp_path, WINDOW).panel
    assert panel.units == ("1", "2")
    assert panel.arrivals.sum((1, 2)).tolist() == [1, 1, 2, 1, 1, 1]


def test_rarer_races_are_together_and_marks_are_read_from_their_columns(tmp_path: Path) -> None:
    stops().write_parquet(tmp_path / FILE)
    panel = police_stops(tmp_path, WINDOW).panel
    assert panel.cohorts == ("Black", "White", "Unknown", "other")
    assert panel.arrivals.sum((0, 1)).tolist() == [3, 1, 1, 2]
    marks = dict(zip(panel.behaviors, panel.behavior_counts.sum((0, 1, 2)).tolist(), strict=True))
    assert marks == {"traffic": 4, "person": 2, "vehicle": 1}


def test_stops_without_search_flags_are_left_out_and_reported(tmp_path: Path) -> None:
    stops().write_parquet(tmp_path / FILE)
    report = police_stops(tmp_path, WINDOW).report
    assert report["rule"].to_list() == [
        "rows read", "both searches are YES or NO", "in the window",
    ]  # fmt: skip
    assert report["stops_removed"].to_list() == [0, 1, 0]


def test_a_csv_file_gives_the_same_panel(tmp_path: Path) -> None:
    stops().write_parquet(tmp_path / FILE)
    stops().write_csv(tmp_path / "stops.csv", null_value="NA")
    whole, text = (police_stops(tmp_path / name, WINDOW).panel for name in (FILE, "stops.csv"))
    assert text.units == whole.units
    assert (text.patterns == whole.patterns).all()


def test_a_time_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    wrong = stops().with_columns(pl.lit("10 March").alias("date"))
    wrong.write_parquet(tmp_path / FILE)
    with refused(FILE, "row 1", "column date", '"10 March"', "UTC"):
        police_stops(tmp_path, WINDOW)


def test_the_published_file_has_known_totals() -> None:
    found = police_stops(real_data(f"arena/{FILE}"), "autumn")
    panel = found.panel
    assert found.report["rows_removed"].to_list()[:2] == [0, 8221]
    assert panel.arrivals.sum((0, 2)).tolist() == [2012, 2492, 3033, 3871, 3424]
    assert panel.arrivals.sum((0, 1)).tolist() == [5255, 3581, 3640, 2356]
    assert panel.behavior_counts.sum((0, 1, 2)).tolist() == [6833, 1857, 1023]
