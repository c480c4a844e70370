r"""The first stage: prices explained by attributes and instruments, and what that leaves.

.. math:: price_b = x_b^T \pi_x + z_b^T \pi_z + \phi_{l(b)} + \nu_b

Where sellers charge more for what they know people want, nu holds what they know. Standing beside
the attributes (a control function) it takes from the price effect what is not the price's.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import lstsq

from dgd.choice.estimation.evidence import clusters_of
from dgd.choice.fitted_offers import FittedOffers
from dgd.errors import InputError

WEAK = 10.0
"""Below this F of the instruments, estimates lean to what they are without instruments."""
RANK = 1e-9
"""Columns of which others leave less, relative to the largest, are left out."""


@dataclass(frozen=True, eq=False)
class FirstStage:
    """What explains prices, and what is left of them."""

    residual: Float[np.ndarray, "market slot"]
    """nu over its standard deviation; 0 where nothing is available."""
    scale: float
    """The standard deviation of nu, in money."""
    f_statistic: float
    """Of the instruments together, clustered by market."""
    partial_r2: float
    """The part of what attributes leave of prices that instruments explain."""
    known: Float[np.ndarray, "offer column"]
    """Attributes, absorbed labels and instruments of the available offers, over `scale`."""


def first_stage(
    fitted: FittedOffers, weight: Float[np.ndarray, " market"] | None = None
) -> FirstStage:
    """Prices of the markets of a fit, explained by all that is known about them.

    Markets may be weighed; then only the residual and its scale are of use.
    """
    markets = fitted.markets
    if not markets.columns.instruments:
        raise InputError(
            'quality is "control" and the markets have no instruments; name their columns: '
            "instruments=[...]."
        )
    at = markets.available
    included = _included(fitted)[at]
    excluded = markets.instruments[at] - markets.instruments[at].mean(0)
    price = markets.price[at]
    whole = np.c_[included, excluded]
    often = np.ones(len(price))
    if weight is not None:
        often = np.broadcast_to(np.sqrt(weight)[:, None], at.shape)[at]
    effects, residual = _fitted(whole, price, often)
    _, alone = _fitted(included, price, often)
    if residual.std() <= 1e-12 * max(np.abs(price).max(), 1e-300):
        raise InputError(
            "attributes and instruments explain every price exactly, so that nothing is left that "
            "sellers alone could know; leave the instruments out."
        )
    scale = float(residual.std())
    grid = np.zeros(markets.price.shape)
    grid[at] = residual / scale
    cluster = np.broadcast_to(clusters_of(markets)[:, None], at.shape)[at]
    return FirstStage(
        residual=grid,
        scale=scale,
        f_statistic=_clustered_f(whole, residual, effects, cluster, excluded.shape[1]),
        partial_r2=float(1.0 - (residual @ residual) / (alone @ alone)),
        known=whole / scale,
    )


def _included(fitted: FittedOffers) -> Float[np.ndarray, "market slot column"]:
    """Attributes and 0/1 columns of absorbed labels; a constant where none is among them."""
    markets = fitted.markets
    levels = fitted.levels(markets)
    marked = np.zeros((*markets.price.shape, fitted.level_count + 1))
    market, slot, column = np.indices(levels.shape)
    marked[market, slot, levels[market, slot, column]] = 1.0
    parts = [markets.attributes, marked[..., :-1]]
    if not markets.has_constant:
        parts.append(np.ones((*markets.price.shape, 1)))
    return np.concatenate(parts, -1)


def _fitted(
    columns: np.ndarray, price: np.ndarray, often: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    size = np.maximum(np.abs(columns).max(0), np.finfo(float).tiny)
    effects = lstsq(columns / size * often[:, None], price * often, cond=RANK)[0] / size
    return effects, price - columns @ effects


def _clustered_f(
    columns: np.ndarray,
    residual: np.ndarray,
    effects: np.ndarray,
    cluster: np.ndarray,
    instruments: int,
) -> float:
    """Wald's statistic of the instruments' effects over their number."""
    size = np.maximum(np.abs(columns).max(0), np.finfo(float).tiny)
    scaled = columns / size
    bread = np.linalg.pinv(scaled.T @ scaled, rcond=RANK**2, hermitian=True)
    scores = np.zeros((int(cluster.max()) + 1, columns.shape[1]))
    np.add.at(scores, cluster, scaled * residual[:, None])
    many = len(scores)
    small = many / max(many - 1, 1) * (len(residual) - 1) / max(len(residual) - len(effects), 1)
    variance = small * bread @ scores.T @ scores @ bread
    tested = (effects * size)[-instruments:]
    block = variance[-instruments:, -instruments:]
    inverse = np.linalg.pinv(block, rcond=1e-12, hermitian=True)
    rank = max(int(np.linalg.matrix_rank(block, hermitian=True)), 1)
    return float(tested @ inverse @ tested) / rank
