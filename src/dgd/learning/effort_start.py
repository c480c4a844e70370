"""How contact answers to effort, measured on the training days: where training starts from.

An elasticity can be told where effort varied within a cell; saturation, where it took several
levels that lie far apart. What cannot be told stays as in the paper: in proportion.
"""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float
from scipy.special import logit

from dgd.learning.effort_regression import ELASTICITIES, Days, Regression, profiled, regressed
from dgd.model.effort import AbstractEffortResponse, Elastic, Proportional
from dgd.panel.features import STANDSTILL, calendar_marks, choose_calendar
from dgd.panel.panel import Panel
from dgd.panel.split import Split

ROUNDING = 1e-6
"""Efforts that differ by no larger share are the same effort."""
SATURATIONS = (0.25, 1.0, 4.0)
"""Tried beside none."""
CLEAR_GAIN = 3.0
"""Units of quasi-log-likelihood that saturation must be worth."""
LEVELS, LEVEL_STEP, LEVEL_RANGE = 3, 1.5, 4.0
"""Saturation is asked about where effort took three levels, each half as large again as the one
below it, over a factor of four."""
TREND_DAYS = 28.0
"""Half-waves of the trend are at least this long, so that it cannot follow a campaign."""


def learned_response(panel: Panel, split: Split) -> AbstractEffortResponse:
    """As the training days have it; proportional where they cannot tell of any cohort."""
    varied = _varied(panel, split)
    if not varied.any():
        return Proportional()
    usual = _usual(panel, split)
    days = _days(panel, split, usual, varied)
    none = np.zeros(len(varied))
    first = regressed(days, none)
    saturation = np.array([_saturation(days, g, first) for g in range(len(varied))])
    found = regressed(days, saturation) if saturation.any() else first
    return Elastic(
        raw_elasticity=jnp.asarray(logit(np.clip(found.elasticity, *ELASTICITIES))),
        saturation=jnp.asarray(saturation),
        usual=jnp.asarray(usual),
        varied=jnp.asarray(varied),
    )


def proportional_response(_panel: Panel, _split: Split) -> AbstractEffortResponse:
    """The paper's, whatever the counts say."""
    return Proportional()


def blank_response(cohorts: int) -> Elastic:
    """Of the right shape, for parameters that a file will fill."""
    zeros = jnp.asarray(np.zeros(cohorts))
    return Elastic(zeros, zeros, zeros, jnp.asarray(np.zeros(cohorts, bool)))


EFFORT_RESPONSES: dict[str, Callable[[Panel, Split], AbstractEffortResponse]] = {
    "learned": learned_response,
    "proportional": proportional_response,
}
"""Responses by the name a setting gives them, each where training starts."""


def _varied(panel: Panel, split: Split) -> Bool[np.ndarray, " cohort"]:
    """Cohorts with a cell in which people arrived and effort was not always the same."""
    effort = panel.effort[split.train]
    least = np.where(effort > 0, effort, np.inf).min(0)
    wide = effort.max(0) > least * (1 + ROUNDING)
    return np.asarray((wide & (panel.arrivals[split.train].sum(0) > 0)).any(0))


def _usual(panel: Panel, split: Split) -> Float[np.ndarray, " cohort"]:
    """Mean positive effort; 1 for a cohort that nobody ever tried to reach."""
    effort = panel.effort[split.train]
    worked = (effort > 0).sum((0, 1))
    return np.where(worked > 0, effort.sum((0, 1)) / np.maximum(worked, 1), 1.0)


def _days(
    panel: Panel,
    split: Split,
    usual: Float[np.ndarray, " cohort"],
    varied: Bool[np.ndarray, " cohort"],
) -> Days:
    effort, arrivals = panel.effort[split.train], panel.arrivals[split.train].astype(np.float64)
    worked = effort > 0
    return Days(
        arrivals=np.where(worked, arrivals, 0.0),
        size=np.where(worked, panel.size[split.train], 0.0),
        known=_known(panel, split),
        logarithm=np.log(np.where(worked, effort, usual) / usual),
        varied=varied,
    )


def _known(panel: Panel, split: Split) -> Float[np.ndarray, "date unit cohort effect"]:
    """Calendar where training can tell it, a slow trend, and the user's own features."""
    dates = panel.known_dates[split.train]
    marks = calendar_marks(dates, choose_calendar(panel, split))
    place = (np.arange(len(dates)) + 0.5) / len(dates)
    length = len(dates) * (panel.period.step / np.timedelta64(1, "D"))
    waves = np.arange(1, max(1, int(length / TREND_DAYS)) + 1)
    of_day = np.concatenate([marks, np.cos(np.pi * place[:, None] * waves)], 1)
    own = panel.features[split.train]
    scale = own.std((0, 1, 2))
    own = (own - own.mean((0, 1, 2))) / np.where(scale > STANDSTILL, scale, np.inf)
    shape = (*own.shape[:3], of_day.shape[1])
    return np.concatenate([np.broadcast_to(of_day[:, None, None], shape), own], -1)


def _saturation(days: Days, cohort: int, found: Regression) -> float:
    """The saturation that explains a cohort's arrivals best, 0 unless it does so clearly."""
    worked = (days.size > 0) & (days.arrivals.sum(0) > 0)
    if not days.varied[cohort] or not _well_spread(
        days.logarithm[:, :, cohort][worked[:, :, cohort]]
    ):
        return 0.0
    _, without = profiled(days, cohort, found, 0.0)
    gains = [profiled(days, cohort, found, kappa)[1] - without for kappa in SATURATIONS]
    best = int(np.argmax(gains))
    return SATURATIONS[best] if gains[best] > CLEAR_GAIN else 0.0


def _well_spread(logarithms: Float[np.ndarray, " day"]) -> bool:
    """Whether efforts lie on levels far enough apart to see a curve bend."""
    if np.ptp(logarithms) < np.log(LEVEL_RANGE) - ROUNDING:
        return False
    levels, last = 0, -np.inf
    for one in np.unique(logarithms):
        if one >= last + np.log(LEVEL_STEP) - ROUNDING:
            levels, last = levels + 1, one
    return levels >= LEVELS
