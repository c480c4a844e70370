"""A forecast for every choice that a reader of a page can make: unit, cohort and series.

Margins are part of the choice: all units, all cohorts. Where all choices together would make
the page too large, units that count few arrivals are left out, and the page says so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl

from dgd.forecasting.asked import BEHAVIOR, Asked, counted_series
from dgd.forecasting.forecast import Forecast
from dgd.panel.panel import Panel
from dgd.report.charts.days_ahead import RECENT
from dgd.tables.labels import Label

ALL = ""
MOST_ROWS = 20_000
"""Days of all choices together; more would make a page of megabytes."""
KEYS = ("unit", "cohort")


@dataclass(frozen=True, eq=False)
class Choices:
    """What a reader can choose among, and the days and totals of every choice."""

    units: tuple[Label, ...]
    """Those that can be chosen, the most frequented first where not all can."""
    left_out: int
    days: pl.DataFrame
    """One row per unit, cohort, series and date: observed, or expected with its ranges."""
    totals: pl.DataFrame
    """One row per unit, cohort and series: the whole horizon, and as many days before it."""

    @staticmethod
    def of(forecast: Forecast) -> "Choices":
        panel = forecast.panel
        units = _units(forecast)
        return Choices(
            units,
            len(panel.units) - len(units),
            pl.concat(_days(forecast, units), how="diagonal"),
            pl.concat(_totals(forecast, units)),
        )


def before(forecast: Forecast) -> slice:
    """The days up to the origin, as many as are forecast or as there are."""
    stop = forecast.panel.index(forecast.origin, "origin") + 1
    return slice(max(stop - len(forecast.dates), 0), stop)


def _units(forecast: Forecast) -> tuple[Label, ...]:
    """All units, or the most frequented ones of too many."""
    panel = forecast.panel
    days = len(forecast.dates) + RECENT[panel.period.name]
    of_unit = days * (len(panel.cohorts) + 1) * len(panel.series)
    most = max(1, MOST_ROWS // of_unit - 1)
    if len(panel.units) <= most:
        return panel.units
    busiest = np.argsort(-panel.arrivals.sum((0, 2)), kind="stable")[:most]
    return tuple(panel.units[at] for at in busiest)


def _by(panel: Panel) -> Iterator[tuple[list[str], list[str]]]:
    """Every set of axes that are kept apart, and the columns they come in; an axis with a single
    label is its own margin."""
    several = {"unit": len(panel.units) > 1, "cohort": len(panel.cohorts) > 1}
    columns = {"unit": panel.columns.unit, "cohort": panel.columns.cohort}
    options = [(False, True) if several[key] else (False,) for key in KEYS]
    for kept in product(*options):
        names = [key for key, own in zip(KEYS, kept, strict=True) if own]
        yield names, [columns[name] for name in names]


def _days(forecast: Forecast, units: Sequence[Label]) -> Iterator[pl.DataFrame]:
    panel = forecast.panel
    stop = panel.index(forecast.origin, "origin") + 1
    recent = slice(max(stop - RECENT[panel.period.name], 0), stop)
    recorded = counted_series(panel.patterns[recent])
    for kept, columns in _by(panel):
        by = ["date", *kept, BEHAVIOR]
        asked = Asked.of(panel, by)
        seen = asked.labels(panel, panel.dates[recent]).with_columns(
            pl.Series("observed", asked.answered(recorded).ravel())
        )
        ahead: pl.DataFrame = forecast.totals(by, kind="polars")
        names = {panel.columns.date: "date", **dict(zip(columns, kept, strict=True))}
        for table in (seen, ahead):
            yield _chosen(table.drop("horizon").rename(names, strict=False), kept, units)


def _totals(forecast: Forecast, units: Sequence[Label]) -> Iterator[pl.DataFrame]:
    panel = forecast.panel
    recorded = counted_series(panel.patterns[before(forecast)])
    for kept, columns in _by(panel):
        by = [*kept, BEHAVIOR]
        asked = Asked.of(panel, by)
        ahead: pl.DataFrame = forecast.totals(by, kind="polars")
        table = ahead.with_columns(pl.Series("before", asked.answered(recorded).ravel()))
        yield _chosen(table.rename(dict(zip(columns, kept, strict=True))), kept, units)


def _chosen(table: pl.DataFrame, kept: Sequence[str], units: Sequence[Label]) -> pl.DataFrame:
    """The rows of units that can be chosen; labels are text, and a margin is the empty one."""
    if "unit" in kept:
        table = table.filter(pl.col("unit").is_in(list(units)))
    keys = [pl.col(key).cast(pl.String) if key in kept else pl.lit(ALL).alias(key) for key in KEYS]
    return table.select(*keys, pl.all().exclude(KEYS))
