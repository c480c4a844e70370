"""Forecast: expected counts for the days after an origin, as tables."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.model.patterns import behavior_bits
from dgd.panel.panel import Panel
from dgd.tables.frames import from_polars


@dataclass(frozen=True, eq=False)
class Forecast:
    """Expected arrivals and joint probabilities for the days after an origin.

    Over several seeds, arrivals are averaged and probabilities are weighted by
    each seed's arrivals, so that behaviour counts are averages too.
    """

    panel: Panel
    origin: np.datetime64
    dates: np.ndarray
    arrivals: Float[np.ndarray, "date unit cohort"]
    patterns: Float[np.ndarray, "date unit cohort pattern"]

    @property
    def rates(self) -> Float[np.ndarray, "date unit cohort behavior"]:
        """How likely an arrival shows each behaviour."""
        return self.patterns @ behavior_bits(len(self.panel.behaviors))

    @property
    def behavior_counts(self) -> Float[np.ndarray, "date unit cohort behavior"]:
        """Expected behaviour counts."""
        return self.arrivals[..., None] * self.rates

    def to_frame(self, kind: str | None = None) -> Any:
        """One row per date, unit and cohort: arrivals and every behaviour's expected count."""
        day, unit, cohort = (i.ravel() for i in np.indices(self.arrivals.shape))
        counts = self.behavior_counts.reshape(len(day), -1)
        table = pl.DataFrame(
            [
                *self._labels(day, unit, cohort),
                pl.Series("arrivals", self.arrivals.ravel()),
                *(pl.Series(b, counts[:, h]) for h, b in enumerate(self.panel.behaviors)),
            ]
        )
        return from_polars(table, kind or self.panel.kind)

    def patterns_to_frame(self, kind: str | None = None) -> Any:
        """One row per date, unit, cohort and joint pattern: probability and expected count."""
        day, unit, cohort, pattern = (i.ravel() for i in np.indices(self.patterns.shape))
        bits = behavior_bits(len(self.panel.behaviors)).astype(np.int64)
        expected = self.arrivals[..., None] * self.patterns
        table = pl.DataFrame(
            [
                *self._labels(day, unit, cohort),
                *(pl.Series(b, bits[pattern, h]) for h, b in enumerate(self.panel.behaviors)),
                pl.Series("probability", self.patterns.ravel()),
                pl.Series(self.panel.columns.count, expected.ravel()),
            ]
        )
        return from_polars(table, kind or self.panel.kind)

    def _labels(self, day: np.ndarray, unit: np.ndarray, cohort: np.ndarray) -> list[pl.Series]:
        panel = self.panel
        return [
            panel.period.series(panel.columns.date, self.dates[day]),
            pl.Series("horizon", day + 1),
            pl.Series(panel.columns.unit, [panel.units[i] for i in unit]),
            pl.Series(panel.columns.cohort, [panel.cohorts[i] for i in cohort]),
        ]

    def payload(self, patterns: bool = False) -> dict[str, Any]:
        """The rows of one of the two tables, and the origin, as plain values."""
        table = self.patterns_to_frame("polars") if patterns else self.to_frame("polars")
        return {"origin": str(self.origin), "rows": table.to_dicts()}

    def __repr__(self) -> str:
        return (
            f"Forecast({self.dates[0]} to {self.dates[-1]} from {self.origin}, "
            f"{self.arrivals.sum():,.1f} arrivals expected)"
        )
