"""Plan: how effort is spread, what it brings, when to rest, and what to try next."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.scenarios.expecting import Expecting, mean_series
from dgd.scenarios.future import Future, Outlook
from dgd.scenarios.learning_next import learn_next
from dgd.scenarios.shown import shown_efforts, shown_spreads, told
from dgd.scenarios.solving import SolvedStart, Worth
from dgd.scenarios.spending import Spending
from dgd.tables.frames import from_polars
from dgd.tables.html import html_summary

RESTING = 0.5
"""A day rests when its effort lies below such a part of the even spread's."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Effort for the days ahead, beside the even spread and the plan as it is now."""

    outlook: Outlook
    """The days that are planned."""
    expecting: Expecting
    """What is expected of them, and of the days after them in which a plan shows."""
    spending: Spending
    weights: Float[np.ndarray, " series"]
    quantile: float | None
    effort: Float[np.ndarray, "step unit cohort"]
    even: Float[np.ndarray, "step unit cohort"]
    solved: tuple[SolvedStart, ...]
    worth: Worth
    notes: tuple[str, ...]
    """What was assumed, and where the response to effort is an assumption."""
    warnings: tuple[str, ...]
    """Where the plan leaves what the training days saw."""

    @property
    def now(self) -> Float[np.ndarray, "step unit cohort"]:
        """The effort planned so far."""
        return self.outlook.planned.effort

    def to_frame(self, kind: str | None = None) -> Any:
        """One row per date, unit and cohort: effort as planned here, as it is now, and even."""
        outlook, panel = self.outlook, self.outlook.panel
        day, unit, cohort = (i.ravel() for i in np.indices(self.effort.shape))
        table = pl.DataFrame(
            [
                panel.period.series(panel.columns.date, outlook.dates[day]),
                pl.Series(panel.columns.unit, [panel.units[i] for i in unit]),
                pl.Series(panel.columns.cohort, [panel.cohorts[i] for i in cohort]),
                pl.Series("effort", self.effort.ravel()),
                pl.Series("now", self.now.ravel()),
                pl.Series("even", self.even.ravel()),
            ]
        )
        return self._shown(table, kind)

    def summary(self, kind: str | None = None) -> Any:
        """One row for the plan, the even spread and the plan as it is now: effort, objective,
        by how many per cent the plan is ahead, expected arrivals and behaviours, and what of the
        objective is gained or lost on the days afterwards."""
        spreads = {"planned": self.effort, "even": self.even, "now": self.now}
        best = self.worth(self.effort)[0]
        rows = []
        for name, effort in spreads.items():
            value = self.worth(effort)[0]
            counts, afterwards = self._expected(effort)
            rows.append(
                {
                    "spread": name,
                    "effort": float(effort.sum()),
                    "objective": value,
                    "planned_is_ahead_percent": _ahead(best, value),
                    **dict(zip(self._series, counts.tolist(), strict=True)),
                    "afterwards": afterwards,
                }
            )
        return self._shown(pl.DataFrame(rows), kind)

    def starts(self, kind: str | None = None) -> Any:
        """One row per start of the solver: where it began, where it ended, and what it says."""
        table = pl.DataFrame(
            [
                {
                    "start": one.name,
                    "objective_at_start": one.started,
                    "objective": one.worth,
                    "steps": one.steps,
                    "status": one.status,
                    "message": one.message,
                }
                for one in self.solved
            ]
        )
        return self._shown(table, kind)

    @property
    def rest(self) -> tuple[str, ...]:
        """When to rest, and what it is worth; nothing where no day rests."""
        free = self.spending.free.any((1, 2))
        of_day, evenly = self.effort.sum((1, 2)), self.even.sum((1, 2))
        resting = free & (of_day < RESTING * evenly)
        if not resting.any():
            return ()
        days = ", ".join(str(day) for day in self.outlook.dates[resting])
        gain, carried = self._gains()
        return (
            f"rest on {days}: effort there is {of_day[resting].sum():.4g}, spread evenly it would "
            f"be {evenly[resting].sum():.4g}; the plan brings {gain:+.1f} % against the same "
            f"budget spread evenly, {carried:+.1f} % of it because of fatigue and memory.",
        )

    def learn_next(self, kind: str | None = None) -> Any:
        """One row per unit and cohort, the most useful first: how much less the worth of this
        plan would be in doubt after a week in which the cell's effort is halved and raised by
        half in turn (see `docs/guides/plans.md`)."""
        slope = self.worth(self.effort)[1]
        return self._shown(learn_next(self.expecting, self.now, self.effort, slope), kind)

    def payload(self) -> dict[str, Any]:
        """Every table as plain values."""
        return {
            "origin": str(self.outlook.origin),
            "horizon": self.outlook.horizon,
            "budget": self.spending.budget,
            "objective": dict(zip(self._series, self.weights.tolist(), strict=True)),
            "quantile": self.quantile,
            "rows": self.to_frame("polars").to_dicts(),
            "summary": self.summary("polars").to_dicts(),
            "starts": self.starts("polars").to_dicts(),
            "rest": list(self.rest),
            "learn_next": self.learn_next("polars").to_dicts(),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def __repr__(self) -> str:
        dates = self.outlook.dates
        best = self.worth(self.effort)[0]
        others = {"the even spread": self.even, "the plan now": self.now}
        ahead = ", ".join(
            f"{_per_cent(_ahead(best, self.worth(effort)[0]))} against {name}"
            for name, effort in others.items()
        )
        return (
            f"Plan({dates[0]} to {dates[-1]}, {self.effort.sum():,.4g} of "
            f"{self.spending.budget:,g} spent: objective {best:,.4g}, {ahead})"
        )

    def _repr_html_(self) -> str:
        table = self.to_frame("polars")
        daily = table.group_by(table.columns[0], maintain_order=True).agg(
            pl.col("effort", "now", "even").sum()
        )
        tables = {
            "What it brings": shown_spreads(self.summary("polars")),
            "Effort of every date": shown_efforts(daily),
        }
        said = [*self.rest, *told(self.notes, self.warnings)]
        return html_summary(repr(self), said, tables)

    @property
    def _series(self) -> tuple[str, ...]:
        return self.outlook.panel.series

    def _future(self, effort: np.ndarray) -> Future:
        """That effort on the days that are planned, and what is planned on those after them."""
        planned = self.expecting.outlook.planned
        return replace(planned, effort=np.concatenate([effort, planned.effort[len(effort) :]]))

    def _expected(self, effort: np.ndarray) -> tuple[Float[np.ndarray, " series"], float]:
        """Counts of the days that are planned, and what is gained or lost after them."""
        return self._counted(self.expecting.series(self._future(effort)))

    def _counted(
        self, series: Float[np.ndarray, "date unit cohort series"]
    ) -> tuple[Float[np.ndarray, " series"], float]:
        days = self.outlook.horizon
        more = (series - self.expecting.planned_series())[days:].sum((0, 1, 2))
        return series[:days].sum((0, 1, 2)), float(more @ self.weights)

    def _gains(self) -> tuple[float, float]:
        """By how many per cent expected worth is above the even spread's: in all, and because of
        what is carried, for the same effort would meet other states after even days."""
        ours, even = self._future(self.effort), self._future(self.even)
        met = self.expecting.met(self.expecting.walks(even), ours)
        unrested = self._counted(mean_series(met))
        best, evenly, without = (
            counts @ self.weights + afterwards
            for counts, afterwards in (
                self._expected(self.effort),
                self._expected(self.even),
                unrested,
            )
        )
        scale = 100 / abs(evenly) if evenly else 0.0
        return float(scale * (best - evenly)), float(scale * (best - without))

    def _shown(self, table: pl.DataFrame, kind: str | None) -> Any:
        return from_polars(table, kind or self.outlook.panel.kind)


def _ahead(best: float, other: float) -> float | None:
    """In per cent; beside a plan that is worth nothing there is no such figure."""
    return 100 * (best - other) / abs(other) if other else None


def _per_cent(value: float | None) -> str:
    return "everything" if value is None else f"{value:+.1f} %"
