"""Good guesses: what a form starts from is mostly right."""

from datetime import date, datetime, timedelta

import polars as pl
import pytest

import dgd
from dgd.app.guesses import belonging, guessed


def test_a_table_of_dgd_is_guessed_whole(drawn: dgd.Simulated) -> None:
    panel = drawn.panel
    table = panel.to_frame("polars")
    for frame in (table, table.cast(pl.String)):  # Parquet has kinds, CSV has text
        guess = guessed(frame)
        assert (guess.date, guess.unit, guess.cohort) == ("date", "unit", "cohort")
        assert (guess.count, guess.behaviors) == ("count", panel.behaviors)
        assert guess.period == "day"
        assert guess.counted


def test_columns_under_other_names_are_known_by_what_they_hold() -> None:
    table = pl.DataFrame(
        {
            "when": ["2024-01-01", "2024-01-02"],
            "who": ["new", "old"],
            "bought": ["0", "1"],
            "people": ["12", "7"],
        }
    )
    guess = guessed(table)
    assert (guess.date, guess.cohort, guess.unit) == ("when", "who", None)
    assert (guess.count, guess.behaviors) == ("people", ("bought",))


def test_a_table_without_behaviours_is_no_table_of_counts() -> None:
    assert not guessed(pl.DataFrame({"cohort": ["new"], "size": ["100"]})).counted


@pytest.mark.parametrize(
    ("step", "period"),
    [(timedelta(days=1), "day"), (timedelta(days=7), "week"), (timedelta(hours=1), "hour")],
)
def test_periods_are_told_by_how_far_dates_lie_apart(step: timedelta, period: str) -> None:
    moments = [datetime(2024, 1, 1) + step * n for n in range(10)]
    typed = pl.DataFrame({"date": moments})
    text = [f"{m:%Y-%m-%d %H:%M}" if period == "hour" else f"{m.date()}" for m in moments]
    assert guessed(typed).period == period
    assert guessed(pl.DataFrame({"date": text})).period == period
    if period != "hour":
        dates: list[date] = [m.date() for m in moments]
        assert guessed(pl.DataFrame({"date": dates})).period == period


def test_tables_beside_the_counts_belong_to_them() -> None:
    others = ["effort.csv", "world/Sizes.parquet", "world/effort.csv", "world/counts.csv"]
    assert belonging("world/counts.csv", others) == {
        "sizes": "world/Sizes.parquet",
        "effort": "world/effort.csv",
    }
    assert belonging("counts.csv", others) == {"effort": "effort.csv"}
