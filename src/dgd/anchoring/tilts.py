r"""Tilts: swings and weekdays that move the behaviours of many cells together.

A tilt adds the same number to the log-odds of a behaviour in all cells that a level counts
together: q(y) becomes proportional to q(y) exp(sum_h s_h y_h). What is added has two parts,

.. math:: s_t = l_t + w_{d(t)}, \qquad l_t = \phi\, l_{t-1} + \text{noise}, \qquad
    l \sim N(0, f v), \quad w_d \sim N(0, v_w)

a level that a day carries over to the next and an effect of the weekday that stays. Days
also have shocks of their own, of variance (1 - f) v, which say nothing about tomorrow and
must not be taken for either; v is the variance of what a day's log-odds move beyond chance.
Both parts are filtered from day to day as in a dynamic generalised linear model: the score of
the day's counts, weighed by its information, moves the mean of the normal belief.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float, Int

from dgd.anchoring.chains import normalized
from dgd.anchoring.levels import Daily, Level, pooled
from dgd.model.bits import behavior_bits

Beliefs: TypeAlias = Float[np.ndarray, "day units cohorts effect behavior"]
"""Means of the level (effect 0) and weekday effects (1, 2, ...) after every day; axes over which
cells are counted together have the length 1."""
Followed: TypeAlias = dict["Tilt", Float[np.ndarray, "..."]]
"""Beliefs of several tilts; levels differ, and so do their shapes."""


class Tilt(NamedTuple):
    """One candidate."""

    level: Level
    retention: float
    """phi of the level."""
    lasting: float
    """f: which share of a day's own movement is the level; the rest is a shock of that day."""
    weekday: float
    """Variance of weekday effects, 0 without them."""


_QUICK = tuple((phi, share, 0.0) for phi in (0.3, 0.6, 0.9) for share in (0.3, 1.0))
_SLOW = ((0.97, 0.1, 0.0), (0.97, 0.3, 0.0), (0.99, 0.1, 0.0))
_WEEKDAYS = tuple((0.0, 0.0, variance) for variance in (0.003, 0.01, 0.03))
_BOTH = tuple((0.3, 0.5, variance) for variance in (0.003, 0.01))
SMALLEST = 1e-8
"""A variance that leaves a part at zero without dividing by it."""
MOST_FILTERED = 4_000_000
"""Numbers of the beliefs' variances that are held at once; more units are walked in blocks."""


def candidate_tilts(level: Level, *, swings: bool, weekdays: bool) -> tuple[Tilt, ...]:
    """The tilts of a level to choose from."""
    parts = (
        *(_QUICK + _SLOW if swings else ()),
        *(_WEEKDAYS if weekdays else ()),
        *(_BOTH if swings and weekdays else ()),
    )
    return tuple(Tilt(level, *part) for part in parts)


def shock_variance(daily: Daily, expected: Daily, level: Level) -> float:
    """How much a day's log-odds move beyond chance: a moment estimate over days."""
    bits = behavior_bits(int(daily.shape[-1]).bit_length() - 1)
    arrivals = daily.sum(-1, keepdims=True)
    rates = expected @ bits
    moved = pooled(daily @ bits - arrivals * rates, level)
    chance = pooled(arrivals * rates * (1 - rates), level)
    return float(max((moved**2 - chance).sum() / max((chance**2).sum(), SMALLEST), 0.0))


def filtered(
    daily: Daily,
    expected: Daily,
    places: Int[np.ndarray, " known"],
    cycle: int,
    tilts: Sequence[Tilt],
    variances: Mapping[Level, float],
) -> Followed:
    """Beliefs of every tilt after every day, from counts and from what was expected of them the
    day before; tilts with the same parts are filtered side by side."""
    found: Followed = {}
    alike = lambda tilt: (tilt.level, tilt.weekday > 0)  # noqa: E731
    for (level, weekdays), same in groupby(sorted(tilts, key=alike), key=alike):
        batch = tuple(same)
        effects = 1 + (cycle if weekdays else 0)
        beliefs = np.concatenate(
            [
                _filter(daily[:, some], expected[:, some], places, effects, batch, variances[level])
                for some in _blocks_of_units(daily, level, effects, len(batch))
            ],
            axis=2,
        )
        found |= dict(zip(batch, beliefs, strict=True))
    return found


def _blocks_of_units(daily: Daily, level: Level, effects: int, tilts: int) -> list[slice]:
    """Units that are filtered at once; where units move together, all of them."""
    _, units, cohorts, patterns = daily.shape
    if level not in ("unit", "cell"):
        return [slice(None)]
    beliefs = effects * (patterns.bit_length() - 1)
    each = tilts * beliefs**2 * (cohorts if level == "cell" else 1)
    length = max(1, MOST_FILTERED // each)
    return [slice(first, first + length) for first in range(0, units, length)]


def _filter(
    daily: Daily,
    expected: Daily,
    places: Int[np.ndarray, " known"],
    effects: int,
    tilts: tuple[Tilt, ...],
    variance: float,
) -> Float[np.ndarray, "tilt day units cohorts effect behavior"]:
    """Beliefs of tilts of one level which all have weekday effects, or all have none."""
    level = tilts[0].level
    bits = behavior_bits(int(daily.shape[-1]).bit_length() - 1)
    count = bits.shape[1]
    products = (bits[:, :, None] * bits[:, None, :]).reshape(len(bits), -1)
    groups = pooled(daily[0], level).shape[:2]
    retention = np.array([tilt.retention for tilt in tilts])
    lasting = np.array([tilt.lasting for tilt in tilts])
    steady = variance * lasting + SMALLEST
    shock = (variance * (1 - lasting) + SMALLEST)[:, None, None, None, None] * np.eye(count)
    kept = np.ones((len(tilts), effects, count))
    kept[:, 0] = retention[:, None]
    keep = kept.reshape(len(tilts), 1, 1, -1)
    prior = np.empty((len(tilts), effects, count))
    prior[:, 0] = steady[:, None]
    prior[:, 1:] = np.array([tilt.weekday for tilt in tilts])[:, None, None]
    noise = np.zeros((len(tilts), effects, count))
    noise[:, 0] = (steady * (1 - retention**2))[:, None]
    eye = np.eye(effects * count)
    added = noise.reshape(len(tilts), 1, 1, -1)[..., None] * eye
    first = prior.reshape(len(tilts), 1, 1, -1)[..., None] * eye
    mean = np.zeros((len(tilts), *groups, effects, count))
    spread = np.broadcast_to(first, (len(tilts), *groups, *eye.shape))
    beliefs = np.zeros((len(tilts), len(daily), *groups, effects, count))
    for day, counts in enumerate(daily[1:], 1):  # of the first day nothing was expected
        mean[..., 0, :] *= retention[:, None, None, None]
        spread = spread * keep[..., :, None] * keep[..., None, :] + added
        seen = [0] if effects == 1 else [0, 1 + int(places[day])]
        p = tilted(expected[day], mean[..., seen, :].sum(-2))
        arrivals = counts.sum(-1, keepdims=True)
        rates = p @ bits
        score = pooled(counts @ bits - arrivals * rates, level)
        squares = arrivals[..., None] * rates[..., :, None] * rates[..., None, :]
        second = (arrivals * p) @ products - squares.reshape(*rates.shape[:-1], -1)
        information = pooled(second, level).reshape(*mean.shape[:3], count, count)
        whole = spread.reshape(*mean.shape[:3], effects * count, effects, count)
        reach = whole[..., seen, :].sum(-2)
        within = reach.reshape(*mean.shape, count)[..., seen, :, :].sum(-3)
        damped = np.linalg.inv(np.eye(count) + information @ (within + shock))
        mean += (reach @ (damped @ score[..., None]))[..., 0].reshape(mean.shape)
        spread = spread - reach @ (damped @ information) @ np.swapaxes(reach, -1, -2)
        beliefs[:, day] = mean
    return beliefs


def ahead(
    beliefs: Beliefs, tilt: Tilt, step: int, places: Int[np.ndarray, " day"]
) -> Float[np.ndarray, "day units cohorts behavior"]:
    """What is added to the log-odds `step` days after each belief, on days of these places."""
    added = beliefs[..., 0, :] * tilt.retention**step
    if beliefs.shape[-2] > 1:
        added = added + beliefs[np.arange(len(beliefs)), :, :, 1 + places]
    return np.asarray(added)


def tilted(
    patterns: Float[np.ndarray, "*day unit cohort pattern"],
    added: Float[np.ndarray, "*more units cohorts behavior"],
) -> Float[np.ndarray, "*more unit cohort pattern"]:
    """Probabilities after log-odds were added to, the same for all cells counted together."""
    return normalized(patterns * odds_factor(added))


def odds_factor(
    added: Float[np.ndarray, "*more units cohorts behavior"],
) -> Float[np.ndarray, "*more units cohorts pattern"]:
    """What joint patterns are multiplied by; of the likeliest gain it is 1."""
    exponent = added @ behavior_bits(added.shape[-1]).T
    return np.asarray(np.exp(exponent - exponent.max(-1, keepdims=True)))
