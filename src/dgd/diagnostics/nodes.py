"""Are the nodes enough? The same parameters, integrated more finely.

Nothing is fitted again: a prediction that moves when only the number of nodes
changes was made by the quadrature, not by what was learned.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import numpy as np
import polars as pl

from dgd.diagnostics.scored_days import Said, said_of, scored_days
from dgd.errors import InputError
from dgd.fit import Fit
from dgd.model.quadrature import MAX_NODES

FINER = (25, 61)
LARGEST_NLL_CHANGE = 1e-3
"""In nats per event: far below what tells two models apart on any real window."""
LARGEST_ARRIVAL_CHANGE = 5e-3
"""As a share of the arrivals expected."""


@dataclass(frozen=True)
class NodeCheck:
    """How far predictions move with finer quadrature, and what follows."""

    table: pl.DataFrame
    """One row per seed and number of nodes; every change is against the fit as it is."""
    enough: bool
    verdict: str


def finer_than(nodes: int) -> tuple[int, ...]:
    """The usual 25 and 61 where they are more than `nodes`, else twice as many."""
    usual = tuple(more for more in FINER if more > nodes)
    return usual or (min(2 * nodes + 1, MAX_NODES),)


def check_nodes(fit: Fit, finer: Sequence[int] | None = None) -> NodeCheck:
    """Evaluate `fit` again with each number of nodes in `finer`, `finer_than` its own."""
    own_nodes = fit.settings.nodes
    finer = finer_than(own_nodes) if finer is None else finer
    if min(finer) <= own_nodes:
        raise InputError(
            f"the fit has {own_nodes} nodes, finer names {list(finer)}; name more nodes, up to "
            f"{MAX_NODES}."
        )
    days = scored_days(fit)
    own = said_of(fit, days)
    table = pl.concat([_rows(fit, own, nodes, days) for nodes in finer])
    finest = table.filter(pl.col("nodes") == max(finer))
    nll, arrivals = (_largest(finest[name]) for name in ("NLL change", "arrivals change"))
    enough = nll <= LARGEST_NLL_CHANGE and arrivals <= LARGEST_ARRIVAL_CHANGE
    return NodeCheck(table, enough, _verdict(fit, max(finer), nll, arrivals, enough))


def _rows(fit: Fit, own: Said, nodes: int, days: np.ndarray) -> pl.DataFrame:
    fine = fit.with_nodes(nodes)
    said = said_of(fine, days)
    rows = []
    for number, seed in enumerate(fit.seeds):
        expected = np.maximum(said.arrivals[number], 1e-12)
        moved = np.abs(said.arrivals[number] - own.arrivals[number])
        states = jax.tree.map(
            lambda one, other: float(np.abs(np.asarray(one) - np.asarray(other)).max()),
            fit.states[number],
            fine.states[number],
        )
        rows.append(
            {
                "seed": seed,
                "nodes": nodes,
                "NLL": float(said.nll[number]),
                "NLL change": float(said.nll[number] - own.nll[number]),
                "arrivals change": float(np.where(moved > 0, moved / expected, 0.0).max()),
                "probability change": float(
                    np.abs(said.patterns[number] - own.patterns[number]).max()
                ),
                "state change": max(jax.tree.leaves(states)),
            }
        )
    return pl.DataFrame(rows)


def _largest(changes: pl.Series) -> float:
    return float(np.abs(changes.to_numpy()).max())


def _verdict(fit: Fit, finest: int, nll: float, arrivals: float, enough: bool) -> str:
    moved = (
        f"With {finest} nodes the joint NLL moves by at most {nll:.2g} and expected arrivals by at "
        f"most {100 * arrivals:.2g} %"
    )
    if enough:
        return f"{fit.settings.nodes} nodes are enough. {moved}."
    return (
        f"{fit.settings.nodes} nodes are not enough. {moved}: fit again with nodes=25 or look at "
        "the warnings for loadings and scales that have grown large."
    )
