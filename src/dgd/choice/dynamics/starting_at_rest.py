"""Where training through time starts: demand in which nothing moves yet."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.dynamics.history import HistoryOf
from dgd.choice.dynamics.moving_demand import MovingDemand
from dgd.choice.dynamics.purchases import Usual
from dgd.choice.dynamics.when_and_where import PlaceAndPeriod
from dgd.choice.markets import Markets
from dgd.choice.settings import ChoiceSettings
from dgd.choice.starting import ChoiceStart, first_demand
from dgd.model.feedback.carried_state import AbstractCarriedState
from dgd.model.feedback.feedback import CARRIED_STATES
from dgd.model.first_values import FIRST_RETENTION, first_factor
from dgd.model.shape import Shape


def first_moving_demand(
    settings: ChoiceSettings, start: ChoiceStart, markets: Markets, rng: np.random.Generator
) -> MovingDemand:
    """Parameters of the shapes that a fit of `markets` has, for a file to fill."""
    demand = first_demand(settings, start, len(markets.cohorts), rng)
    places = len(PlaceAndPeriod.of(markets).place_labels)
    usual = Usual.blank(places, len(start.tastes))
    return _moving(demand, states_at_rest(demand, places), usual)


def unmoved(demand: ChoiceDemand, training: Markets) -> MovingDemand:
    """The same demand with places that may differ in tastes, but carry nothing on."""
    recorded = HistoryOf.by(training)
    usual = Usual.of(recorded.of(training), demand.scales, len(recorded.places))
    return _moving(demand, (), usual)


def moving(demand: MovingDemand, retention: float = FIRST_RETENTION) -> MovingDemand:
    """The same demand, ready to be moved by what its places buy."""
    carried = states_at_rest(demand, len(demand.usual.dose) - 1, retention)
    return MovingDemand(
        demand.population,
        demand.utility,
        demand.scales,
        carried,
        demand.place_effect,
        demand.usual,
    )


def states_at_rest(
    demand: ChoiceDemand, places: int, retention: float = FIRST_RETENTION
) -> tuple[AbstractCarriedState, ...]:
    """Every state of the core, attributes in the part of behaviours and places in that of
    cohorts, with effects of zero: at first, demand is just what it is without them."""
    attributes, dim = demand.utility.attribute_loading.shape
    shape = Shape(
        units=1,
        cohorts=places,
        behaviors=attributes,
        features=0,
        components=1,
        dim=dim,
        nodes=1,
        contexts=0,
    )
    unused = np.random.default_rng(0)
    parts = (kind.starting(shape, unused) for kind in CARRIED_STATES)
    return tuple(_without_effect(part, retention) for part in parts)


def _without_effect(part: Any, retention: float) -> Any:
    kept = eqx.tree_at(lambda p: p.raw_retention, part, first_factor(retention))
    return eqx.tree_at(
        lambda p: [held.coefficients for held in p.held()], kept, replace_fn=jnp.zeros_like
    )


def _moving(
    demand: ChoiceDemand, carried: tuple[AbstractCarriedState, ...], usual: Usual
) -> MovingDemand:
    attributes = len(demand.utility.attribute_effect)
    alike = jnp.zeros((attributes, attributes))
    return MovingDemand(demand.population, demand.utility, demand.scales, carried, alike, usual)
