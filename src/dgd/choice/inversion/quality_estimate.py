"""QualityEstimate: demand with its unobserved quality, and how sure it is."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.inversion.assembling import assembled
from dgd.choice.inversion.drawing import parameter_draws
from dgd.choice.inversion.minimum import QualityProblem
from dgd.choice.inversion.moments import Hansen
from dgd.runtime import computing


@dataclass(frozen=True, eq=False)
class QualityEstimate:
    """Demand by instruments; with its quality it has exactly the observed shares."""

    demand: ChoiceDemand
    quality: Float[np.ndarray, "market slot"]
    """xi, to be had by offers with an effect of 1; 0 where a product is not available."""
    objective: float
    """N g' S^-1 g."""
    gradient: float
    """The largest derivative of the objective; 0 where nothing had to be searched for."""
    iterations: int
    """How often shares were inverted."""
    converged: bool
    """Whether the search arrived and every market's shares are met."""
    parameters: Float[np.ndarray, " parameter"]
    """The free parameters on the scales of `demand`: those searched for, then the linear ones."""
    parameter_names: tuple[str, ...]
    covariance: Float[np.ndarray, "parameter parameter"]
    """Of the free parameters, clustered by market; absorbed effects follow from them."""
    first_stage: float
    """The clustered F of the table's instruments in the regression of price."""
    hansen: Hansen | None
    """J, where there are more moments than parameters and a second step weighed them."""
    root: Float[np.ndarray, "moment moment"]
    """Of S, by whose inverse moments were weighed."""
    problem: QualityProblem

    @property
    def standard_errors(self) -> Float[np.ndarray, " parameter"]:
        return np.sqrt(np.diag(self.covariance))

    def draws(
        self, rng: np.random.Generator, number: int
    ) -> list[tuple[ChoiceDemand, Float[np.ndarray, "market slot"]]]:
        """Demands as likely as the estimate's errors have them, each with its own quality.

        Every draw meets the observed shares: what its parameters leave unexplained is quality.
        """
        with computing():
            drawn = parameter_draws(self.problem, self.parameters, self.root, rng, number)
            return [assembled(self.problem, parameters) for parameters in drawn]
