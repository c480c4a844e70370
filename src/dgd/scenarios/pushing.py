"""One day's push: what more effort on a single day brings, that day and on the days after it."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.scenarios.cells import Cells, Labels
from dgd.scenarios.expecting import Expecting
from dgd.scenarios.future import Outlook, refuse_without_effort
from dgd.scenarios.planned_fit import ExpectingFit
from dgd.scenarios.ranges import assumption_notes
from dgd.tables.frames import from_polars
from dgd.tables.periods import Moment

MOST_OF_IT = 0.9
"""A push has come to its end when so much of its effect, losses counted as gains, is over."""


@dataclass(frozen=True, eq=False)
class Push:
    """Extra arrivals and behaviours after a push on the first day ahead."""

    outlook: Outlook
    multiply: float
    extra: Float[np.ndarray, "date series"]
    notes: tuple[str, ...]

    @property
    def series(self) -> tuple[str, ...]:
        return self.outlook.panel.series

    def to_frame(self, kind: str | None = None) -> Any:
        """One row per date: how many more of everything than as planned."""
        panel = self.outlook.panel
        columns = [panel.period.series(panel.columns.date, self.outlook.dates)]
        columns += [pl.Series(name, self.extra[:, at]) for at, name in enumerate(self.series)]
        return from_polars(pl.DataFrame(columns), kind or panel.kind)

    def lasting(self, kind: str | None = None) -> Any:
        """One row per series: what the push brings on its own day, afterwards and in all, and
        after how many days (its own counted) nine tenths of the effect have come."""
        size = np.abs(self.extra)
        total = size.sum(0)
        come = np.cumsum(size, 0) >= MOST_OF_IT * total * (1 - 1e-12)
        days = np.where(total > 0, come.argmax(0) + 1, 0)
        table = pl.DataFrame(
            {
                "series": self.series,
                "on_the_day": self.extra[0],
                "afterwards": self.extra[1:].sum(0),
                "in_all": self.extra.sum(0),
                "days": days,
            }
        )
        return from_polars(table, kind or self.outlook.panel.kind)

    def payload(self) -> dict[str, Any]:
        return {
            "multiply": self.multiply,
            "rows": self.to_frame("polars").to_dicts(),
            "lasting": self.lasting("polars").to_dicts(),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        told = ", ".join(
            f"{row['series']} {row['in_all']:+,.1f} within {row['days']} {self._steps(row['days'])}"
            for row in self.lasting("polars").to_dicts()
        )
        return f"Push(effort x {self.multiply:g} on {self.outlook.dates[0]}: {told})"

    def _steps(self, number: int) -> str:
        name = self.outlook.panel.period.name
        return name if number == 1 else f"{name}s"


def push(
    fit: ExpectingFit,
    multiply: float = 2.0,
    horizon: int = 28,
    *,
    units: Labels = None,
    cohorts: Labels = None,
    origin: Moment | None = None,
    effort: IntoFrame | None = None,
    features: IntoFrame | None = None,
) -> Push:
    """Multiply the effort of the first day ahead, and follow what is left of it day by day."""
    number = isinstance(multiply, Real) and not isinstance(multiply, bool)
    if not number or not 0 <= multiply < np.inf or multiply == 1:
        raise InputError(f"multiply is {multiply!r}; give a number of 0 or more other than 1.")
    refuse_without_effort(fit.panel, "a push")
    outlook = Outlook.of(fit, horizon, origin, effort, features)
    mask = Cells(outlook.dates[0], units, cohorts).mask(outlook.panel, outlook.dates, "push")
    planned = outlook.planned
    if not (planned.effort[mask] > 0).any():
        raise InputError(
            f"no effort is planned on {outlook.dates[0]} where the push is; give effort for that "
            "day, or another origin."
        )
    pushed = replace(planned, effort=np.where(mask, multiply * planned.effort, planned.effort))
    expecting = Expecting.of(fit, outlook)
    extra = (expecting.series(pushed) - expecting.planned_series()).sum((1, 2))
    notes = (*outlook.notes, *assumption_notes(fit, mask))
    return Push(outlook, float(multiply), extra, notes)
