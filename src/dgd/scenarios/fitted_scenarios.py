"""What a fit says about other futures, asked of the fit itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from narwhals.typing import IntoFrame

from dgd.scenarios.cells import Labels
from dgd.scenarios.changes import Changes
from dgd.scenarios.comparing import scenario
from dgd.scenarios.comparison import Comparison
from dgd.scenarios.curves import response_curve
from dgd.scenarios.plan_terms import Bounds, Fixed, Limit
from dgd.scenarios.planned_fit import DrawingFit, ExpectingFit
from dgd.scenarios.planning import plan
from dgd.scenarios.plans import Plan
from dgd.scenarios.pushing import Push, push
from dgd.tables.labels import Label
from dgd.tables.periods import Moment


class FittedScenarios:
    """A fit that can be asked what a change would do and how effort is best spread."""

    def scenario(
        self: DrawingFit,
        changes: Changes,
        horizon: int,
        *,
        origin: Moment | None = None,
        effort: IntoFrame | None = None,
        features: IntoFrame | None = None,
        levels: Sequence[float] = (80, 95),
        paths: int = 1000,
        seed: int = 0,
    ) -> Comparison:
        """Compare the `horizon` days after `origin` as planned with the same days after `changes`.

        Args:
            changes: a `Change`, its arguments by name, several of either, or a table with the
                columns what, how and value and, where they matter, date (or from and to), unit
                and cohort.
            origin: the last day whose counts are used; the panel's last by default.
            effort, features: the plan for days past the panel; where there is none, the last
                week is repeated, and `notes` say so.
            levels: of the ranges, in per cent.
            paths: how many pairs of futures are drawn for the ranges; with 0 there are none.
        """
        return scenario(
            self,
            changes,
            horizon,
            origin=origin,
            effort=effort,
            features=features,
            levels=levels,
            paths=paths,
            seed=seed,
        )

    def plan(
        self: DrawingFit,
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
            fixed: cells that keep their effort, like `{"units": "north"}`, or several such.
            origin, effort, features: as in a scenario; effort is the plan as it is now.
            quantile: maximise that quantile over what the parameters do not know, 0.2 for the
                cautious, instead of what is expected.
            after: for how many days after the horizon the effort planned for them is followed,
                so that a plan pays for the people it leaves tired; 14 by default, 0 for none.
            starts: from how many first spreads the solver starts; the even one and the plan as
                it is are always among them.
        """
        return plan(
            self,
            budget,
            objective,
            horizon=horizon,
            bounds=bounds,
            per_day=per_day,
            per_unit=per_unit,
            fixed=fixed,
            origin=origin,
            effort=effort,
            features=features,
            quantile=quantile,
            after=after,
            starts=starts,
            seed=seed,
        )

    def response_curve(
        self: ExpectingFit,
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
            the cohort over the horizon, whether training saw such efforts (`seen`) and whether
            the response was `learned` or is an assumption.
        """
        return response_curve(
            self,
            cohort,
            efforts,
            horizon,
            origin=origin,
            effort=effort,
            features=features,
            kind=kind,
        )

    def push(
        self: ExpectingFit,
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
        return push(
            self,
            multiply,
            horizon,
            units=units,
            cohorts=cohorts,
            origin=origin,
            effort=effort,
            features=features,
        )
