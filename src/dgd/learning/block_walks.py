"""What one block of units adds to the objective, and the sum over all blocks."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dgd.learning.unit_blocks import UnitBlocks, UnitDays
from dgd.model import negative_binomial
from dgd.model.crowd import Crowd
from dgd.model.days import CohortTotals, Inputs, Prediction
from dgd.model.feedback.environment import EnvironmentState
from dgd.model.feedback.feedback import State
from dgd.model.observation import AtNodes, integrate
from dgd.model.unit_parameters import UnitParameters

Found = TypeVar("Found")


class DaySums(NamedTuple):
    """Sums over cells of a block, or of all: how likely each date's patterns and counts were."""

    patterns: Float[Array, " date"]
    counts: Float[Array, " date"]


def over_blocks(
    walked: Callable[[Crowd, State, UnitDays], Found],
    crowd: Crowd,
    units: UnitParameters,
    blocks: UnitBlocks,
    states: State,
) -> Found:
    """The sum over blocks of what `walked` finds of each; one block at a time is held."""
    count, length = blocks.days.present.shape
    dates = len(states.environment.unit)
    own = jnp.moveaxis(states.environment.unit.reshape(dates, count, length), 1, 0)

    def one(block: tuple[UnitParameters, UnitDays, Array]) -> Found:
        parameters, days, of_units = block
        here = parameters.put_into(crowd)
        state = State(states.carried, EnvironmentState(states.environment.common, of_units))
        return walked(here, state, days)

    parts = (units.in_blocks(count), blocks.days, own)
    if count == 1:
        return one(jax.tree.map(lambda x: x[0], parts))
    again = jax.checkpoint(one)
    shapes = jax.eval_shape(one, jax.tree.map(lambda x: x[0], parts))
    nothing: Found = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)

    def add(sums: Found, block: tuple[UnitParameters, UnitDays, Array]) -> tuple[Found, None]:
        return jax.tree.map(jnp.add, sums, again(block)), None

    return jax.lax.scan(add, nothing, parts)[0]


def seen(dispersion: float, crowd: Crowd, state: State, days: UnitDays) -> DaySums:
    """How likely the recorded days were; only cells with arrivals are asked for patterns."""
    nodes = crowd.at_nodes(state, days.inputs)
    likely = days.shown.log_likelihood(nodes, crowd.response.dependence)
    return DaySums(likely, _counts(nodes, days, dispersion, 0))


def seen_and_expected(
    dispersion: float, crowd: Crowd, state: State, days: UnitDays
) -> tuple[DaySums, CohortTotals]:
    """The same, and what cohorts are expected to do, for which all cells are asked."""
    nodes = crowd.at_nodes(state, days.inputs)
    found = integrate(nodes, crowd.response.dependence)
    likely = days.shown.log_likelihood_of(found.patterns)
    return DaySums(likely, _counts(nodes, days, dispersion, 0)), _sums(found)


def seen_and_some_expected(
    some: int, dispersion: float, crowd: Crowd, state: State, days: UnitDays
) -> tuple[DaySums, CohortTotals]:
    """The same, where only the first units of the block are asked what is expected."""
    nodes = crowd.at_nodes(state, days.inputs)
    dependence = crowd.response.dependence
    likely = days.shown.log_likelihood(nodes, dependence)
    first = AtNodes(
        nodes.arrivals[:, :some], nodes.shares[:, :some], nodes.of_cell[:, :some], nodes.of_node
    )
    expected = _sums(integrate(first, dependence))
    return DaySums(likely, _counts(nodes, days, dispersion, 0)), expected


def seen_from_before(dispersion: float, crowd: Crowd, state: State, days: UnitDays) -> DaySums:
    """How likely every day but the first was, from states that expected feedback led to.

    Each day was left before its outcome: summaries and sizes as they stood on the day before,
    calendar and effort of the day itself.
    """
    known = days.inputs
    following = Inputs(known.calendar[1:], known.summaries[:-1], known.size[:-1], known.effort[1:])
    nodes = crowd.at_nodes(state, following)
    cells = known.size.shape[1] * known.size.shape[2]
    later = days.shown.after_first_date(cells)
    likely = later.log_likelihood(nodes, crowd.response.dependence)
    return DaySums(likely, _counts(nodes, days, dispersion, 1))


def _sums(found: Prediction) -> CohortTotals:
    """Of the units at hand, and of no others."""
    return CohortTotals(found.arrivals.sum(1), found.behaviors.sum(1))


def _counts(nodes: AtNodes, days: UnitDays, dispersion: float, first: int) -> Float[Array, " date"]:
    """The log-probabilities of arrivals from the date numbered `first` on, cells added up."""
    possible = nodes.arrivals > 0
    mean = jnp.where(possible, nodes.arrivals, 1.0)
    spread = jnp.full_like(mean, dispersion)
    kernel = negative_binomial.log_kernel(days.arrivals[first:], mean, spread)
    likely = days.log_count_constant[first:] + kernel
    return jnp.where(possible, likely, 0.0).sum((1, 2))
