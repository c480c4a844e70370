"""A Gaussian mixture that is not learned."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from dgd.model.population.gaussian_mixture import GaussianMixture
from dgd.model.population.population import AbstractPopulation, Support, Types


class FixedGaussian(AbstractPopulation):
    """A Gaussian mixture that stays as it started; everything else is trained around it."""

    mixture: GaussianMixture

    @property
    def has_density(self) -> bool:
        return True

    def support(self) -> Support:
        return self.mixture.support()

    def scale_departure(self) -> Float[Array, " scale"]:
        return jnp.zeros(0)

    def types(self) -> Types:
        return self.mixture.types()

    def with_nodes(self, nodes: int) -> "FixedGaussian":
        return FixedGaussian(self.mixture.with_nodes(nodes))

    def tilted(self, loading: Float[Array, " dim"]) -> "FixedGaussian":
        return FixedGaussian(self.mixture.tilted(loading))

    def log_moment(self, loading: Float[Array, " dim"]) -> Float[Array, " cohort"]:
        return self.mixture.log_moment(loading)

    def trainable(self) -> PyTree[bool]:
        return jax.tree.map(lambda _: False, self)
