"""Forecast: expected counts for the days after an origin, and their ranges, as tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.errors import InputError
from dgd.forecasting.asked import Asked
from dgd.forecasting.ranges import Ranges
from dgd.model.bits import behavior_bits
from dgd.panel.panel import Panel
from dgd.tables.figures import ends_in_words, four_figures
from dgd.tables.frames import from_polars
from dgd.tables.html import html_summary

CELLS = ("date", "unit", "cohort", "behavior")
"""Everything kept apart."""


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
    ranges: Ranges | None = None
    """Drawn paths and their intervals, where any were asked for."""

    @property
    def rates(self) -> Float[np.ndarray, "date unit cohort behavior"]:
        """How likely an arrival shows each behaviour."""
        return self.patterns @ behavior_bits(len(self.panel.behaviors))

    @property
    def behavior_counts(self) -> Float[np.ndarray, "date unit cohort behavior"]:
        """Expected behaviour counts."""
        return self.arrivals[..., None] * self.rates

    def to_frame(self, kind: str | None = None) -> Any:
        """One row per date, unit and cohort: arrivals and every behaviour's expected count, and
        the ends of their intervals, like `arrivals_low_80`."""
        day, unit, cohort = (i.ravel() for i in np.indices(self.arrivals.shape))
        asked = Asked.of_everything(self.panel)
        expected = asked.answered(self._expected).reshape(len(day), -1)
        ends = [
            (f"{end}_{level:g}", values.reshape(len(day), -1))
            for level, low, high in self._intervals(asked)
            for end, values in (("low", low), ("high", high))
        ]
        columns = []
        for number, series in enumerate(asked.series):
            columns.append(pl.Series(series, expected[:, number]))
            columns += [pl.Series(f"{series}_{e}", v[:, number], nan_to_null=True) for e, v in ends]
        table = pl.DataFrame([*self._labels(day, unit, cohort), *columns])
        return from_polars(table, kind or self.panel.kind)

    def totals(
        self,
        by: Sequence[str] = ("date", "behavior"),
        *,
        sums: Mapping[str, Sequence[str]] | None = None,
        ratios: Mapping[str, tuple[str, str]] | None = None,
        kind: str | None = None,
    ) -> Any:
        """One row per series and what `by` keeps apart: expected, and the ends of every interval.

        Parts are added up on each path, so that intervals of a total are those of its own
        distribution.

        Args:
            by: any of "date", "unit", "cohort" and "behavior"; without "behavior" arrivals
                alone, without "date" the sum over all days.
            sums: behaviours to be counted together, like {"reactions": ["like", "share"]}.
            ratios: one series over another, like {"buys per click": ("buy", "click")}.
        """
        asked = Asked.of(self.panel, by, sums, ratios)
        columns = [pl.Series("expected", asked.answered(self._expected).ravel(), nan_to_null=True)]
        for level, low, high in self._intervals(asked):
            columns.append(pl.Series(f"low_{level:g}", low.ravel(), nan_to_null=True))
            columns.append(pl.Series(f"high_{level:g}", high.ravel(), nan_to_null=True))
        table = asked.labels(self.panel, self.dates).with_columns(columns)
        return from_polars(table, kind or self.panel.kind)

    def quantiles(
        self,
        shares: Sequence[float],
        by: Sequence[str] = CELLS,
        *,
        sums: Mapping[str, Sequence[str]] | None = None,
        ratios: Mapping[str, tuple[str, str]] | None = None,
        kind: str | None = None,
    ) -> Any:
        """One row per series and what `by` keeps apart: quantiles of the paths as drawn, in
        columns like `q10`; what intervals promise is in `totals`."""
        if not shares or not all(0 <= share <= 1 for share in shares):
            raise InputError(f"shares is {list(shares)}; give numbers from 0 to 1, like 0.1.")
        asked = Asked.of(self.panel, by, sums, ratios)
        found = np.nanquantile(asked.answered(self._ranges.drawn), list(shares), axis=0)
        columns = [
            pl.Series(f"q{100 * share:g}", values.ravel(), nan_to_null=True)
            for share, values in zip(shares, found, strict=True)
        ]
        table = asked.labels(self.panel, self.dates).with_columns(columns)
        return from_polars(table, kind or self.panel.kind)

    def paths(self, kind: str | None = None) -> Any:
        """One row per path, date, unit and cohort: arrivals and every behaviour's count."""
        drawn = self._ranges.drawn
        path, day, unit, cohort = (i.ravel() for i in np.indices(drawn.shape[:-1]))
        counts = drawn.reshape(len(path), -1)
        names = self.panel.series
        table = pl.DataFrame(
            [
                pl.Series("path", path),
                *self._labels(day, unit, cohort),
                *(pl.Series(name, counts[:, n]) for n, name in enumerate(names)),
            ]
        )
        return from_polars(table, kind or self.panel.kind)

    def receipts(
        self,
        by: Sequence[str] = ("date", "behavior"),
        *,
        sums: Mapping[str, Sequence[str]] | None = None,
        ratios: Mapping[str, tuple[str, str]] | None = None,
        kind: str | None = None,
    ) -> Any:
        """What the intervals of `totals` rest on: one row per kind of series, measured step and
        level.

        `coverage` is how often such intervals held at past origins, each judged by the others;
        `path_level` the share of paths that they show to do so; `origins` from how many days.
        A level that needs more origins than there are is refused, and its intervals are missing.
        """
        table = self._ranges.receipts(Asked.of(self.panel, by, sums, ratios))
        return from_polars(table, kind or self.panel.kind)

    def promised(self, by: Sequence[str] = ()) -> tuple[str, ...]:
        """The receipts in sentences; none where no range was asked for."""
        if self.ranges is None:
            return ()
        asked = Asked.of(self.panel, by or CELLS)
        return self.ranges.sentences(asked, self.panel.period.name)

    @property
    def _expected(self) -> Float[np.ndarray, "date unit cohort counted"]:
        counts = self.arrivals[..., None]
        return np.concatenate([counts, counts * self.rates], -1)

    @property
    def _ranges(self) -> Ranges:
        if self.ranges is None:
            raise InputError(
                "no paths were drawn for this forecast; ask forecast() for levels=[80], or for "
                "paths=2000."
            )
        return self.ranges

    def _intervals(self, asked: Asked) -> list[tuple[float, np.ndarray, np.ndarray]]:
        return [] if self.ranges is None else list(self.ranges.intervals(asked))

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

    def table(self, by: Sequence[str] = (), *, patterns: bool = False) -> pl.DataFrame:
        """Totals where `by` names what is kept apart, else joint patterns or cells."""
        if by:
            found: pl.DataFrame = self.totals(by, kind="polars")
            return found
        return self.patterns_to_frame("polars") if patterns else self.to_frame("polars")

    def payload(self, by: Sequence[str] = (), *, patterns: bool = False) -> dict[str, Any]:
        """The rows of a table, the origin, and what intervals rest on, as plain values."""
        found = {"origin": str(self.origin), "rows": self.table(by, patterns=patterns).to_dicts()}
        if self.ranges is not None:
            found["receipts"] = self.receipts(by or CELLS, kind="polars").to_dicts()
        return found

    def __repr__(self) -> str:
        return (
            f"Forecast({self.dates[0]} to {self.dates[-1]} from {self.origin}, "
            f"{self.arrivals.sum():,.1f} arrivals expected)"
        )

    def _repr_html_(self) -> str:
        """Totals by date and behaviour, with the ranges of one level and what these rest on."""
        if self.ranges is None or not self.ranges.levels:
            levels: tuple[float, ...] = ()
            shown, title = replace(self, ranges=None), "Expected totals"
        else:
            levels = self.ranges.levels[:1]
            shown = replace(self, ranges=replace(self.ranges, levels=levels))
            title = f"Expected totals and their {levels[0]:g}% ranges"
        by = ("date", "behavior")
        totals = _shown_totals(shown.totals(by, kind="polars"), self.panel.series, levels)
        return html_summary(repr(self), shown.promised(by), {title: totals})


def _shown_totals(
    totals: pl.DataFrame, series: Sequence[str], levels: Sequence[float]
) -> pl.DataFrame:
    """One row per date, a column per series, of totals by date and behaviour; with the range at
    the first of `levels`."""
    date = totals.columns[0]
    columns = []
    for number, name in enumerate(series):
        of_series = totals.gather_every(len(series), number)
        expected = [text.strip() for text in four_figures(of_series["expected"])[0]]
        for level in levels[:1]:
            low, high = (of_series[f"{end}_{level:g}"] for end in ("low", "high"))
            ranges = ends_in_words(low, high)
            expected = [
                f"{text} ({ends})" if ends else text
                for text, ends in zip(expected, ranges, strict=True)
            ]
        columns.append(pl.Series(name, expected, pl.String))
    return totals.gather_every(len(series)).select(date).with_columns(columns)
