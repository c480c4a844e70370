"""What a panel holds, and whether dynamics could beat an average on it, before any fit."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl
import polars.selectors as cs
from jaxtyping import Float

from dgd.panel.exploration.chance import (
    Departures,
    arrival_departures,
    behavior_departures,
)
from dgd.panel.exploration.facts import facts_of
from dgd.panel.exploration.movement import cell_by_cell, together
from dgd.panel.exploration.needed import seen_movement, sharpness_of, smallest_movement
from dgd.panel.exploration.seasons import fewest_periods, season_of
from dgd.panel.exploration.verdicts import REMEMBERING, Evidence, judge
from dgd.panel.grids import ARRIVALS
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.special_days import SpecialDays
from dgd.tables.frames import from_polars
from dgd.tables.html import html_summary
from dgd.tables.periods import Period
from dgd.tables.showing import shown_value

SHOWN = {
    "series": "series",
    "mean": "mean",
    "variance_ratio": "ratio",
    "cell_variance_ratio": "cell ratio",
    "autocorrelation": "lag 1",
    "cell_autocorrelation": "cell lag 1",
    "chance_band": "band",
}
"""The columns a person sees first; tables and JSON have all of them."""
BAND_OF_CHANCE = 2.0
"""Standard deviations to either side of the mean, in the daily table."""


@runtime_checkable
class Counted(Protocol):
    """Of a panel, what is looked at."""

    @property
    def counts(self) -> PatternCounts: ...
    @property
    def arrivals(self) -> np.ndarray: ...
    @property
    def behavior_counts(self) -> np.ndarray: ...
    @property
    def size(self) -> np.ndarray: ...
    @property
    def effort(self) -> np.ndarray: ...
    @property
    def dates(self) -> np.ndarray: ...
    @property
    def behaviors(self) -> tuple[str, ...]: ...
    @property
    def period(self) -> Period: ...
    @property
    def kind(self) -> str: ...
    @property
    def special_days(self) -> SpecialDays: ...


@dataclass(frozen=True, eq=False)
class Exploration:
    """What a table holds, and of every series whether dynamics could beat an average."""

    facts: Mapping[str, Any]
    """First and last date, gaps, cells, arrivals, patterns, special days."""
    series: pl.DataFrame
    """One row per series: arrivals and every behaviour."""
    days: pl.DataFrame
    """One row per series and date."""
    kind: str
    """The kind of frame the user handed over."""

    @property
    def verdict(self) -> str:
        """For which series dynamics can beat an average, in a sentence."""
        names = self.series.filter(pl.col("outcome").is_in(REMEMBERING))["series"].to_list()
        if names:
            return f"Dynamics can beat an average for {', '.join(names)}."
        return "Nothing here shows that dynamics could beat an average."

    def to_frame(self, kind: str | None = None) -> Any:
        """One row per series, "arrivals" and every behaviour.

        Columns:
            mean: arrivals a day, or the rate of the behaviour.
            variance_ratio: day-to-day variance of all cells' sum around weekday means, over what
                chance alone gives; 1 is chance.
            cell_variance_ratio: the same of every cell by itself.
            p_value: how often chance alone gives ratios as large.
            autocorrelation, chance_band: of a day's departure from its weekday mean with the day
                before, and how far from 0 chance takes it.
            cell_autocorrelation, cell_chance_band: the same cell by cell.
            movement: standard deviation of what is not chance, as a part of the mean (of the rate
                of those who do not show the behaviour, where they are fewer).
            smallest_movement: what would have been seen, in the same measure.
            outcome, verdict: what follows, in a word and in a sentence.
            days_needed: about how many days (or hours, or weeks) tell.
        """
        return from_polars(self.series, kind or self.kind)

    def daily(self, kind: str | None = None) -> Any:
        """One row per series and date: what was `observed` over all cells, what weekday means
        give (`expected`), and from `low` to `high` what chance makes of it."""
        return from_polars(self.days, kind or self.kind)

    def shown(self) -> dict[str, pl.DataFrame]:
        """What every verdict rests on, as people read it, by its title."""
        needed = {name: "needed" for name in self.series.columns if name.endswith("_needed")}
        columns = {**SHOWN, **needed}
        title = "Variance over what chance gives, and lag-1 autocorrelation"
        return {title: self.series.select(*columns).rename(columns)}

    def sentences(self) -> tuple[str, ...]:
        """The verdict on every series, and on all."""
        told = self.series.select("series", "verdict").iter_rows()
        return (*(f"{series}: {said}" for series, said in told), self.verdict)

    def payload(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "facts": dict(self.facts),
            "series": self.series.to_dicts(),
            "verdict": self.verdict,
            "daily": self.days.to_dicts(),
        }

    def __repr__(self) -> str:
        told = self.sentences()[:-1]
        return "\n".join([f"Exploration({self._facts})", *(f"  {said}" for said in told)])

    def _repr_html_(self) -> str:
        title = f"Exploration of {self.facts['first']} to {self.facts['last']}"
        return html_summary(title, [*self.sentences(), f"{self._facts}."], self.shown())

    @property
    def _facts(self) -> str:
        return ", ".join(f"{name} {shown_value(value)}" for name, value in self.facts.items())


def explore(panel: Counted) -> Exploration:
    """Compare every series' day-to-day variance and memory with what chance alone gives."""
    series, days = [], []
    for name, departures, trials in _series(panel):
        series.append({"series": name, **_row(panel, departures, trials)})
        days.append(_daily(panel, name, departures, trials))
    return Exploration(
        facts={
            **facts_of(panel.counts, panel.dates, panel.period),
            **panel.special_days.counted(panel.dates),
        },
        series=pl.DataFrame(series, infer_schema_length=None).with_columns(
            cs.float().fill_nan(None)
        ),
        days=pl.concat(days),
        kind=panel.kind,
    )


def _series(panel: Counted) -> Iterator[tuple[str, Departures, np.ndarray | None]]:
    """Every series, and for a behaviour the arrivals that could show it."""
    season = season_of(panel.dates, panel.period)
    arrivals = _cells(panel.arrivals)
    exposure = _cells(panel.effort[: len(arrivals)] * panel.size)
    yield ARRIVALS, arrival_departures(arrivals, exposure, season), None
    for h, behavior in enumerate(panel.behaviors):
        shown = _cells(panel.behavior_counts[..., h])
        yield behavior, behavior_departures(shown, arrivals, season), arrivals


def _cells(grid: np.ndarray) -> Float[np.ndarray, "period cell"]:
    return grid.reshape(len(grid), -1).astype(np.float64)


def _row(panel: Counted, departures: Departures, trials: np.ndarray | None) -> dict[str, Any]:
    sum_of_cells, each_cell = together(departures), cell_by_cell(departures)
    sharpness = sharpness_of(departures, trials)
    evidence = Evidence(
        levels=(sum_of_cells,) if departures.value.shape[1] == 1 else (sum_of_cells, each_cell),
        sharpness=sharpness,
        counted=len(departures.value),
        arrivals=float(panel.arrivals.sum() / len(panel.arrivals)),
        seasons=int(departures.season.max()) + 1,
        fewest=fewest_periods(panel.period),
        period=panel.period,
    )
    verdict = judge(evidence)
    count = float((departures.expected + departures.value).sum())
    whole = len(departures.value) if trials is None else float(trials.sum())
    return {
        "mean": count / whole if whole else None,
        "variance_ratio": sum_of_cells.variance_ratio,
        "cell_variance_ratio": each_cell.variance_ratio,
        "p_value": evidence.p_value,
        "autocorrelation": sum_of_cells.autocorrelation,
        "chance_band": sum_of_cells.chance_band,
        "cell_autocorrelation": each_cell.autocorrelation,
        "cell_chance_band": each_cell.chance_band,
        "movement": seen_movement(sum_of_cells, sharpness),
        "smallest_movement": smallest_movement(sum_of_cells, sharpness),
        "outcome": verdict.outcome,
        "verdict": verdict.sentence,
        f"{panel.period.name}s_needed": verdict.periods_needed,
    }


def _daily(
    panel: Counted, name: str, departures: Departures, trials: np.ndarray | None
) -> pl.DataFrame:
    """Sums over cells, divided by arrivals where the series is a behaviour."""
    expected, noise = departures.expected.sum(1), np.sqrt(departures.noise.sum(1))
    observed = expected + departures.value.sum(1)
    whole = np.ones(len(expected)) if trials is None else trials.sum(1)
    most = np.inf if trials is None else 1.0

    def part(values: np.ndarray) -> pl.Series:
        shown = np.divide(values, whole, out=np.full(len(whole), np.nan), where=whole > 0)
        return pl.Series(np.clip(shown, 0.0, most)).fill_nan(None)

    return pl.DataFrame(
        {
            "date": panel.period.series("date", panel.dates),
            "series": pl.Series([name] * len(whole)),
            "observed": part(observed),
            "expected": part(expected),
            "low": part(expected - BAND_OF_CHANCE * noise),
            "high": part(expected + BAND_OF_CHANCE * noise),
        }
    )
