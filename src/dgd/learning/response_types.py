r"""Response types by what they do: how many they are, how often they come, what they show.

Everything is the model's own prediction of the training days, from the states that recorded
counts gave them, added up over days and units before it is divided.

.. math:: N_k = \sum_{t,j} \hat N_{jt} \sum_{i \in k} s_{jti}, \qquad
    r_{kh} = \frac{\sum_{t,j} \hat N_{jt} \sum_{i \in k} s_{jti}\, p_h(u_i)}{N_k}

where s are the nodes' shares of what is recorded. So shares of contacts sum to one, and the
rates of types, weighed by their contacts, are the rates that the model predicts for the cohort.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Array, Float

from dgd.model.crowd import Crowd
from dgd.model.days import Inputs
from dgd.model.feedback.feedback import State
from dgd.model.observation import AtNodes, integrate
from dgd.panel.panel import Panel

SHARE, CONTACTS, PER_PERSON = "share", "share of contacts", "arrivals per person"
OF_THE_MEAN = "mean of the cohort"
"""What arrivals are told per where nobody knows how many people there are."""
BLOCK_ELEMENTS = 2_000_000
"""Patterns and nodes of cells held at once."""
NEXT_TO_NOTHING = 1e-100
"""Arrivals of a cell that nothing could reach: it weighs nothing beside any other, and a cohort
of such cells still has its types."""


class TypeTotals(NamedTuple):
    """What the types of every cohort did, summed over days and units."""

    arrivals: Float[Array, "cohort type"]
    behaviors: Float[Array, "cohort type behavior"]


def response_types_table(
    crowds: Sequence[Crowd],
    seeds: Sequence[int],
    states: Sequence[State],
    inputs: Inputs,
    panel: Panel,
) -> pl.DataFrame:
    """One row per seed, cohort and type, those that come most often first.

    Args:
        states: of every seed, at the beginning of each day of `inputs`.
    """
    parts = []
    for seed, crowd, of_days in zip(seeds, crowds, states, strict=True):
        share = np.asarray(crowd.who_is_there().types().share)
        totals = type_totals(crowd, of_days, inputs)
        table = _described(share, totals, inputs, panel)
        parts.append(table.select(pl.lit(seed, pl.Int64).alias("seed"), pl.all()))
    return pl.concat(parts)


def type_totals(crowd: Crowd, states: State, inputs: Inputs) -> TypeTotals:
    """Arrivals and behaviours of every type, days in blocks that fit into memory."""
    types = crowd.who_is_there().types().share.shape[1]
    days, units, cohorts = inputs.size.shape
    behaviors = crowd.response.cohort_intercept.shape[1]
    nodes = crowd.population.support().log_weights.shape[1]
    a_day = units * cohorts * max(2**behaviors, nodes * behaviors)
    found = []
    for start, stop in _blocks(days, max(1, BLOCK_ELEMENTS // a_day)):
        of_block: State = jax.tree.map(lambda x, a=start, b=stop: x[a:b], states)
        found.append(_totals_of_block(crowd, of_block, inputs.between(start, stop), types))
    return TypeTotals(*(jnp.stack(same).sum(0) for same in zip(*found, strict=True)))


def _blocks(days: int, most: int) -> Iterator[tuple[int, int]]:
    """Blocks of nearly equal length: at most two lengths, so two compiled programs."""
    edges = np.linspace(0, days, -(-days // most) + 1).round().astype(int)
    return zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


@eqx.filter_jit
def _totals_of_block(crowd: Crowd, states: State, inputs: Inputs, types: int) -> TypeTotals:
    nodes = crowd.at_nodes(states, inputs)
    arrivals = jnp.maximum(nodes.arrivals, NEXT_TO_NOTHING)
    contacts, shown = [], []
    for of_type in _by_type(nodes, types):
        # Weights that do not sum to one give rates times the type's share of the cell.
        rates = integrate(of_type, crowd.response.dependence).rates
        contacts.append((arrivals * of_type.shares.sum(-1)).sum((0, 1)))
        shown.append((arrivals[..., None] * rates).sum((0, 1)))
    return TypeTotals(jnp.stack(contacts, 1), jnp.stack(shown, 1))


def _by_type(nodes: AtNodes, types: int) -> Iterator[AtNodes]:
    """The nodes of each type: they stand next to each other, as many for each type."""
    each = nodes.shares.shape[-1] // types
    for first in range(0, types * each, each):
        own = slice(first, first + each)
        yield nodes._replace(shares=nodes.shares[..., own], of_node=nodes.of_node[:, own])


def _described(
    share: Float[np.ndarray, "cohort type"], totals: TypeTotals, inputs: Inputs, panel: Panel
) -> pl.DataFrame:
    arrivals, behaviors = (np.asarray(total) for total in totals)
    contacts = arrivals / arrivals.sum(1, keepdims=True)
    # A cohort is as large as at the unit where it is largest: units share its people.
    people = np.asarray(inputs.size).max(1).sum(0)[:, None] if panel.sized else 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        each = (arrivals / people if panel.sized else contacts) / share
        rates = behaviors / arrivals[..., None]
    order = np.argsort(-np.nan_to_num(each, nan=-1.0), axis=1, kind="stable")
    cohort, rank = (index.ravel() for index in np.indices(share.shape))
    own = order.ravel()
    per = f"person and {panel.period.name}" if panel.sized else OF_THE_MEAN
    columns = {
        "cohort": [panel.cohorts[index] for index in cohort],
        "type": rank + 1,
        SHARE: share[cohort, own],
        PER_PERSON: each[cohort, own],
        "per": [per] * len(own),
        CONTACTS: contacts[cohort, own],
        **{rate_of(name): rates[cohort, own, h] for h, name in enumerate(panel.behaviors)},
    }
    return pl.DataFrame(columns).with_columns(pl.selectors.float().fill_nan(None))


def rate_of(behavior: str) -> str:
    """The column that holds the rate of `behavior`."""
    return f"rate of {behavior}"
