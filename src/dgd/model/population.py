"""Who is out there: the distribution of response propensities in each cohort.

A population gives the rest of the model one thing, its `Support`: weighted
points in propensity space at which contact and response are evaluated.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from dgd.model.quadrature import standard_normal_rule

SCALE_FLOOR = 0.05


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

    @property
    @abstractmethod
    def has_density(self) -> bool:
        """Whether propensity varies within a type, so that there is a density to draw."""

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

    def trainable(self) -> PyTree[bool]:
        """True for every array that training may change."""
        return jax.tree.map(eqx.is_inexact_array, self)


class GaussianMixture(AbstractPopulation):
    r"""A Gaussian mixture of propensities per cohort.

    .. math:: P_g(u) = \sum_k \pi_{gk} N(u; \mu_{gk}, L_{gk} L_{gk}^T)

    where pi = softmax(logits), the diagonal of L is softplus(raw_diagonal)
    plus a floor, and nodes are u = mu + L epsilon for fixed epsilon, so that
    gradients reach weights, means and factors alike.
    """

    logits: Float[Array, "cohort component"]
    means: Float[Array, "cohort component dim"]
    raw_diagonal: Float[Array, "cohort component dim"]
    below_diagonal: Float[Array, "cohort component pair"]
    initial_scale: float = eqx.field(static=True)
    nodes: int = eqx.field(static=True)

    @property
    def has_density(self) -> bool:
        return True

    @property
    def dim(self) -> int:
        return self.means.shape[-1]

    @property
    def weights(self) -> Float[Array, "cohort component"]:
        """pi: the share of each response type."""
        return jax.nn.softmax(self.logits, axis=-1)

    @property
    def factors(self) -> Float[Array, "cohort component dim dim"]:
        """L: the lower-triangular factors of the covariances."""
        diagonal = jax.nn.softplus(self.raw_diagonal) + SCALE_FLOOR
        factor = diagonal[..., None] * jnp.eye(self.dim)[None, None]
        if self.dim == 1:
            return factor
        row, column = np.tril_indices(self.dim, -1)
        return factor.at[..., row, column].set(self.below_diagonal)

    def support(self) -> Support:
        rule = standard_normal_rule(self.dim, self.nodes)
        spread = jnp.einsum("gkdc,ic->gkid", self.factors, rule.points)
        points = self.means[:, :, None] + spread
        log_share = jax.nn.log_softmax(self.logits, axis=-1)
        log_weights = log_share[:, :, None] + np.log(rule.weights)[None, None]
        cohorts = len(self.logits)
        return Support(points.reshape(cohorts, -1, self.dim), log_weights.reshape(cohorts, -1))

    def scale_departure(self) -> Float[Array, " scale"]:
        from_start = self.raw_diagonal - raw_scale(self.initial_scale)
        return jnp.concatenate([from_start.ravel(), self.below_diagonal.ravel()])

    def types(self) -> Types:
        return Types(self.weights, self.means, jnp.sqrt((self.factors**2).sum(-1)))

    def with_nodes(self, nodes: int) -> "GaussianMixture":
        return replace(self, nodes=nodes)

    def tilted(self, loading: Float[Array, " dim"]) -> "GaussianMixture":
        r"""A Gaussian mixture again: components are moved and weighed anew.

        .. math:: \tilde\mu_k = \mu_k + \Sigma_k \gamma, \qquad
            \tilde\pi_k \propto \pi_k \exp(\gamma^T\mu_k + \tfrac12 \gamma^T\Sigma_k\gamma)
        """
        moved = self.means + jnp.einsum("gkdc,gkec,e->gkd", self.factors, self.factors, loading)
        return replace(self, logits=self.logits + self._log_factor(loading), means=moved)

    def log_moment(self, loading: Float[Array, " dim"]) -> Float[Array, " cohort"]:
        return jax.nn.logsumexp(
            jax.nn.log_softmax(self.logits, axis=-1) + self._log_factor(loading), axis=-1
        )

    def _log_factor(self, loading: Float[Array, " dim"]) -> Float[Array, "cohort component"]:
        """log zeta_k, of each component's own exponential moment."""
        along = jnp.einsum("gkdc,d->gkc", self.factors, loading)
        return self.means @ loading + 0.5 * (along**2).sum(-1)


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


def first_mixture(
    rng: np.random.Generator, cohorts: int, components: int, dim: int, *, nodes: int, scale: float
) -> GaussianMixture:
    """Where training starts: components side by side with equal scales, a little shaken."""
    spread = np.linspace(-0.5, 0.5, components) if components > 1 else np.zeros(1)
    logits = 0.1 * rng.normal(size=(cohorts, components))
    means = spread[None, :, None] + 0.1 * rng.normal(size=(cohorts, components, dim))
    return GaussianMixture(
        logits=jnp.asarray(logits),
        means=jnp.asarray(means),
        raw_diagonal=jnp.asarray(np.full((cohorts, components, dim), raw_scale(scale))),
        below_diagonal=jnp.asarray(np.zeros((cohorts, components, dim * (dim - 1) // 2))),
        initial_scale=scale,
        nodes=nodes,
    )


POPULATIONS: dict[str, Callable[[GaussianMixture], AbstractPopulation]] = {
    "gaussian": lambda mixture: mixture,
    "fixed": FixedGaussian,
    "discrete": matched_points,
    "point": single_point,
}
"""Populations by name, each made from the Gaussian mixture that training would start from."""


def raw_scale(scale: float) -> float:
    """The raw diagonal entry whose softplus plus the floor is `scale`."""
    return float(np.log(np.expm1(scale - SCALE_FLOOR)))
