"""Who answers: whose responses make up the behaviour that is recorded.

Behind every recorded arrival stands a person, and people who are reached
often stand behind more of them. The arrival-weighted readout follows from
that: contact and response are multiplied at each node before they are
integrated. The separated readout takes the two apart.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from dgd.model.population.population import AbstractPopulation, Support


class Seen(NamedTuple):
    """The people behind recorded arrivals; the shares of a cell sum to one."""

    points: Float[Array, "cohort node dim"]
    shares: Float[Array, "date unit cohort node"]


class AbstractReadout(eqx.Module):
    """What every readout can do: say who is seen, given who is there and who arrives."""

    name: ClassVar[str]
    """What the setting `readout` calls it."""

    @abstractmethod
    def seen(self, there: Support, arriving: Float[Array, "date unit cohort node"]) -> Seen:
        """Whose behaviour is recorded; `arriving` is each node's share of a cell's arrivals."""

    @abstractmethod
    def total(
        self, intensity: Float[Array, "date unit cohort"]
    ) -> Float[Array, "date unit cohort"]:
        """D: what the shares of those seen were divided by; `intensity` is that of arrivals."""

    @abstractmethod
    def who_is_seen(
        self, there: AbstractPopulation, loading: Float[Array, " dim"]
    ) -> AbstractPopulation:
        """The population behind recorded arrivals, of which `loading` says who arrives often."""

    @abstractmethod
    def who_is_there(
        self, there: AbstractPopulation, loading: Float[Array, " dim"]
    ) -> AbstractPopulation:
        """The population that, weighted by arrivals, shows the recorded behaviour."""

    @abstractmethod
    def other_form(
        self, there: AbstractPopulation, loading: Float[Array, " dim"]
    ) -> "tuple[AbstractPopulation, AbstractReadout]":
        """The other readout, and the population it needs to show the same behaviour."""

    @abstractmethod
    def with_nodes(self, nodes: int) -> "AbstractReadout":
        """The same readout, integrated at `nodes` nodes per component and dimension."""

    @abstractmethod
    def scale_departure(self) -> Float[Array, " scale"]:
        """How far the readout's own scale parameters have moved from where they started."""

    @abstractmethod
    def trainable(self) -> PyTree[bool]:
        """True for every array that training may change."""


class ArrivalWeighted(AbstractReadout):
    r"""Those who arrive answer.

    .. math:: q(y) = \frac{E_P[\ell(U) p(y|U)]}{E_P[\ell(U)]}
    """

    name: ClassVar[str] = "weighted"

    def seen(self, there: Support, arriving: Float[Array, "date unit cohort node"]) -> Seen:
        return Seen(there.points, arriving)

    def total(
        self, intensity: Float[Array, "date unit cohort"]
    ) -> Float[Array, "date unit cohort"]:
        return intensity

    def who_is_seen(
        self, there: AbstractPopulation, loading: Float[Array, " dim"]
    ) -> AbstractPopulation:
        return there.tilted(loading)

    def who_is_there(
        self, there: AbstractPopulation, _loading: Float[Array, " dim"]
    ) -> AbstractPopulation:
        return there

    def other_form(
        self, there: AbstractPopulation, loading: Float[Array, " dim"]
    ) -> tuple[AbstractPopulation, AbstractReadout]:
        seen = self.who_is_seen(there, loading)
        return seen, Separated(seen)

    def with_nodes(self, nodes: int) -> "ArrivalWeighted":  # noqa: ARG002 (it has none)
        return self

    def scale_departure(self) -> Float[Array, " scale"]:
        return jnp.zeros(0)

    def trainable(self) -> PyTree[bool]:
        return self


class Separated(AbstractReadout):
    r"""Arrivals and behaviour integrate distributions of their own.

    .. math:: \hat N = n E_P[\ell(U)], \qquad q(y) = E_{\tilde P}[p(y|U)]

    where P is the model's population and P~ this readout's. The shift of
    feedback moves both.
    """

    population: AbstractPopulation
    """P~: those whose behaviour is recorded."""

    name: ClassVar[str] = "separated"

    def seen(self, _there: Support, arriving: Float[Array, "date unit cohort node"]) -> Seen:
        own = self.population.support()
        shares = jnp.exp(own.log_weights)[None, None]
        return Seen(own.points, jnp.broadcast_to(shares, (*arriving.shape[:3], shares.shape[-1])))

    def total(
        self, intensity: Float[Array, "date unit cohort"]
    ) -> Float[Array, "date unit cohort"]:
        return jnp.ones_like(intensity)

    def who_is_seen(
        self, _there: AbstractPopulation, _loading: Float[Array, " dim"]
    ) -> AbstractPopulation:
        return self.population

    def who_is_there(
        self, _there: AbstractPopulation, loading: Float[Array, " dim"]
    ) -> AbstractPopulation:
        return self.population.tilted(-loading)

    def other_form(
        self, there: AbstractPopulation, loading: Float[Array, " dim"]
    ) -> tuple[AbstractPopulation, AbstractReadout]:
        return self.who_is_there(there, loading), ArrivalWeighted()

    def with_nodes(self, nodes: int) -> "Separated":
        return Separated(self.population.with_nodes(nodes))

    def scale_departure(self) -> Float[Array, " scale"]:
        return self.population.scale_departure()

    def trainable(self) -> PyTree[bool]:
        free = jax.tree.map(eqx.is_inexact_array, self)
        return eqx.tree_at(lambda own: own.population, free, self.population.trainable())


READOUTS: dict[str, Callable[[AbstractPopulation], AbstractReadout]] = {
    ArrivalWeighted.name: lambda _population: ArrivalWeighted(),
    Separated.name: Separated,
}
"""Readouts by the name a setting gives them, each made from a population like the one that
arrives."""
