"""States of all units at the beginning of every day, with bounded memory.

What cohorts carry follows from the counts of all units. Of a unit no more than its exponent is
needed, a number for each day and cohort, which is worked out block by block; then days are walked
once, with all units.
"""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.arrival import clipped
from dgd.model.crowd import Crowd
from dgd.model.days import CohortTotals
from dgd.model.feedback.environment import EnvironmentState
from dgd.model.feedback.feedback import State
from dgd.model.feedback.signals import Innovation
from dgd.model.sweep import carried_paths
from dgd.model.unit_parameters import crowd_of_units
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.some_units import blocks_of_units, panel_of_units
from dgd.processes.group import Group


def states_of_units(
    crowds: Sequence[Crowd],
    panel: Panel,
    maker: FeatureMaker,
    first: int,
    most_units: int,
    group: Group,
) -> tuple[State, ...]:
    """Each crowd's state at the beginning of every day from the one numbered `first` on, the day
    after the last included; at most so many units are looked at once."""
    everyone = panel.together
    totals = CohortTotals(
        jnp.asarray(everyone.arrivals[first:], jnp.float64),
        jnp.asarray(everyone.behavior_counts[first:], jnp.float64),
    )
    paths = [carried_paths(crowd, totals, crowd.at_rest()) for crowd in crowds]
    shape = (panel.days - first, len(panel.units), len(panel.cohorts))
    exponents = [np.zeros(shape) for _ in crowds]
    dates, days = panel.known_dates[first : panel.days], slice(first, panel.days)
    for units in blocks_of_units(len(panel.units), most_units):
        some, own = panel_of_units(panel, units), maker.of_units(units)
        known = own.known(some, dates, some.features[days])
        features = np.concatenate([known, own.summaries(some)[days]], -1)
        for crowd, path, found in zip(crowds, paths, exponents, strict=True):
            carried = {name: x[:-1] for name, x in path.items()}
            of_units = crowd_of_units(crowd, jnp.asarray(units))
            found[:, units] = _exponent(of_units, carried, jnp.asarray(features))
    walked = zip(crowds, paths, exponents, strict=True)
    return tuple(
        State(path, _environment(crowd, panel, first, found, most_units, group))
        for crowd, path, found in walked
    )


@eqx.filter_jit
def _exponent(
    crowd: Crowd,
    carried: dict[str, Float[Array, "date cohort ..."]],
    features: Float[Array, "date unit cohort feature"],
) -> Float[Array, "date unit cohort"]:
    """What all nodes of a cell share, without the environment."""
    calm = EnvironmentState(jnp.zeros(len(features)), jnp.zeros(features.shape[:2]))
    moved = crowd.moved(State(carried, calm))
    return crowd.arrival.cell_exponent(crowd.reference, features, moved)


def _environment(
    crowd: Crowd,
    panel: Panel,
    first: int,
    exponents: Float[np.ndarray, "date unit cohort"],
    most_units: int,
    group: Group,
) -> EnvironmentState:
    """The arrival environment at the beginning of every day and of the day after the last."""
    units = len(panel.units)
    blocks = list(blocks_of_units(units, most_units))
    everywhere = float(group.sum(float(units)))
    state, path = EnvironmentState.at_rest(units), []
    for day, exponent in enumerate(exponents, first):
        path.append(state)
        size, effort = panel.size[day], panel.effort[day]
        expected = [
            _arrivals(crowd, exponent[b], state.exponent[0, b], size[b], effort[b]) for b in blocks
        ]
        active = np.where((size * effort).sum(-1) > 0, 1.0, 0.0)
        recorded = panel.arrivals[day].sum(-1)
        ratio = np.log1p(recorded) - np.log1p(np.concatenate(expected))
        total, number = group.sum([(active * ratio).sum(), active.sum()])
        mean = total / max(1.0, number)
        surprise = Innovation(jnp.asarray([mean]), jnp.asarray((active * (ratio - mean))[None]))
        state = crowd.feedback.environment.uncentred(state, surprise)
        center = float(group.sum(float(state.unit.sum()))) / everywhere
        state = EnvironmentState(state.common, state.unit - center)
    every: EnvironmentState = jax.tree.map(lambda *x: jnp.concatenate(x), *path, state)
    return every


@eqx.filter_jit
def _arrivals(
    crowd: Crowd,
    exponent: Float[Array, "unit cohort"],
    environment: Float[Array, " unit"],
    size: Float[Array, "unit cohort"],
    effort: Float[Array, "unit cohort"],
) -> Float[Array, " unit"]:
    """Expected arrivals of units on a day."""
    support = crowd.population.support()
    of_node, weights = crowd.arrival.node_exponent(support), jnp.exp(support.log_weights)
    at_nodes = (exponent + environment[:, None])[..., None] + of_node[None]
    intensity = (weights[None] * jnp.exp(clipped(at_nodes))).sum(-1)
    return (size * crowd.effort.reached(effort[None])[0] * intensity).sum(-1)
