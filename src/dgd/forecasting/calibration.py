r"""Which level of its paths a forecast must show so that an interval covers what it promises.

At past origins the same forecaster drew the same kind of paths. A central interval of path level
l, which holds both its ends, holds a recorded count y where

.. math:: l \ge s(y) = \max\big(0,\; 1 - 2 F(y),\; 2 F(y^-) - 1\big)

with F the share of draws up to y and F(y-) that below it. Of n origins the ceil((n + 1) L)-th
smallest s is the path level that covers a further day with probability L, whatever the
forecaster's law: the finite-sample rank of conformal prediction. Below n = L / (1 - L) origins
there is no such rank, and the interval is refused.

Forecasts of a panel's first weeks had little to go by, and crowds change: an origin weighs half
as much every four weeks further back, and the rank is counted in weights, n of them in all.

Whether forecasts lean is told by where among its draws each count came out, the randomised
probability integral transform,

.. math:: u = \frac{\#\{draws < y\} + V (1 + \#\{draws = y\})}{K + 1}, \qquad V \sim U(0, 1)

which is uniform for the right law though counts are whole. Scores are not made of it: a whole
count on the end of an interval is inside, not half inside, and intervals would be too wide by half
a count at either end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int

from dgd.errors import InputError
from dgd.forecasting.asked import Asked

PIT_SEED = 0
HALF_LIFE = 28.0
"""Periods further back at which an origin weighs half as much."""
STEPS = (1, 3, 7, 14, 28)
"""Steps ahead that are measured; a step takes what the last one reached says."""


def measured_steps(days: int) -> tuple[int, ...]:
    """The steps ahead that so many days can tell something about."""
    return tuple(step for step in STEPS if step == 1 or days >= 2 * step)


def origins_needed(level: float) -> int:
    """The fewest origins with which an interval of so many per cent can be promised."""
    share = level / 100
    return int(np.ceil(round(share / (1 - share), 9)))


def checked_levels(levels: Sequence[float]) -> tuple[float, ...]:
    """Levels in per cent, each once, from the narrowest on."""
    for level in levels:
        if isinstance(level, bool) or not 1 <= level < 100:
            share = f", {100 * level:g} for a share of {level:g}" if 0 < level < 1 else ""
            raise InputError(f"levels holds {level}; give per cent from 1 to below 100{share}.")
    if len(set(levels)) < len(levels):
        raise InputError(f"levels is {list(levels)}; give each level once.")
    return tuple(sorted(levels))


@dataclass(frozen=True, eq=False)
class Promise:
    """What an interval of a level rests on, `horizon` steps ahead."""

    level: float
    horizon: int
    """The step, or how many days are added up."""
    origins: int
    path_level: float | None
    """The central share of paths that is shown; `None` where the level is refused."""
    coverage: float | None
    """Measured at every origin by what the other origins said, recent ones weighing more."""
    lean: float | None
    """The mean randomised PIT: below a half where forecasts were mostly too high."""


class Scores(NamedTuple):
    """What one origin says."""

    levels: Float[np.ndarray, " series"]
    """The least path level that holds each series."""
    weight: float


@dataclass(frozen=True, eq=False)
class PastDraws:
    """Paths drawn at past origins, and what was then recorded; counts are arrivals, then
    behaviours."""

    steps: tuple[int, ...]
    """Steps ahead that are measured."""
    drawn: Int[np.ndarray, "path step origin unit cohort counted"]
    recorded: Int[np.ndarray, "step origin unit cohort counted"]
    origins: Int[np.ndarray, " origin"]
    """Their day numbers."""
    known: Bool[np.ndarray, "step origin"]
    """Whether that day may be looked at."""

    def near(self, asked: Asked, horizon: int) -> int:
        """The step that speaks for one `horizon` days ahead, or for a sum of so many days."""
        if asked.by_date:
            return max(step for step in self.steps if step <= horizon)
        return min(horizon, self.drawn.shape[1])

    def promise(self, asked: Asked, group: Sequence[int], level: float, horizon: int) -> Promise:
        """What an interval rests on, of the series of that group taken together.

        `horizon` is the step ahead or, where dates are added up, how many of them are.
        """
        near = self.near(asked, horizon)
        paths, happened, origins = self._answers(asked, list(group), near)
        scores = _by_origin(shown_at(paths, happened), origins)
        u = randomised_pit(paths, happened, np.random.default_rng(PIT_SEED))
        lean = None if np.isnan(u).all() else float(np.nanmean(u))
        count = len(scores)
        if count < origins_needed(level):
            return Promise(level, near, count, None, None, lean)
        shown, held = _ranked(scores, level), _left_out(scores, level)
        return Promise(level, near, count, shown, held, lean)

    def _answers(
        self, asked: Asked, series: list[int], horizon: int
    ) -> tuple[
        Float[np.ndarray, "path origin ..."],
        Float[np.ndarray, "origin ..."],
        Int[np.ndarray, " origin"],
    ]:
        """What was drawn and what happened at every origin whose days are known."""
        steps = slice(horizon - 1, horizon) if asked.by_date else slice(0, horizon)
        whole = self.known[steps].all(0)
        drawn = np.moveaxis(self.drawn[:, steps, whole], 2, 1)
        recorded = np.moveaxis(self.recorded[steps, whole], 1, 0)
        paths, happened = asked.answered(drawn), asked.answered(recorded)
        return paths[..., series], happened[..., series], self.origins[whole]


def shown_at(
    drawn: Float[np.ndarray, " path *series"], happened: Float[np.ndarray, " *series"]
) -> Float[np.ndarray, " *series"]:
    """s: the least level of the paths whose interval holds what happened. Draws that are not
    numbers do not count; what happened and is not a number has no level."""
    number = (~np.isnan(drawn)).sum(0) + 1
    upto = ((drawn <= happened).sum(0) + 1) / number
    below = (drawn < happened).sum(0) / number
    level = np.maximum(np.maximum(1 - 2 * upto, 2 * below - 1), 0.0)
    return np.where(np.isnan(happened), np.nan, level)


def _by_origin(
    scores: Float[np.ndarray, "origin ..."], origins: Int[np.ndarray, " origin"]
) -> list[Scores]:
    """The scores of every origin that has any, and what they weigh."""
    flat = scores.reshape(len(scores), -1)
    some = ~np.isnan(flat).all(1)
    weights = 0.5 ** ((origins[some].max(initial=0) - origins[some]) / HALF_LIFE)
    return [
        Scores(day[~np.isnan(day)], float(weight))
        for day, weight in zip(flat[some], weights, strict=True)
    ]


def randomised_pit(
    drawn: Float[np.ndarray, " path *series"],
    happened: Float[np.ndarray, " *series"],
    rng: np.random.Generator,
) -> Float[np.ndarray, " *series"]:
    """Where what happened lies among the draws: uniform if the draws are of its law. Draws that
    are not numbers do not count; what happened and is not a number has no place."""
    number = (~np.isnan(drawn)).sum(0)
    below = (drawn < happened).sum(0)
    equal = (drawn == happened).sum(0)
    chance = rng.random(happened.shape)
    return np.where(np.isnan(happened), np.nan, (below + chance * (1 + equal)) / (number + 1))


def _ranked(scores: Sequence[Scores], level: float) -> float:
    """The path level of the finite-sample rank; series of one origin share its weight."""
    n = len(scores)
    wanted = min((n + 1) / n * level / 100, 1.0)
    pooled = np.concatenate([day.levels for day in scores])
    weights = np.repeat(
        [day.weight / len(day.levels) for day in scores], [len(day.levels) for day in scores]
    )
    order = np.argsort(pooled)
    reached = np.cumsum(weights[order])
    # rounded: equal weights add up to their number but for the last bits
    rank = np.searchsorted(np.round(reached / reached[-1], 9), round(wanted, 9))
    return float(pooled[order[rank]])


def _left_out(scores: Sequence[Scores], level: float) -> float | None:
    """How often the interval that the other origins call for holds."""
    if len(scores) - 1 < origins_needed(level):
        return None
    held = [
        np.mean(own.levels <= _ranked([*scores[:i], *scores[i + 1 :]], level))
        for i, own in enumerate(scores)
    ]
    return float(np.average(held, weights=[own.weight for own in scores]))


def shown_interval(
    paths: Float[np.ndarray, " path *series"], path_level: float
) -> tuple[Float[np.ndarray, " *series"], Float[np.ndarray, " *series"]]:
    """The central interval of the paths, its ends being values of paths."""
    ends = [(1 - path_level) / 2, (1 + path_level) / 2]
    if np.isnan(paths).any():
        low, high = np.nanquantile(paths, ends, axis=0)
    else:
        low, high = np.quantile(paths, ends, axis=0, method="inverted_cdf")
    return low, high


def promises_table(promises: Sequence[tuple[str, Promise]]) -> pl.DataFrame:
    """One row per series, step and level: from how many origins it comes, and what it covered."""
    rows = []
    for series, promise in promises:
        needed = origins_needed(promise.level)
        refused = promise.path_level is None
        rows.append(
            {
                "series": series,
                "horizon": promise.horizon,
                "level": float(promise.level),
                "origins": promise.origins,
                "origins_needed": needed,
                "path_level": None if promise.path_level is None else 100 * promise.path_level,
                "coverage": None if promise.coverage is None else 100 * promise.coverage,
                "lean": promise.lean,
                "note": (
                    f"refused: {promise.level:g}% needs {needed} past origins, "
                    f"{promise.origins} are at hand"
                    if refused
                    else ""
                ),
            }
        )
    schema = {
        "series": pl.String,
        "horizon": pl.Int64,
        "level": pl.Float64,
        "origins": pl.Int64,
        "origins_needed": pl.Int64,
        "path_level": pl.Float64,
        "coverage": pl.Float64,
        "lean": pl.Float64,
        "note": pl.String,
    }
    return pl.DataFrame(rows, schema=schema).unique(maintain_order=True)
