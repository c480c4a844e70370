"""A Gaussian mixture of propensities per cohort: the population that dgd learns."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.population.population import AbstractPopulation, Support, Types
from dgd.model.quadrature import standard_normal_rule

SCALE_FLOOR = 0.05


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

    @property
    def has_density(self) -> bool:
        return True

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


def raw_scale(scale: float) -> float:
    """The raw diagonal entry whose softplus plus the floor is `scale`."""
    return float(np.log(np.expm1(scale - SCALE_FLOOR)))
