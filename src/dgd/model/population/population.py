"""What every population gives the rest of the model: weighted points in propensity space.

A population's `Support` is where contact and response are evaluated.
"""

from abc import abstractmethod
from typing import NamedTuple

import equinox as eqx
import jax
from jaxtyping import Array, Float, PyTree


class Support(NamedTuple):
    """Points u and log-weights log(pi_k w_i); the weights of a cohort sum to one."""

    points: Float[Array, "cohort node dim"]
    log_weights: Float[Array, "cohort node"]


class Types(NamedTuple):
    """The response types of every cohort, for people to read."""

    share: Float[Array, "cohort component"]
    mean: Float[Array, "cohort component dim"]
    spread: Float[Array, "cohort component dim"]


class AbstractPopulation(eqx.Module):
    """What every population can do, whatever its shape."""

    @abstractmethod
    def support(self) -> Support:
        """The weighted points before any shift by feedback."""

    @abstractmethod
    def scale_departure(self) -> Float[Array, " scale"]:
        """How far each scale parameter has moved from where it started."""

    @abstractmethod
    def types(self) -> Types:
        """Share, mean and spread of each response type."""

    @abstractmethod
    def with_nodes(self, nodes: int) -> "AbstractPopulation":
        """The same distribution, integrated at `nodes` nodes per component and dimension."""

    @abstractmethod
    def tilted(self, loading: Float[Array, " dim"]) -> "AbstractPopulation":
        """The distribution with density in proportion to exp(loading^T u) times this one.

        Tilting by the opposite loading undoes it.
        """

    @abstractmethod
    def log_moment(self, loading: Float[Array, " dim"]) -> Float[Array, " cohort"]:
        """log E exp(loading^T U), without any quadrature."""

    @property
    @abstractmethod
    def has_density(self) -> bool:
        """Whether people are spread over all propensities, or stand at a few points."""

    def trainable(self) -> PyTree[bool]:
        """True for every array that training may change."""
        return jax.tree.map(eqx.is_inexact_array, self)
