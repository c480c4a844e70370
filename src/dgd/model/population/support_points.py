"""Populations of a few points: a discrete distribution, or one point for everybody."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.population.gaussian_mixture import GaussianMixture
from dgd.model.population.population import AbstractPopulation, Support, Types


class SupportPoints(AbstractPopulation):
    """A discrete distribution: a few points per cohort, their places and shares learned.

    One point per cohort is a population without differences between people.
    """

    logits: Float[Array, "cohort node"]
    points: Float[Array, "cohort node dim"]

    @property
    def has_density(self) -> bool:
        return False

    def support(self) -> Support:
        return Support(self.points, jax.nn.log_softmax(self.logits, axis=-1))

    def scale_departure(self) -> Float[Array, " scale"]:
        return jnp.zeros(0)

    def types(self) -> Types:
        shares = jax.nn.softmax(self.logits, axis=-1)
        return Types(shares, self.points, jnp.zeros_like(self.points))

    def with_nodes(self, nodes: int) -> "SupportPoints":  # noqa: ARG002 (points are exact)
        return self

    def tilted(self, loading: Float[Array, " dim"]) -> "SupportPoints":
        return SupportPoints(self.logits + self.points @ loading, self.points)

    def log_moment(self, loading: Float[Array, " dim"]) -> Float[Array, " cohort"]:
        log_share = jax.nn.log_softmax(self.logits, axis=-1)
        return jax.nn.logsumexp(log_share + self.points @ loading, axis=-1)


MATCHED_POINTS = 3
"""Three points have five effective parameters in one dimension, as two Gaussians have."""


def matched_points(mixture: GaussianMixture) -> SupportPoints:
    """Three points with the mixture's mean and total variance in every dimension."""
    mean, variance = _moments(mixture)
    reach = np.sqrt(1.5 * variance)[:, None]
    points = mean[:, None] + np.array([-1.0, 0.0, 1.0])[None, :, None] * reach
    return SupportPoints(jnp.asarray(np.zeros((len(mean), MATCHED_POINTS))), jnp.asarray(points))


def single_point(mixture: GaussianMixture) -> SupportPoints:
    """One point at the mixture's mean: everyone in a cohort is alike."""
    mean, _ = _moments(mixture)
    return SupportPoints(jnp.asarray(np.zeros((len(mean), 1))), jnp.asarray(mean[:, None]))


def _moments(mixture: GaussianMixture) -> tuple[np.ndarray, np.ndarray]:
    share, mean, spread = (np.asarray(part) for part in mixture.types())
    center = (share[..., None] * mean).sum(1)
    second = (share[..., None] * (mean**2 + spread**2)).sum(1)
    return center, second - center**2
