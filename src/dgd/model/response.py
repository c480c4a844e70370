"""Response: which behaviours an arrival of given propensity shows."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.first_values import FIRST_LOADING, FIRST_NOISE
from dgd.model.held import Held
from dgd.model.patterns import lower_triangular
from dgd.model.shape import Shape


class Response(eqx.Module):
    r"""Autoregressive logistic response.

    .. math:: \eta_h = b_h(x, s) + \lambda_h^T u + \sum_{h'<h} \Psi_{hh'} y_{h'}

    where lambda_1 is the first unit vector, which fixes scale and direction.
    """

    unit_intercept: Float[Array, "unit behavior"]
    cohort_intercept: Float[Array, "cohort behavior"]
    feature_effect: Float[Array, "feature behavior"]
    free_loading: Float[Array, "behavior_after_first dim"]
    """lambda_2 .. lambda_H."""
    dependence_entries: Float[Array, " pair"]
    """Psi below its diagonal, row by row."""

    @staticmethod
    def starting(
        shape: Shape,
        rng: np.random.Generator,
        cohort_intercept: Float[np.ndarray, "cohort behavior"],
        dependence: Float[np.ndarray, " pair"],
    ) -> "Response":
        """Parameters where training starts: intercepts and dependence as they were measured."""
        behaviors, features = shape.behaviors, shape.features
        noise = FIRST_NOISE * rng.normal(size=(behaviors - 1, shape.dim))
        return Response(
            unit_intercept=jnp.asarray(np.zeros((shape.units, behaviors))),
            cohort_intercept=jnp.asarray(cohort_intercept),
            feature_effect=jnp.asarray(np.zeros((features, behaviors))),
            free_loading=jnp.asarray(FIRST_LOADING + noise),
            dependence_entries=jnp.asarray(dependence),
        )

    @property
    def loading(self) -> Float[Array, "behavior dim"]:
        """lambda."""
        anchor = jnp.eye(1, self.free_loading.shape[1])
        return jnp.concatenate([anchor, self.free_loading])

    @property
    def dependence(self) -> Float[Array, "behavior behavior"]:
        """Psi, strictly lower triangular."""
        behaviors = self.unit_intercept.shape[1]
        return lower_triangular(self.dependence_entries, behaviors)

    def cell_logits(
        self,
        features: Float[Array, "date unit cohort feature"],
        moved: Float[Array, "date cohort dim"],
        of_state: Float[Array, "date cohort behavior"],
    ) -> Float[Array, "date unit cohort behavior"]:
        """b(x, s) + lambda^T delta: the part of the logit that all nodes share.

        `moved` is how far feedback has moved propensities, `of_state` what it adds by itself.
        """
        intercept = self.unit_intercept[:, None] + self.cohort_intercept[None]
        of_cohort = of_state + moved @ self.loading.T
        return intercept[None] + features @ self.feature_effect + of_cohort[:, None]

    def held(self) -> list[Held]:
        """The coefficients that the regulariser holds."""
        return [
            Held("behavior", self.feature_effect),
            Held("other", self.free_loading),
            Held("other", self.dependence_entries),
        ]
