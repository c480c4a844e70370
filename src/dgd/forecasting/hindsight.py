"""Forecasts as they would have been made at past origins, to learn what forecasts are worth.

Origins are days before training and validation days that forecasts could be held against, the
latest of them; days after the validation days are never looked at. The trained model has seen the
training days, so what it says of them is a little too good; of the anchors only the weights have.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Int

from dgd.forecasting.asked import counted_series
from dgd.forecasting.calibration import MOST_ORIGINS, PastDraws, measured_steps
from dgd.forecasting.predictive import Predictive
from dgd.forecasting.scatter import Errors, Scatter
from dgd.panel.panel import Panel

MOST_EXPECTED = 20_000_000
"""Steps x origins x cells x patterns that are held at once; of more, fewer origins are taken."""
MOST_DRAWN = 40_000_000
"""Paths x steps x origins x cells x series that are kept."""
PATHS = 200
FEWEST_PATHS = 40


def past_origins(
    panel: Panel, days: Int[np.ndarray, " day"], first_origin: int
) -> Int[np.ndarray, " origin"]:
    """The days before these, as many as can be looked at, from the earliest on."""
    origins = days[-MOST_ORIGINS:] - 1
    origins = origins[origins >= first_origin]
    size = measured_steps(len(origins))[-1] * panel.patterns[0].size
    most = max(MOST_EXPECTED // size, 2)
    return origins[:: -(-len(origins) // most)] if len(origins) > most else origins


def measured_scatter(
    predict: Callable[[Int[np.ndarray, " origin"], int], Predictive],
    panel: Panel,
    origins: Int[np.ndarray, " origin"],
    stop: int,
) -> Scatter:
    """How far the days before day number `stop` were from what was forecast of them."""
    steps = measured_steps(len(origins))
    expected = predict(origins, steps[-1]).averaged()
    errors = {}
    for step in steps:
        known = origins + step < stop
        errors[step] = Errors(
            expected.arrivals[0, step - 1, known],
            expected.patterns[0, step - 1, known],
            panel.patterns[origins[known] + step],
        )
    return Scatter.measured(errors)


def past_paths(panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int) -> int:
    """How many paths of so many days are drawn at each of the origins."""
    size = horizon * len(origins) * panel.behavior_counts[0].size
    return int(np.clip(MOST_DRAWN // max(size, 1), FEWEST_PATHS, PATHS))


def past_draws(
    drawn: Int[np.ndarray, "path step origin unit cohort counted"],
    panel: Panel,
    origins: Int[np.ndarray, " origin"],
    stop: int,
) -> PastDraws:
    """Paths drawn from the origins beside what was recorded before `stop`."""
    ahead = origins + np.arange(1, drawn.shape[1] + 1)[:, None]
    known = ahead < stop
    recorded = counted_series(panel.patterns[np.minimum(ahead, stop - 1)])
    return PastDraws(origins, drawn, recorded, known)
