"""A plan: effort spread over the days ahead for the most that is wanted."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.forecasting.protocol import refuse_horizon
from dgd.scenarios import plan_terms
from dgd.scenarios.expecting import Expecting
from dgd.scenarios.future import Outlook, refuse_without_effort
from dgd.scenarios.plan_terms import Bounds, Fixed, Limit
from dgd.scenarios.plan_worth import worth_of
from dgd.scenarios.planned_fit import DrawingFit, ExpectingFit
from dgd.scenarios.plans import Plan
from dgd.scenarios.ranges import assumption_notes, warnings_of
from dgd.scenarios.solving import Worth, greedy, solved_starts
from dgd.scenarios.spending import Spending
from dgd.tables.periods import Moment

AFTER = {"hour": 48, "day": 14, "week": 4}
"""Periods after the horizon in which what a plan leaves behind is counted."""
FEW_STARTS, MOST_STARTS = 4, 1000


def plan(
    fit: DrawingFit,
    budget: float,
    objective: Mapping[str, float] | str,
    *,
    horizon: int,
    bounds: Bounds = None,
    per_day: Limit = None,
    per_unit: Limit = None,
    fixed: Fixed = None,
    origin: Moment | None = None,
    effort: IntoFrame | None = None,
    features: IntoFrame | None = None,
    quantile: float | None = None,
    after: int | None = None,
    starts: int = 8,
    seed: int = 0,
) -> Plan:
    """Spread effort over dates, units and cohorts for the most of what is wanted.

    Args:
        budget: the effort that may be spent on all days and cells together.
        objective: what one more of each is worth, like `{"buy": 1.0, "arrivals": 0.1}`.
        bounds: least and most effort of a cell, as a pair or as a table with low, high and,
            where they matter, date, unit and cohort; by default from 0 to twice the most
            that training saw in the cell.
        per_day, per_unit: what a day or a unit may take: a number, `{date: number}`
            (`{unit: number}`), or a table with an effort column.
        fixed: cells that keep their effort, like `{"units": "north"}`, several such, or a table
            with date (or from and to), unit and cohort.
        origin, effort, features: as in a scenario; effort is the plan as it is now.
        quantile: maximise that quantile over what the parameters do not know, 0.2 for the
            cautious, instead of what is expected.
        after: for how many days after the horizon the effort planned for them is followed, so
            that a plan pays for the people it leaves tired; 14 by default, 0 for none.
        starts: from how many first spreads the solver starts; the even one and the plan as it
            is are always among them.
    """
    refuse_without_effort(fit.panel, "a plan")
    weights = plan_terms.weights_of(objective, fit.panel)
    total, share = plan_terms.budget_of(budget), plan_terms.quantile_of(quantile)
    if isinstance(starts, bool) or not isinstance(starts, int) or not 1 <= starts <= MOST_STARTS:
        raise InputError(f"starts is {starts!r}; give a whole number from 1 to {MOST_STARTS:,}.")
    refuse_horizon(fit.panel, horizon)
    later = plan_terms.after_of(after, AFTER[fit.panel.period.name])
    longer = Outlook.of(fit, horizon + later, origin, effort, features)
    outlook = longer.first(horizon)
    spending, notes = _spending(fit, outlook, total, bounds, per_day, per_unit, fixed)
    expecting = Expecting.of(fit, longer)
    worth = worth_of(fit, expecting, horizon, weights, share, seed)
    even = spending.shaped(np.ones(spending.low.shape))
    first = {}
    if share is not None and starts > 2:
        # what is best on average is near what is best for the cautious, and found far sooner
        average = worth_of(fit, expecting, horizon, weights, None, seed)
        on_average = _starts(average, spending, outlook, even, FEW_STARTS, seed)
        found = solved_starts(average, spending, even, on_average)
        first = {"best on average": max(found, key=lambda one: one.worth).effort}
    found = solved_starts(
        worth,
        spending,
        even,
        first | _starts(worth, spending, outlook, even, starts - len(first), seed),
    )
    best = max(found, key=lambda one: one.worth)
    moved = replace(outlook.planned, effort=best.effort)
    room = float(np.minimum(spending.high.sum(), spending.days.sum()))
    if min(room, spending.units.sum()) < total * (1 - 1e-9):
        notes = (*notes, "bounds and limits do not let the whole budget be spent.")
    return Plan(
        outlook,
        expecting,
        spending,
        weights,
        share,
        best.effort,
        even,
        tuple(found),
        worth,
        (*outlook.notes, *notes, *assumption_notes(fit, spending.free)),
        warnings_of(fit, outlook, moved),
    )


def _spending(
    fit: ExpectingFit,
    outlook: Outlook,
    budget: float,
    bounds: Bounds,
    per_day: Limit,
    per_unit: Limit,
    fixed: Fixed,
) -> tuple[Spending, tuple[str, ...]]:
    low, high, notes = plan_terms.bounds_of(fit, outlook, bounds)
    held = plan_terms.fixed_cells(outlook, fixed)
    now = outlook.planned.effort
    spending = Spending(
        np.where(held, now, low),
        np.where(held, now, high),
        budget,
        plan_terms.day_limits(outlook, per_day),
        plan_terms.unit_limits(outlook, per_unit),
    )
    spending.refuse_impossible(outlook.dates, outlook.panel.units)
    if not spending.free.any():
        raise InputError(
            "every cell is fixed, so there is nothing to plan; fix fewer cells or widen the bounds."
        )
    return spending, notes


def _starts(
    worth: Worth, spending: Spending, outlook: Outlook, even: np.ndarray, number: int, seed: int
) -> dict[str, np.ndarray]:
    """First spreads by name: the even one, the plan as it is, the greedy one, random ones."""
    now = outlook.planned.effort
    found = {"even": even, "now": spending.lowered(now)}
    if number > 2:
        found["now, at this budget"] = spending.shaped(np.where(spending.free, now, 1.0))
    if number > 3:
        most = greedy(spending, worth(even)[1])
        if most is not None:
            found["greedy"] = most
    rng = np.random.default_rng(seed)
    while len(found) < number:
        name = f"random {len(found) - 3}"
        found[name] = spending.shaped(rng.gamma(1.0, size=now.shape))
    return found
