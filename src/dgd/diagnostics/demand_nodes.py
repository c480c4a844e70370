"""Are the nodes of a fit of demand enough? The same parameters, integrated more finely."""

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Array, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.estimation.enough_nodes import MOVED, finer, with_nodes
from dgd.choice.fit import ChoiceFit
from dgd.choice.offers import Offers
from dgd.diagnostics.examined import Care, Examined, HeldAgainst
from dgd.learning.setting_checks import MOST_POINTS
from dgd.model.quadrature import MAX_NODES
from dgd.runtime import computing

MORE_NODES = "More nodes, same parameters"
FINEST = 41
"""Nodes per dimension that every fit is held against, where so many can be."""
LARGEST_CHANGE = 0.1
"""How far the own elasticity of any offer may move with more nodes."""
AT_ONCE = 4_000_000
"""Choice probabilities that are worked out at a time: markets are walked in blocks."""


def examined_nodes(fit: ChoiceFit, own: "OwnSubstitution") -> Examined | None:
    """Substitution at the nodes of the fit, which is its `own`, and at more of them; none where
    more cannot be tried."""
    tried = _tried(fit)
    if not tried:
        return None
    rows = [_row(fit, fit.settings.nodes, own, own)]
    for nodes in tried:
        with computing():
            finely = tuple(with_nodes(demand, nodes) for demand in fit.parameters)
        rows.append(_row(fit, nodes, own, substitution_at(fit, finely)))
    table = pl.DataFrame(rows)
    held = tuple(_held(table, tried[-1], fit.markets.has_outside))
    enough = all(one.holds for one in held)
    care = () if enough else (_too_few(fit, held),)
    return Examined(MORE_NODES, table, held, care)


def node_words(fit: ChoiceFit, found: Examined | None) -> str:
    """Whether the nodes are enough, in a sentence."""
    if found is None and _at_points(fit):
        return "People stand at points, so that nothing is integrated."
    if found is None:
        return f"More than {fit.settings.nodes} nodes cannot be tried here."
    last = found.table.row(-1, named=True)
    mean, most = 100 * last["mean elasticity change"], last["largest elasticity change"]
    enough = "enough" if all(one.holds for one in found.held) else "not enough"
    return (
        f"{fit.settings.nodes} nodes are {enough}: with {last['nodes']} own elasticities move by "
        f"{mean:.2g} % on the mean and by at most {most:.2g}."
    )


class OwnSubstitution(NamedTuple):
    """How every offer answers to its own price; not a number where it has no share."""

    elasticity: Float[np.ndarray, "market slot"]
    to_outside: Float[np.ndarray, "market slot"]
    share: Float[np.ndarray, "market slot"]


def substitution_at(fit: ChoiceFit, parameters: Sequence[ChoiceDemand]) -> OwnSubstitution:
    """Own elasticity, diversion to outside and share of every offer, averaged over seeds as all
    answers of a fit are, some markets at a time."""
    markets = fit.markets
    with computing():
        offers = fit.fitted.of(markets)
        points = parameters[0].population.support().points
        width = markets.price.shape[1] * int(np.prod(points.shape[:2]))
        block = max(AT_ONCE // max(width, 1), 1)
        parts = []
        for first in range(0, len(markets.markets), block):
            some = jnp.arange(first, min(first + block, len(markets.markets)))
            parts.append(_over_seeds(parameters, offers.at(some)))
    own, left, share = (np.concatenate(part) for part in zip(*parts, strict=True))
    sold = markets.available & (share > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        elasticity = np.where(sold, own * markets.price / share, np.nan)
        to_outside = np.where(sold & (own < 0), -left / own, np.nan)
    return OwnSubstitution(elasticity, to_outside, share)


def _over_seeds(parameters: Sequence[ChoiceDemand], offers: Offers) -> tuple[np.ndarray, ...]:
    found = [_own(demand, offers) for demand in parameters]
    return tuple(np.mean([np.asarray(one) for one in same], 0) for same in zip(*found, strict=True))


@eqx.filter_jit
def _own(demand: ChoiceDemand, offers: Offers) -> tuple[Float[Array, "market slot"], ...]:
    """Derivatives by the own price, those of buying nothing, and shares: compiled as one, so that
    probabilities are worked out once."""
    moved = demand.price_derivatives(offers)
    own = jnp.einsum("mjj->mj", moved.products)
    return own, moved.outside, demand.shares(offers).products


def _at_points(fit: ChoiceFit) -> bool:
    populations = [demand.population for demand in fit.parameters]
    return all(population.with_nodes(FINEST) is population for population in populations)


def _tried(fit: ChoiceFit) -> list[int]:
    """Numbers of nodes, each more than the fit has, that can be integrated at."""
    settings = fit.settings
    if _at_points(fit):
        return []
    return [
        nodes
        for nodes in sorted({finer(settings.nodes), FINEST})
        if settings.nodes < nodes <= MAX_NODES
        and settings.components * nodes**settings.dim <= MOST_POINTS
    ]


def _row(
    fit: ChoiceFit, nodes: int, own: OwnSubstitution, finely: OwnSubstitution
) -> dict[str, float]:
    """Means weigh offers by their sales; every change is against the fit as it is."""
    weight = fit.markets.size[:, None] * own.share
    elasticity = np.abs(finely.elasticity - own.elasticity)
    left = np.abs(finely.to_outside - own.to_outside)
    return {
        "nodes": nodes,
        "own elasticity": _mean(finely.elasticity, weight),
        "diversion to outside": _mean(finely.to_outside, weight),
        "mean elasticity change": _mean(elasticity, weight)
        / max(_mean(np.abs(finely.elasticity), weight), 0.1),
        "largest elasticity change": _largest(elasticity),
        "mean diversion change": _mean(left, weight),
        "largest diversion change": _largest(left),
    }


def _held(table: pl.DataFrame, nodes: int, has_outside: bool) -> list[HeldAgainst]:
    last = table.row(-1, named=True)
    bounds = [("mean elasticity change", MOVED), ("largest elasticity change", LARGEST_CHANGE)]
    bounds += [("mean diversion change", MOVED)] if has_outside else []
    return [
        HeldAgainst(f"{name} with {nodes} nodes", last[name], bound, bool(last[name] < bound))
        for name, bound in bounds
    ]


def _too_few(fit: ChoiceFit, held: Sequence[HeldAgainst]) -> Care:
    worst = max(held, key=lambda one: one.found / (one.bound or 1.0))
    return Care(
        "too few nodes",
        worst.check,
        worst.found,
        f"elasticities were made by the quadrature: fit with nodes={finer(fit.settings.nodes)}",
    )


def _mean(values: np.ndarray, weight: np.ndarray) -> float:
    known = np.isfinite(values)
    total = weight[known].sum()
    return float((values[known] * weight[known]).sum() / total) if total > 0 else 0.0


def _largest(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.max(initial=0.0))
