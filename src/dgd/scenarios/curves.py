"""Response curves: what other efforts would bring, cohort by cohort."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.panel.panel import Panel
from dgd.scenarios.expecting import Expecting
from dgd.scenarios.future import Outlook
from dgd.scenarios.multiples import checked_multiples, chosen_cohorts, tried
from dgd.scenarios.planned_fit import ExpectingFit
from dgd.scenarios.ranges import learned_effort
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label
from dgd.tables.periods import Moment


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


def refuse_without_effort(panel: Panel, what: str) -> None:
    if not panel.has_effort:
        raise InputError(
            f"{what} needs effort, but the fit was made without it; make the panel with an effort "
            "table and fit again."
        )
