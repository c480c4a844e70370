"""What is asked of counts: which series, and by what they are added up.

A series is "arrivals", a behaviour, a sum of some of these, or a ratio of two sums (buys per
click). It is asked of every cell or of totals by date, unit and cohort. The same question is put to
recorded counts, to expected ones and to every drawn path, so that parts add up wherever they are
looked at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float, Num

from dgd.errors import InputError
from dgd.model.bits import behavior_bits
from dgd.panel.grids import ARRIVALS
from dgd.panel.panel import Panel

AXES = ("date", "unit", "cohort")
BEHAVIOR = "behavior"


@dataclass(frozen=True)
class Asked:
    """Series, and the axes that are kept apart; the others are added up.

    `parts` and `over` are names of counted series: their sum, or the first sum over the second.
    """

    by: tuple[str, ...]
    series: tuple[str, ...]
    parts: tuple[tuple[int, ...], ...]
    over: tuple[tuple[int, ...], ...]
    """Empty for what is no ratio."""

    @staticmethod
    def of(
        panel: Panel,
        by: Sequence[str],
        sums: Mapping[str, Sequence[str]] | None = None,
        ratios: Mapping[str, tuple[str, str]] | None = None,
    ) -> "Asked":
        """The question in the words of a user.

        Args:
            by: any of "date", "unit", "cohort" (or the panel's own names of them) and
                "behavior", which asks for every behaviour beside the arrivals.
            sums: a name for several behaviours counted together.
            ratios: a name for one series (or sum) over another.
        """
        axes = _checked_axes(panel, by)
        names = panel.series
        counted: dict[str, tuple[int, ...]] = {name: (number,) for number, name in enumerate(names)}
        found: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
            name: (own, ()) for name, own in counted.items() if name == ARRIVALS or BEHAVIOR in axes
        }
        for name, members in (sums or {}).items():
            parts = tuple(
                one for member in members for one in _number(counted, member, f'sum "{name}"')
            )
            if not parts:
                raise InputError(f'sum "{name}" is empty; name behaviours that are added up.')
            counted[name] = parts
            found[name] = (parts, ())
        for name, (top, bottom) in (ratios or {}).items():
            where = f'ratio "{name}"'
            found[name] = (_number(counted, top, where), _number(counted, bottom, where))
        return Asked(
            tuple(axis for axis in AXES if axis in axes),
            tuple(found),
            tuple(parts for parts, _ in found.values()),
            tuple(over for _, over in found.values()),
        )

    @staticmethod
    def of_everything(panel: Panel) -> "Asked":
        """Arrivals and every behaviour of every cell."""
        return Asked.of(panel, (*AXES, BEHAVIOR))

    @staticmethod
    def of_days(panel: Panel) -> "Asked":
        """Arrivals and every behaviour of all cells together, day by day."""
        return Asked.of(panel, ("date", BEHAVIOR))

    @property
    def by_date(self) -> bool:
        return "date" in self.by

    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the series that are alike: arrivals, behaviours and sums of them, and each
        ratio by itself."""
        counted = [n for n, over in enumerate(self.over) if not over]
        arrivals = [n for n in counted if self.series[n] == ARRIVALS]
        others = [n for n in counted if n not in arrivals]
        ratios = [(n,) for n, over in enumerate(self.over) if over]
        return tuple(tuple(group) for group in (arrivals, others) if group) + tuple(ratios)

    def answered(
        self, counts: Num[np.ndarray, "*lead step unit cohort counted"]
    ) -> Float[np.ndarray, "*lead kept_step kept_unit kept_cohort series"]:
        """The answer: axes that are added up keep a length of 1; a ratio over nothing is not a
        number."""
        lost = tuple(axis - 4 for axis, name in enumerate(AXES) if name not in self.by)
        kept = counts.sum(lost, keepdims=True) if lost else counts
        found = np.empty((*kept.shape[:-1], len(self.series)))
        for number, (parts, over) in enumerate(zip(self.parts, self.over, strict=True)):
            top = kept[..., list(parts)].sum(-1)
            if not over:
                found[..., number] = top
                continue
            bottom = kept[..., list(over)].sum(-1)
            with np.errstate(divide="ignore", invalid="ignore"):
                found[..., number] = np.where(bottom > 0, top / bottom, np.nan)
        return found

    def labels(self, panel: Panel, dates: np.ndarray) -> pl.DataFrame:
        """One row per place and series of an answer, in its order: what each number is of."""
        lengths = {"date": len(dates), "unit": len(panel.units), "cohort": len(panel.cohorts)}
        shape = [lengths[axis] if axis in self.by else 1 for axis in AXES]
        step, unit, cohort, number = (i.ravel() for i in np.indices((*shape, len(self.series))))
        columns: dict[str, list[pl.Series]] = {
            "date": [
                panel.period.series(panel.columns.date, dates[step]),
                pl.Series("horizon", step + 1),
            ],
            "unit": [pl.Series(panel.columns.unit, [panel.units[i] for i in unit])],
            "cohort": [pl.Series(panel.columns.cohort, [panel.cohorts[i] for i in cohort])],
        }
        kept = [column for axis in self.by for column in columns[axis]]
        return pl.DataFrame([*kept, pl.Series("series", [self.series[i] for i in number])])


def counted_series(patterns: Num[np.ndarray, "*lead pattern"]) -> Num[np.ndarray, "*lead counted"]:
    """Arrivals, then every behaviour, of counts of joint patterns."""
    bits = behavior_bits(int(patterns.shape[-1]).bit_length() - 1)
    both: Any = np.concatenate([np.ones((len(bits), 1)), bits], 1).astype(patterns.dtype)
    return np.asarray(patterns @ both)


def _checked_axes(panel: Panel, by: Sequence[str]) -> set[str]:
    own = {getattr(panel.columns, axis): axis for axis in AXES}
    known = (*AXES, BEHAVIOR)
    found = set()
    for name in by:
        axis = name if name in known else own.get(name)
        if axis is None:
            raise InputError(
                f'by names "{name}"; totals are by any of {", ".join(known)}, separated by commas.'
            )
        found.add(axis)
    return found


def _number(counted: Mapping[str, tuple[int, ...]], name: str, where: str) -> tuple[int, ...]:
    if name not in counted:
        raise InputError(f'{where} names "{name}"; choose among {", ".join(counted)}.')
    return counted[name]
