"""The logit in which everyone is alike: convex, so that its best parameters are found exactly."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from scipy.linalg import lstsq
from scipy.special import logsumexp

from dgd.choice.markets import Markets
from dgd.choice.offers import Offers
from dgd.choice.scales import Scales

RIDGE = 1e-10
"""Decides, relative to the information, between effects that the data cannot tell apart."""
STEPS = 200
TOLERANCE = 1e-12
"""Newton stops where it expects so little of the log-likelihood, relative to the information."""


class PlainLogit(NamedTuple):
    """Effects on the scales that are learned on."""

    tastes: Float[np.ndarray, " attribute"]
    sensitivity: float
    """What a unit of scaled price takes from utility; below zero where demand slopes upward."""
    levels: Float[np.ndarray, " level"]
    quality: float
    sensitivity_error: float
    """The standard error of the sensitivity, clustered by market."""
    log_likelihood: float
    utility: Float[np.ndarray, "market slot"]


def plain_logit(
    markets: Markets, offers: Offers, scales: Scales, levels: int, weight: np.ndarray | None = None
) -> PlainLogit:
    """The logit that fits `markets` best, each weighed by `weight`."""
    known = _known(scales.scaled(offers), levels)
    available, outside = np.asarray(offers.available), float(markets.has_outside)
    weight = np.ones(len(markets.markets)) if weight is None else weight
    count, size = markets.count * weight[:, None], markets.size * weight
    effects = np.zeros(known.shape[-1])
    value = -np.inf
    step = np.zeros_like(effects)
    for _ in range(STEPS):
        tried = _log_likelihood(known, effects + step, available, count, size, outside)
        while tried.value < value and np.abs(step).max() > 1e-14:
            step /= 2
            tried = _log_likelihood(known, effects + step, available, count, size, outside)
        effects, value = effects + step, tried.value
        slope, bend = _slope_and_bend(known, tried.share, count, size)
        information = np.trace(bend) / len(bend)
        step = lstsq(bend + RIDGE * information * np.eye(len(bend)), slope)[0]
        if slope @ step < TOLERANCE * max(information, np.finfo(float).tiny):
            break
    attributes = len(markets.attribute_names)
    return PlainLogit(
        effects[:attributes],
        float(effects[attributes]),
        effects[attributes + 1 : attributes + 1 + levels],
        float(effects[attributes + 1 + levels]),
        _clustered_error(known, tried.share, count, size, bend, attributes),
        value,
        known @ effects,
    )


class _At(NamedTuple):
    value: float
    share: Float[np.ndarray, "market slot"]


def _known(offers: Offers, levels: int) -> Float[np.ndarray, "market slot effect"]:
    """Attributes, the price turned round, a 0/1 column for every level, and quality."""
    at = np.asarray(offers.levels)
    marked = np.zeros((*at.shape[:2], levels + 1))
    market, slot, column = np.indices(at.shape)
    marked[market, slot, at[market, slot, column]] = 1.0
    parts = [offers.attributes, -offers.price[..., None], marked[..., :levels]]
    return np.concatenate([*map(np.asarray, parts), np.asarray(offers.quality)[..., None]], -1)


def _log_likelihood(
    known: np.ndarray,
    effects: np.ndarray,
    available: Bool[np.ndarray, "market slot"],
    count: np.ndarray,
    size: np.ndarray,
    outside: float,
) -> _At:
    utility = np.where(available, known @ effects, -np.inf)
    nothing = np.full((len(size), 1), 0.0 if outside else -np.inf)
    log_total = logsumexp(np.c_[nothing, utility], axis=1)
    share = np.exp(utility - log_total[:, None])
    bought = (count * np.where(available, utility, 0.0)).sum()
    return _At(float(bought - size @ log_total), share)


def _slope_and_bend(
    known: np.ndarray, share: np.ndarray, count: np.ndarray, size: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    slope = np.einsum("mj,mja->a", count - size[:, None] * share, known)
    mean = np.einsum("mj,mja->ma", share, known)
    flat = known.reshape(-1, known.shape[-1])
    second = (flat * (size[:, None] * share).reshape(-1, 1)).T @ flat
    return slope, second - (mean * size[:, None]).T @ mean


def _clustered_error(
    known: np.ndarray,
    share: np.ndarray,
    count: np.ndarray,
    size: np.ndarray,
    bend: np.ndarray,
    column: int,
) -> float:
    scores = np.einsum("mj,mja->ma", count - size[:, None] * share, known)
    row = np.linalg.pinv(bend, rcond=1e-12, hermitian=True)[column]
    return float(np.sqrt(((scores @ row) ** 2).sum()))
