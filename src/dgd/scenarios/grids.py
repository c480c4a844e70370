"""Response grids: what multiples of effort or of sizes would bring, day by day.

Computed once, a grid answers what-if questions where no model is at hand: between two multiples
a reader may go straight.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from narwhals.typing import IntoFrame

from dgd.errors import InputError
from dgd.scenarios.curves import refuse_without_effort
from dgd.scenarios.expecting import Expecting
from dgd.scenarios.future import Outlook
from dgd.scenarios.multiples import EVERYBODY, checked_multiples, chosen_cohorts, tried
from dgd.scenarios.planned_fit import ExpectingFit
from dgd.tables.frames import from_polars
from dgd.tables.periods import Moment

KNOBS = ("effort", "size")


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
