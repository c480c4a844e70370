"""Contact: how often a person of given propensity arrives."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.model.first_values import FIRST_NOISE
from dgd.model.held import Held
from dgd.model.population.population import Support
from dgd.model.reference import Reference
from dgd.model.shape import Shape

LOG_INTENSITY_RANGE = (-16.0, 10.0)


class Arrival(eqx.Module):
    r"""Log-intensity of contact per person.

    .. math:: \log \ell(u) = \mathrm{clip}(a + \beta_I^T x + z + c + \gamma^T u, -16, 10)
    """

    intercept: Float[Array, "unit cohort"]
    """Learned part of a."""
    feature_effect: Float[Array, " feature"]
    """beta_I."""
    loading: Float[Array, " dim"]
    """gamma."""

    @staticmethod
    def starting(shape: Shape, rng: np.random.Generator) -> "Arrival":
        """Parameters where training starts: the baseline as it was measured."""
        return Arrival(
            intercept=jnp.asarray(np.zeros((shape.units, shape.cohorts))),
            feature_effect=jnp.asarray(np.zeros(shape.features)),
            loading=jnp.asarray(FIRST_NOISE * rng.normal(size=shape.dim)),
        )

    def exponent_at_rest(
        self,
        reference: Reference,
        support: Support,
        features: Float[Array, "date unit cohort feature"],
        moved: Float[Array, "date cohort dim"],
    ) -> Float[Array, "date unit cohort node"]:
        """The unclipped exponent without the arrival states z and c; propensities are `moved`."""
        of_cell = self.cell_exponent(reference, features, moved)
        return of_cell[..., None] + self.node_exponent(support)[None, None]

    def cell_exponent(
        self,
        reference: Reference,
        features: Float[Array, "date unit cohort feature"],
        moved: Float[Array, "date cohort dim"],
    ) -> Float[Array, "date unit cohort"]:
        """The part of the exponent that all nodes share."""
        of_cell = (reference.log_baseline + self.intercept)[None] + features @ self.feature_effect
        return of_cell + (moved @ self.loading)[:, None]

    def node_exponent(self, support: Support) -> Float[Array, "cohort node"]:
        """gamma^T u: the part that all dates and units share."""
        return support.points @ self.loading

    def held(self) -> list[Held]:
        """The coefficients that the regulariser holds."""
        return [Held("calendar", self.feature_effect), Held("other", self.loading)]


def clipped(exponent: Float[Array, "*cell"]) -> Float[Array, "*cell"]:
    """log ell before effort: the exponent within the range that keeps its exponential finite."""
    return jnp.clip(exponent, *LOG_INTENSITY_RANGE)
