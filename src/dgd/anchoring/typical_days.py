"""Series of cells in which a unit first seen after the fit has the days of a typical one before."""

import numpy as np
from jaxtyping import Float

from dgd.anchoring.exposure import Exposed
from dgd.anchoring.hierarchy import Hierarchy
from dgd.panel.new_units import absent_days, with_typical_counts, with_typical_effort
from dgd.panel.panel import Panel


def cells_with_typical_days(
    panel: Panel,
    arrivals: Float[np.ndarray, "day unit cohort"],
    effort: Float[np.ndarray, "known unit cohort"] | None,
    hierarchies: tuple[Hierarchy, ...],
) -> Exposed:
    """Arrivals of the first days, and the effort behind them, as smoothers follow them."""
    if panel.since is None:
        return Exposed.cells(arrivals, effort, hierarchies)
    return Exposed.cells(
        with_typical_counts(panel, arrivals, panel.together.arrivals),
        None if effort is None else with_typical_effort(panel, effort),
        hierarchies,
        ~absent_days(panel, len(arrivals)),
    )
