"""Response curves: what other efforts would bring, cohort by cohort."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
import polars as pl
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.panel.panel import Panel
from dgd.scenarios.cells import Cells
from dgd.scenarios.expecting import Expecting
from dgd.scenarios.future import Outlook
from dgd.scenarios.planned_fit import ExpectingFit
from dgd.scenarios.ranges import learned_effort
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label
from dgd.tables.periods import Moment

EVERYBODY = "all"
MULTIPLES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)
"""Of the planned effort, where a user names none."""


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
    multiples = _checked(efforts)
    refuse_without_effort(fit.panel, "a response curve")
    outlook = Outlook.of(fit, horizon, origin, effort, features)
    masks = _cohorts(outlook, cohort)
    expecting = Expecting.of(fit, outlook)
    learned = learned_effort(fit)
    seen = outlook.panel.effort[fit.split.train].max(0)
    rows = []
    for label, own in masks.items():
        for multiple in multiples:
            planned = outlook.planned
            tried = planned.effort * np.where(own, multiple, 1.0)
            found = expecting.series(replace(planned, effort=tried))[:, :, own].sum((0, 1, 2))
            row = {
                outlook.panel.columns.cohort: label,
                "multiple": multiple,
                "effort": tried[:, :, own].mean(),
                **dict(zip(fit.panel.series, found, strict=True)),
                "seen": bool((tried[:, :, own] <= seen[:, own]).all()),
                "learned": bool(learned[own].all()),
            }
            rows.append(row)
    return from_polars(pl.DataFrame(rows), kind or fit.panel.kind)


def refuse_without_effort(panel: Panel, what: str) -> None:
    if not panel.has_effort:
        raise InputError(
            f"{what} needs effort, but the fit was made without it; make the panel with an effort "
            "table and fit again."
        )


def _checked(efforts: Sequence[float] | None) -> list[float]:
    if efforts is None:
        return list(MULTIPLES)
    given: list[Any] = [efforts] if isinstance(efforts, (str, Real)) else list(efforts)
    for multiple in given:
        number = isinstance(multiple, Real) and not isinstance(multiple, bool)
        if not number or not 0 <= multiple < np.inf:
            raise InputError(
                f"efforts holds {multiple!r}; give multiples of the plan, 0 or more, like [0.5, 2]."
            )
    if not given:
        raise InputError("efforts is empty; give multiples of the plan like [0.5, 1, 2].")
    return [float(multiple) for multiple in given]


def _cohorts(outlook: Outlook, cohort: Label | None) -> dict[Label, np.ndarray]:
    known = outlook.panel.cohorts
    every = np.ones(len(known), bool)
    if cohort is None:
        return {label: every & (np.arange(len(known)) == at) for at, label in enumerate(known)}
    if cohort == EVERYBODY and EVERYBODY not in known:
        return {EVERYBODY: every}
    mask = Cells(cohorts=cohort).mask(outlook.panel, outlook.dates, "response curve")
    return {cohort: np.asarray(mask.any((0, 1)))}
