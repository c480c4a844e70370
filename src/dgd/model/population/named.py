"""Populations by the name a setting gives them."""

from collections.abc import Callable

from dgd.model.population.fixed_gaussian import FixedGaussian
from dgd.model.population.gaussian_mixture import GaussianMixture
from dgd.model.population.population import AbstractPopulation
from dgd.model.population.support_points import matched_points, single_point

POPULATIONS: dict[str, Callable[[GaussianMixture], AbstractPopulation]] = {
    "gaussian": lambda mixture: mixture,
    "fixed": FixedGaussian,
    "discrete": matched_points,
    "point": single_point,
}
"""Populations by name, each made from the Gaussian mixture that training would start from."""
