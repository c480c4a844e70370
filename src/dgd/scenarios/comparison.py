"""ScenarioComparison: the days ahead as planned and as changed, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.errors import InputError
from dgd.scenarios.causes import CAUSES
from dgd.scenarios.drawing import DrawnFutures, ends_of_levels
from dgd.scenarios.future import Outlook
from dgd.scenarios.shown import shown_causes, shown_totals, told
from dgd.tables.frames import from_polars
from dgd.tables.html import html_summary


@dataclass(frozen=True, eq=False)
class ScenarioComparison:
    """What a change does: expected counts as planned and changed, their ranges, and why.

    Every table has one row per series ("arrivals" and each behaviour) with the columns
    `baseline`, `changed` and `difference`, all expected values, and of each the ends of its
    range at every level.
    """

    outlook: Outlook
    baseline: Float[np.ndarray, "date unit cohort series"]
    changed: Float[np.ndarray, "date unit cohort series"]
    causes: Float[np.ndarray, "date cause series"]
    """What each cause adds to the difference of a day."""
    drawn: DrawnFutures | None
    """`None` where no paths were asked for."""
    levels: tuple[float, ...]
    notes: tuple[str, ...]
    """What was assumed of the days ahead and of the response."""
    warnings: tuple[str, ...]
    """Where the change leaves what the training days saw."""

    @property
    def series(self) -> tuple[str, ...]:
        return self.outlook.panel.series

    def to_frame(self, kind: str | None = None) -> Any:
        """One row per date and series, all units and cohorts together."""
        expected = [cells.sum((1, 2)) for cells in (self.baseline, self.changed)]
        ranges = self._ranges(lambda part: part.by_date)
        day, series = (i.ravel() for i in np.indices(expected[0].shape))
        labels = [*self._dates(day), self._series(series)]
        return self._shown([*labels, *_numbers(expected, ranges)], kind)

    def totals(self, by: Sequence[str] = (), kind: str | None = None) -> Any:
        """One row per series over the whole horizon; `by` keeps "unit" or "cohort" or both."""
        panel = self.outlook.panel
        asked = self._asked(by)
        kept = [axis for axis, name in enumerate(("unit", "cohort")) if name in asked]
        lost = tuple(axis for axis in (0, 1) if axis not in kept)
        expected = [cells.sum(0).sum(lost) for cells in (self.baseline, self.changed)]
        on_paths = tuple(axis + 1 for axis in lost)
        ranges = self._ranges(lambda part: part.by_cell.sum(on_paths))
        *cell, series = (i.ravel() for i in np.indices(expected[0].shape))
        names = (panel.columns.unit, panel.columns.cohort)
        known = (panel.units, panel.cohorts)
        labels = [
            pl.Series(names[axis], [known[axis][i] for i in at])
            for axis, at in zip(kept, cell, strict=True)
        ]
        return self._shown([*labels, self._series(series), *_numbers(expected, ranges)], kind)

    def split(self, by: str = "total", kind: str | None = None) -> Any:
        """The difference and its four causes, which add up to it: for every "date", or in
        "total"."""
        if by not in ("date", "total"):
            raise InputError(f'by is "{by}"; choose date or total.')
        causes = self.causes if by == "date" else self.causes.sum(0, keepdims=True)
        day, series = (i.ravel() for i in np.indices((len(causes), causes.shape[-1])))
        labels = [*(self._dates(day) if by == "date" else []), self._series(series)]
        difference = self.changed.sum((1, 2)) - self.baseline.sum((1, 2))
        difference = difference if by == "date" else difference.sum(0, keepdims=True)
        parts = [pl.Series(cause, causes[:, at].ravel()) for at, cause in enumerate(CAUSES)]
        return self._shown([*labels, pl.Series("difference", difference.ravel()), *parts], kind)

    def shown(self, by: Sequence[str] = ()) -> dict[str, pl.DataFrame]:
        """Totals and causes as people read them, by their titles."""
        dates, levels = self.outlook.dates, () if self.drawn is None else self.levels
        return {
            f"Totals of {dates[0]} to {dates[-1]}": shown_totals(self.totals(by, "polars"), levels),
            "The difference and its causes": shown_causes(self.split("total", "polars")),
        }

    def payload(self) -> dict[str, Any]:
        """Every table as plain values, with what was assumed and what goes beyond the data."""
        return {
            "origin": str(self.outlook.origin),
            "horizon": self.outlook.horizon,
            "rows": self.to_frame("polars").to_dicts(),
            "totals": self.totals(kind="polars").to_dicts(),
            "split": self.split("total", "polars").to_dicts(),
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def __repr__(self) -> str:
        dates = self.outlook.dates
        before, after = (cells.sum((0, 1, 2)) for cells in (self.baseline, self.changed))
        moved = ", ".join(
            f"{name} {new - old:+,.1f} ({_per_cent(old, new)})"
            for name, old, new in zip(self.series, before, after, strict=True)
        )
        return f"ScenarioComparison({dates[0]} to {dates[-1]}: {moved})"

    def _repr_html_(self) -> str:
        return html_summary(repr(self), told(self.notes, self.warnings), self.shown())

    def _asked(self, by: Sequence[str]) -> set[str]:
        columns = self.outlook.panel.columns
        own = {"unit": "unit", "cohort": "cohort", columns.unit: "unit", columns.cohort: "cohort"}
        names = [by] if isinstance(by, str) else list(by)
        for name in names:
            if name not in own:
                raise InputError(f'by names "{name}"; totals are by unit, by cohort or by both.')
        return {own[name] for name in names}

    def _ranges(self, part: Any) -> dict[str, np.ndarray]:
        if self.drawn is None:
            return {}
        return {
            f"{name}_{end}": values
            for name in ("baseline", "changed", "difference")
            for end, values in ends_of_levels(part(getattr(self.drawn, name)), self.levels).items()
        }

    def _dates(self, day: np.ndarray) -> list[pl.Series]:
        panel = self.outlook.panel
        return [panel.period.series(panel.columns.date, self.outlook.dates[day])]

    def _series(self, number: np.ndarray) -> pl.Series:
        return pl.Series("series", [self.series[i] for i in number])

    def _shown(self, columns: list[pl.Series], kind: str | None) -> Any:
        return from_polars(pl.DataFrame(columns), kind or self.outlook.panel.kind)


def _numbers(expected: list[np.ndarray], ranges: dict[str, np.ndarray]) -> list[pl.Series]:
    baseline, changed = expected
    numbers = {"baseline": baseline, "changed": changed, "difference": changed - baseline}
    return [pl.Series(name, values.ravel()) for name, values in {**numbers, **ranges}.items()]


def _per_cent(before: float, after: float) -> str:
    return f"{100 * (after / before - 1):+.1f} %" if before > 0 else "from nothing"
