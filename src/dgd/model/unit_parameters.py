"""The parameters that each unit has of its own; everything else is shared by all units."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int

from dgd.model.crowd import Crowd


class UnitParameters(NamedTuple):
    """Learned departures of units, and what they depart from."""

    arrival: Float[Array, "*block unit cohort"]
    """Learned part of a."""
    response: Float[Array, "*block unit behavior"]
    """Of every behaviour's logit."""
    log_baseline: Float[Array, "*block unit cohort"]
    """Measured before training, and never trained."""

    @staticmethod
    def of(crowd: Crowd) -> "UnitParameters":
        """Those of all units of a crowd."""
        return UnitParameters(*_places(crowd))

    def in_blocks(self, count: int) -> "UnitParameters":
        """With a leading axis over so many blocks of units that lie one after another."""
        return UnitParameters(*(x.reshape(count, -1, x.shape[-1]) for x in self))

    def put_into(self, crowd: Crowd) -> Crowd:
        """The same crowd with these units."""
        return eqx.tree_at(_places, crowd, tuple(self))

    def some(self, units: Int[Array, " some"]) -> "UnitParameters":
        """Of some of the units, in the order named."""
        return UnitParameters(*jax.tree.map(lambda x: x[units], tuple(self)))


def _places(crowd: Crowd) -> tuple[Any, Any, Any]:
    return crowd.arrival.intercept, crowd.response.unit_intercept, crowd.reference.log_baseline


def crowd_of_units(crowd: Crowd, units: Int[Array, " some"]) -> Crowd:
    """The crowd as some of its units meet it."""
    return UnitParameters.of(crowd).some(units).put_into(crowd)
