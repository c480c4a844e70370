"""Standard-normal nodes and weights.

Integrals over a Gaussian become weighted sums at fixed nodes. The weights are
positive and sum to one, so probabilities integrated by them stay probabilities.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.stats import norm, qmc

from dgd.errors import InputError

MAX_NODES = 200
SOBOL_PER_NODE = 128
SOBOL_SEED = 20260915


class Rule(NamedTuple):
    """Nodes epsilon_i and weights w_i with sum_i w_i f(epsilon_i) ~ E f(Z), Z standard normal."""

    points: Float[np.ndarray, "node dim"]
    weights: Float[np.ndarray, " node"]


@lru_cache(maxsize=32)
def standard_normal_rule(dim: int, nodes: int) -> Rule:
    """Gauss-Hermite product nodes for one or two dimensions, Sobol nodes beyond.

    `nodes` counts nodes per dimension. From three dimensions on, the product
    would grow too fast: the rule takes the next power of two above nodes**dim,
    or above 128 nodes where that is less, of one fixed scrambled Sobol
    sequence mapped through the normal quantile, with equal weights.
    """
    if dim < 1 or nodes < 1:
        raise InputError(f"dim {dim} and nodes {nodes}: both must be at least 1.")
    if nodes > MAX_NODES:
        raise InputError(f"nodes {nodes} is more than {MAX_NODES}; so many lose precision.")
    if dim <= 2:
        return _gauss_hermite(dim, nodes)
    count = 2 ** int(np.ceil(np.log2(min(nodes**dim, SOBOL_PER_NODE * nodes))))
    sobol = qmc.Sobol(dim, scramble=True, rng=np.random.default_rng(SOBOL_SEED))
    points = norm.ppf(sobol.random_base2(int(np.log2(count))))
    return Rule(points, np.full(count, 1.0 / count))


def _gauss_hermite(dim: int, nodes: int) -> Rule:
    line, weight = np.polynomial.hermite_e.hermegauss(nodes)
    weight = weight / weight.sum()
    grid = np.meshgrid(*[line] * dim, indexing="ij")
    weights = np.prod(np.meshgrid(*[weight] * dim, indexing="ij"), axis=0)
    return Rule(np.stack([axis.ravel() for axis in grid], -1), weights.ravel())
