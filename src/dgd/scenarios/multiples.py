"""What multiples of effort or of sizes would bring: response curves and grids.

A curve is added up over the days ahead, cohort by cohort. A grid goes day by day: computed once, it
answers what-if questions where no model is at hand; between two multiples a reader may go straight.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from jaxtyping import Bool, Float
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.scenarios.cells import Cells
from dgd.scenarios.expecting import Expecting
from dgd.scenarios.future import Outlook, refuse_without_effort
from dgd.scenarios.planned_fit import ExpectingFit
from dgd.scenarios.ranges import learned_effort
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label
from dgd.tables.periods import Moment

KNOBS = ("effort", "size")
EVERYBODY = "all"
MULTIPLES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
"""Of what is planned, where a user names none."""


def response_curve(
    fit: ExpectingFit,
    cohort: Label | None = None,
    efforts: Sequence[float] | None = None,
    horizon: int = 7,
    *,
    origin: Moment | None = None,
    effort: IntoFrame | None = None,
    features: IntoFrame | None = None,
    kind: str | None = None,
) -> Any:
    """What the `horizon` days ahead would bring if a cohort's effort were multiplied.

    Args:
        cohort: one cohort, "all" for all of them together, or by default each by itself.
        efforts: multiples of the planned effort; 1 is the plan itself.

    Returns:
        one row per cohort and multiple: the mean effort, expected arrivals and behaviours of
        the cohort over the horizon, whether training saw such efforts (`seen`) and whether the
        response was `learned` or is an assumption.
    """
    multiples = checked_multiples(efforts, "efforts")
    refuse_without_effort(fit.panel, "a response curve")
    outlook = Outlook.of(fit, horizon, origin, effort, features)
    chosen = chosen_cohorts(outlook, cohort)
    learned = learned_effort(fit)
    rows = [
        {
            outlook.panel.columns.cohort: one.cohort,
            "multiple": one.multiple,
            "effort": one.level,
            **dict(zip(fit.panel.series, one.daily.sum(0), strict=True)),
            "seen": one.seen,
            "learned": bool(learned[one.cohorts].all()),
        }
        for one in tried(Expecting.of(fit, outlook), "effort", chosen, multiples)
    ]
    return from_polars(pl.DataFrame(rows), kind or fit.panel.kind)


def response_grid(
    fit: ExpectingFit,
    what: str = "effort",
    multiples: Sequence[float] | None = None,
    horizon: int = 28,
    *,
    origin: Moment | None = None,
    effort: IntoFrame | None = None,
    features: IntoFrame | None = None,
    kind: str | None = None,
) -> Any:
    """What the days ahead would bring if effort or sizes were multiplied.

    Args:
        what: "effort", or "size" for how many people there are.
        multiples: of what is planned; 1 is the plan itself.

    Returns:
        one row per cohort (and "all" of them together, where there are several), multiple, date
        and series: `expected`, and whether training has `seen` as much.
    """
    if what not in KNOBS:
        raise InputError(f'what is "{what}"; choose {" or ".join(KNOBS)}.')
    asked = checked_multiples(multiples, "multiples")
    if what == "effort":
        refuse_without_effort(fit.panel, "a response grid")
    outlook = Outlook.of(fit, horizon, origin, effort, features)
    panel = outlook.panel
    each = chosen_cohorts(outlook, None)
    together = {} if len(each) == 1 else chosen_cohorts(outlook, EVERYBODY)
    day, series = (i.ravel() for i in np.indices((outlook.horizon, len(panel.series))))
    parts = []
    for one in tried(Expecting.of(fit, outlook), what, {**together, **each}, asked):
        columns = [
            pl.Series(panel.columns.cohort, [str(one.cohort)] * len(day)),
            pl.Series("multiple", np.full(len(day), one.multiple)),
            panel.period.series(panel.columns.date, outlook.dates[day]),
            pl.Series("series", [panel.series[i] for i in series]),
            pl.Series("expected", one.daily.ravel()),
            pl.Series("seen", [one.seen] * len(day)),
        ]
        parts.append(pl.DataFrame(columns))
    return from_polars(pl.concat(parts), kind or fit.panel.kind)


class Multiplied(NamedTuple):
    """One multiple for one choice of cohorts, and what it would bring them."""

    cohort: Label
    multiple: float
    level: float
    """The mean effort or size of a cell and day."""
    daily: Float[np.ndarray, "date series"]
    """Expected arrivals and behaviours of these cohorts, all units together."""
    seen: bool
    """Whether the training days have seen as much."""
    cohorts: Bool[np.ndarray, " cohort"]


def tried(
    expecting: Expecting,
    what: str,
    chosen: Mapping[Label, Bool[np.ndarray, " cohort"]],
    multiples: Sequence[float],
) -> Iterator[Multiplied]:
    """Every multiple of `what` ("effort" or "size") for every choice of cohorts, each by itself.

    What cohorts carry is their own, and expected counts surprise no environment: a cohort does
    not notice what is done with the others, so all are multiplied in one walk.
    """
    outlook = expecting.outlook
    planned = getattr(outlook.planned, what)
    most = getattr(outlook.panel, what)[expecting.fit.split.train].max(0)
    found = {
        multiple: expecting.series(replace(outlook.planned, **{what: multiple * planned}))
        for multiple in multiples
    }
    for label, own in chosen.items():
        for multiple in multiples:
            changed = multiple * planned[:, :, own]
            yield Multiplied(
                label,
                multiple,
                float(changed.mean()),
                found[multiple][:, :, own].sum((1, 2)),
                bool((changed <= most[:, own]).all()),
                own,
            )


def checked_multiples(given: Sequence[float] | None, name: str) -> list[float]:
    """The multiples a user names, refused where one is none; by default a wide choice."""
    if given is None:
        return list(MULTIPLES)
    several: list[Any] = [given] if isinstance(given, (str, Real)) else list(given)
    for multiple in several:
        number = isinstance(multiple, Real) and not isinstance(multiple, bool)
        if not number or not 0 <= multiple < np.inf:
            raise InputError(
                f"{name} holds {multiple!r}; give multiples of the plan, 0 or more, like [0.5, 2]."
            )
    if not several:
        raise InputError(f"{name} is empty; give multiples of the plan like [0.5, 1, 2].")
    return [float(multiple) for multiple in several]


def chosen_cohorts(
    outlook: Outlook, cohort: Label | None
) -> dict[Label, Bool[np.ndarray, " cohort"]]:
    """One cohort, "all" of them together, or without a name each by itself."""
    known = outlook.panel.cohorts
    every = np.ones(len(known), bool)
    if cohort is None:
        return {label: every & (np.arange(len(known)) == at) for at, label in enumerate(known)}
    if cohort == EVERYBODY and EVERYBODY not in known:
        return {EVERYBODY: every}
    mask = Cells(cohorts=cohort).mask(outlook.panel, outlook.dates, "response curve")
    return {cohort: np.asarray(mask.any((0, 1)))}
