"""A made-up platform: units with few arrivals, types of people, and cohorts whose mood moves.

Every arrival is an event with a time, a unit, a cohort and 0/1 behaviours. Units differ in how many
come and what these do; two types of people answer differently; arrivals have a weekly rhythm and
wander; what cohorts do wanders too. Events are drawn block by block of units, so that a platform of
any size takes little memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

BLOCK = 20_000
"""Units that are drawn at once."""
FIRST_DAY = np.datetime64("2024-01-01", "us")
MICROSECONDS = 86_400_000_000


@dataclass(frozen=True)
class Platform:
    """How large it is, and the numbers that all units share."""

    units: int
    cohorts: int = 9
    behaviors: int = 7
    days: int = 30
    rate: float = 0.3
    """Arrivals of a cell and day, on average."""
    seed: int = 0

    @property
    def names(self) -> list[str]:
        return [f"does_{number}" for number in range(self.behaviors)]

    def events(self) -> Iterator[pl.DataFrame]:
        """Events of one block of units after another."""
        rng = np.random.default_rng(self.seed)
        walk = _wandering(rng, self.days, 1, 0.9, 0.1)[:, 0]
        mood = _wandering(rng, self.days, self.cohorts, 0.9, 0.15)
        rhythm = 0.3 * np.sin(2 * np.pi * np.arange(self.days) / 7)
        of_cohort = rng.uniform(0.5, 1.5, self.cohorts)
        intercept = rng.normal(-0.8, 0.5, (self.cohorts, self.behaviors))
        loading = rng.uniform(0.3, 1.0, self.behaviors)
        depends = 0.4 * rng.normal(size=(self.behaviors, self.behaviors))
        share = rng.uniform(0.3, 0.7, self.cohorts)
        for first in range(0, self.units, BLOCK):
            units = np.arange(first, min(first + BLOCK, self.units))
            level = self.rate * rng.gamma(2.0, 0.5, len(units))[:, None] * of_cohort
            daily = np.exp(walk + rhythm)
            arrivals = rng.poisson((daily / daily.mean())[:, None, None] * level)
            own = 0.5 * rng.normal(size=(len(units), self.behaviors))
            cells = np.argwhere(arrivals)
            day, unit, cohort = np.repeat(cells, arrivals[tuple(cells.T)], 0).T
            kind = np.where(rng.random(len(day)) < share[cohort], 1.0, -1.0)
            logit = intercept[cohort] + own[unit] + (kind + mood[day, cohort])[:, None] * loading
            shown = np.zeros((len(day), self.behaviors))
            for h in range(self.behaviors):
                odds = logit[:, h] + shown[:, :h] @ depends[h, :h]
                shown[:, h] = rng.random(len(day)) < 1 / (1 + np.exp(-odds))
            moment = day * MICROSECONDS + rng.integers(0, MICROSECONDS, len(day))
            yield pl.DataFrame(
                {
                    "time": FIRST_DAY + moment.astype("timedelta64[us]"),
                    "unit": units[unit],
                    "cohort": cohort,
                    **{n: shown[:, h].astype(np.int8) for h, n in enumerate(self.names)},
                }
            )

    def write(self, folder: Path) -> int:
        """The events as Parquet files; says how many there are."""
        folder.mkdir(parents=True, exist_ok=True)
        total = 0
        for number, part in enumerate(self.events()):
            part.write_parquet(folder / f"events-{number:04}.parquet")
            total += part.height
        return total


def _wandering(
    rng: np.random.Generator, days: int, series: int, kept: float, scale: float
) -> np.ndarray:
    path = np.zeros((days, series))
    for day in range(1, days):
        path[day] = kept * path[day - 1] + scale * rng.normal(size=series)
    return path
