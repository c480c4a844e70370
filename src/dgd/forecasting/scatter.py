r"""How far a day's counts scatter around what was forecast, and what its parts share.

A day is busier than expected everywhere at once, its people answer differently everywhere at
once, and a forecast that is too low tomorrow is too low the day after. So a drawn path has

.. math:: N_{cs} \sim Poisson\big(\hat N_{cs}\, e^{\tau_s x_s - \tau_s^2/2}\, g_{cs}\big), \qquad
    q'_{cs}(y) \propto q_{cs}(y)\, e^{\sum_h \sigma_{hs} \eta_{hs} y_h}

with x and eta normal, g a gamma of mean 1 and variance 1/r of the cohort, so that arrivals of a
cell are negative binomial, and patterns multinomial. x and eta are the same for all cells, and
their values on two days of a path correlate by a constant, the part of an error that stays.

All sizes are measured on errors of forecasts from past origins. Where chance alone explains
them, they are zero. Sizes are matched to the error that four of five days keep, not to the mean
square, which one holiday decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtri

from dgd.model.bits import behavior_bits
from dgd.model.negative_binomial import LARGEST_DISPERSION, pooled_inverse

KEPT = 0.8
"""The share of days whose errors are matched ..."""
WITHIN = float(ndtri(0.5 + KEPT / 2))
"""... and the standard errors that so many days of a normal law keep within."""
MOST_ERRORS = 3.0
"""Standard errors beyond which a day counts no more."""
MOST_VARIANCE = 1.0
"""Of a shock: a day e times busier than expected is one standard deviation."""
FIRST_VARIANCE = 0.01
"""Of a shock, before any error was seen: a tenth more or less ..."""
FIRST_DAYS = 5.0
"""... which weighs as much as so many days."""
MOST_SHARED = 0.95
SHRUNK = 0.5
"""How much of measured correlations between behaviours is believed."""
LEAST_EXPECTED = 1.0
"""Arrivals (or behaviours) of a day below which it tells nothing about shocks: it is closed."""
SMALLEST = 1e-9


class Errors(NamedTuple):
    """Forecasts from past origins of one step ahead, and what was then recorded."""

    arrivals: Float[np.ndarray, "origin unit cohort"]
    patterns: Float[np.ndarray, "origin unit cohort pattern"]
    recorded: Int[np.ndarray, "origin unit cohort pattern"]


class Sizes(NamedTuple):
    """What the days of one step ahead scatter by."""

    arrivals: float
    """tau^2."""
    cells: Float[np.ndarray, " cohort"]
    """1/r."""
    behaviors: Float[np.ndarray, " behavior"]
    """sigma^2."""


@dataclass(frozen=True, eq=False)
class Scatter:
    """Sizes of shocks for the steps that could be measured, and what days share."""

    steps: tuple[int, ...]
    arrivals: Float[np.ndarray, " measured"]
    cells: Float[np.ndarray, "measured cohort"]
    behaviors: Float[np.ndarray, "measured behavior"]
    arrivals_stay: float
    """Correlation of the arrivals' shocks of two days of a path."""
    behaviors_stay: float
    """The same of the behaviours' shocks."""
    correlation: Float[np.ndarray, "behavior behavior"]
    """Between the shocks of two behaviours on one day."""

    @staticmethod
    def given(dispersion: float, cohorts: int, behaviors: int) -> "Scatter":
        """Negative-binomial arrivals of one dispersion; days share nothing."""
        inverse = 1 / min(dispersion, LARGEST_DISPERSION)
        return Scatter(
            (1,),
            np.zeros(1),
            np.full((1, cohorts), inverse),
            np.zeros((1, behaviors)),
            0.0,
            0.0,
            np.eye(behaviors),
        )

    @staticmethod
    def measured(errors: Mapping[int, Errors]) -> "Scatter":
        """From errors of every step ahead that was tried; origins run from the earliest on, and
        later steps have the earlier ones of them."""
        steps = tuple(sorted(errors))
        cells = [_cell_variance(errors[step]) for step in steps]
        totals = [_total_error(errors[step], own) for step, own in zip(steps, cells, strict=True)]
        answers = [_answer_error(errors[step]) for step in steps]
        tau = np.array([_matched(*total) for total in totals])
        sigma = np.stack(
            [
                [_matched(error[:, h], chance[:, h], lever[:, h]) for h in range(error.shape[1])]
                for error, chance, lever in answers
            ]
        )
        # the further ahead, the more forecasts scatter: few errors may not say otherwise
        tau, sigma = np.maximum.accumulate(tau), np.maximum.accumulate(sigma)
        totals_as_columns = [tuple(part[:, None] for part in total) for total in totals]
        return Scatter(
            steps,
            tau,
            np.maximum.accumulate(np.stack(cells)),
            sigma,
            _staying(totals_as_columns, tau[:, None]),
            _staying(answers, sigma),
            _correlated(answers[0], sigma[0]),
        )

    def at(self, step: int) -> Sizes:
        """Sizes `step` days ahead: between measured steps, between their sizes; beyond the last,
        growing as they grew."""
        return Sizes(
            float(self._grown(self.arrivals, step)),
            np.asarray(self._grown(self.cells, step)),
            np.asarray(self._grown(self.behaviors, step)),
        )

    def dispersion(self, horizon: int) -> Float[np.ndarray, "1 step 1 1 cohort"]:
        """r of a single cell of every cohort, up to `horizon` steps ahead: its own scatter and that
        which all cells share."""
        sizes = [self.at(step) for step in range(1, horizon + 1)]
        inverse = np.stack([one.cells + one.arrivals for one in sizes])
        return 1 / np.maximum(inverse, 1 / LARGEST_DISPERSION)[None, :, None, None, :]

    def _grown(self, sizes: np.ndarray, step: int) -> np.ndarray:
        last, first = self.steps[-1], self.steps[0]
        if step > last:
            a_day = (sizes[-1] - sizes[0]) / (last - first) if last > first else 0.0
            bound = np.maximum(sizes[-1], MOST_VARIANCE)
            return np.asarray(np.minimum(sizes[-1] + a_day * (step - last), bound))
        above = int(np.searchsorted(self.steps, step))
        if self.steps[above] == step or above == 0:
            return np.asarray(sizes[above])
        low, high = self.steps[above - 1], self.steps[above]
        share = (step - low) / (high - low)
        return np.asarray((1 - share) * sizes[above - 1] + share * sizes[above])


class Shocks:
    """Shocks of drawn paths, day after day."""

    def __init__(self, scatter: Scatter, rng: np.random.Generator, paths: tuple[int, ...]) -> None:
        self._scatter, self._rng, self._paths = scatter, rng, paths
        behaviors = scatter.behaviors.shape[1]
        self._root = np.linalg.cholesky(scatter.correlation + SMALLEST * np.eye(behaviors))
        self._bits = behavior_bits(behaviors)
        self._stays = rng.standard_normal(paths)
        self._answers_stay = rng.standard_normal((*paths, behaviors))

    def busyness(self, step: int, units: int) -> Float[np.ndarray, "*path unit cohort"]:
        """By what the arrivals of every cell are multiplied; 1 on average."""
        tau, cells, _ = self._scatter.at(step)
        stay = self._scatter.arrivals_stay
        today = self._rng.standard_normal(self._paths)
        x = np.sqrt(stay) * self._stays + np.sqrt(1 - stay) * today
        common = np.exp(np.sqrt(tau) * x - tau / 2)
        r = np.broadcast_to(1 / np.maximum(cells, 1 / LARGEST_DISPERSION), (units, len(cells)))
        own = self._rng.gamma(np.broadcast_to(r, (*self._paths, *r.shape))) / r
        return np.asarray(common[..., None, None] * own)

    def answering(
        self, step: int, rates: Float[np.ndarray, " behavior"]
    ) -> Float[np.ndarray, "*path pattern"]:
        """By what the odds of every joint pattern are multiplied; around `rates` behaviours stay
        what they were on average."""
        sigma = self._scatter.at(step).behaviors
        stay = self._scatter.behaviors_stay
        today = self._rng.standard_normal(self._answers_stay.shape)
        eta = (np.sqrt(stay) * self._answers_stay + np.sqrt(1 - stay) * today) @ self._root.T
        moved = np.sqrt(sigma) * eta - sigma / 2 * (1 - 2 * rates)
        return np.exp(moved @ self._bits.T)


def _cell_variance(errors: Errors) -> Float[np.ndarray, " cohort"]:
    """1/r: how far cells depart from their shares of the day's total beyond chance, by cohort,
    drawn to all cohorts; with a single cell nothing departs."""
    recorded = errors.recorded.sum(-1)
    total = recorded.sum((1, 2), keepdims=True)
    share = errors.arrivals / np.maximum(errors.arrivals.sum((1, 2), keepdims=True), SMALLEST)
    mean = total * share
    chance = mean * (1 - share)
    limit = MOST_ERRORS**2 * (chance + 0.25 * mean**2)
    square = np.minimum((recorded - mean) ** 2, limit)
    excess, scale = (square - chance).sum((0, 1)), (mean**2 * (1 - share)).sum((0, 1))
    return np.minimum(pooled_inverse(excess, scale, len(recorded)), MOST_VARIANCE)


def _total_error(
    errors: Errors, cells: Float[np.ndarray, " cohort"]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each day's total: its error, the variance of chance, and what a shock moves."""
    expected = errors.arrivals.sum((1, 2))
    chance = expected + (errors.arrivals**2 * cells).sum((1, 2))
    return errors.recorded.sum((1, 2, 3)) - expected, chance, expected


def _answer_error(errors: Errors) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of how many showed each behaviour, among those who came; axes origin, behavior."""
    bits = behavior_bits(int(errors.patterns.shape[-1]).bit_length() - 1)
    rates = errors.patterns @ bits
    came = errors.recorded.sum(-1)[..., None]
    chance = (came * rates * (1 - rates)).sum((1, 2))
    return (errors.recorded @ bits - came * rates).sum((1, 2)), chance, chance


def _matched(error: np.ndarray, chance: np.ndarray, lever: np.ndarray) -> float:
    r"""The variance v at which the wanted share of days keeps within its standard errors,

    .. math:: |e| \le z \sqrt{chance + v\, lever^2}

    found as a quantile of what each day would need, drawn to a first guess where days are few;
    zero where chance alone is more than enough.
    """
    some = lever >= LEAST_EXPECTED
    if not some.any():
        return 0.0
    need = ((error[some] / WITHIN) ** 2 - chance[some]) / lever[some] ** 2
    found = (len(need) * np.quantile(need, KEPT) + FIRST_DAYS * FIRST_VARIANCE) / (
        len(need) + FIRST_DAYS
    )
    return float(np.clip(found, 0.0, MOST_VARIANCE))


def _staying(
    errors: Sequence[tuple[np.ndarray, ...]], sizes: Float[np.ndarray, "measured series"]
) -> float:
    """How much errors of two steps from the same origin have in common, beyond chance."""
    together = scale = 0.0
    for one in range(len(errors)):
        for other in range(one + 1, len(errors)):
            n = min(len(errors[one][0]), len(errors[other][0]))
            moved = []
            for error, chance, lever in (errors[one], errors[other]):
                bound = MOST_ERRORS * np.sqrt(chance[:n] + sizes.max() * lever[:n] ** 2)
                moved.append(np.clip(error[:n], -bound, bound))
            levers = errors[one][2][:n] * errors[other][2][:n]
            together += float((moved[0] * moved[1]).sum())
            scale += float((levers * np.sqrt(sizes[one] * sizes[other])).sum())
    return float(np.clip(together / scale, 0.0, MOST_SHARED)) if scale > SMALLEST else 0.0


def _correlated(
    errors: tuple[np.ndarray, ...], sizes: Float[np.ndarray, " behavior"]
) -> Float[np.ndarray, "behavior behavior"]:
    """Correlations of the behaviours' errors one step ahead, shrunken."""
    error, chance, lever = errors
    scaled = error / np.sqrt(np.maximum(chance + sizes * lever**2, SMALLEST))
    scaled = np.clip(scaled, -MOST_ERRORS, MOST_ERRORS)
    square = np.maximum((scaled**2).sum(0), SMALLEST)
    found = SHRUNK * (scaled.T @ scaled) / np.sqrt(square[:, None] * square)
    np.fill_diagonal(found, 1.0)
    return np.asarray(found)
