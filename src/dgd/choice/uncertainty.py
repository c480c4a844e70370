"""How sure a table is: the same table for parameters that the counts allow as well."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jax.flatten_util import ravel_pytree
from jaxtyping import Float
from scipy.linalg import solve_triangular
from scipy.stats import t as student

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.fitted_offers import FittedOffers
from dgd.errors import InputError
from dgd.runtime import computing

DRAWS = 200
"""Parameter sets that a range is taken from."""
DRAW_SEED = 20261118
NEAR = 0.01
"""Parameters are of order one; figures move in proportion to steps as small as this."""
FARTHEST = 1.0
"""How far draws scatter along directions that the counts hardly tell."""
LOW, HIGH = "low", "high"


class Drawn(NamedTuple):
    """One parameter set, and how it sees offers."""

    parameters: ChoiceDemand
    fitted: FittedOffers


class Doubt(NamedTuple):
    """The estimate as a vector of what was estimated, and how sure each direction is."""

    free: Any
    fixed: Any
    covariance: Float[np.ndarray, "parameter parameter"] | None
    resampled: Float[np.ndarray, "draw parameter"] | None
    """Estimates from markets drawn anew, where there are some."""
    clusters: int = 10**9
    """Markets or households: few of them leave doubt about the doubt itself."""

    def demands(self, number: int = DRAWS) -> list[ChoiceDemand]:
        """Demands as likely as the estimate is sure, or those of markets drawn anew.

        Where a direction is hardly told, draws go no further along it than `FARTHEST`: a covariance
        knows slopes only, and not what lies there.
        """
        return self._demands(self._vectors(number, np.inf) if self.resampled is None else None)

    def nearby(self, number: int = DRAWS) -> tuple[list[ChoiceDemand], float]:
        """Demands so near the estimate that figures move in proportion, and how many times further
        draws would lie: their scatter times that is the figures' own (the delta method)."""
        if self.resampled is not None:
            return self._demands(None), 1.0
        assert self.covariance is not None
        widest = float(np.sqrt(np.abs(np.linalg.eigvalsh(self.covariance)).max()))
        step = min(1.0, NEAR / max(widest, np.finfo(float).tiny))
        return self._demands(self._vectors(number, step)), 1.0 / step

    def _vectors(self, number: int, step: float) -> Float[np.ndarray, "draw parameter"]:
        assert self.covariance is not None
        with computing():
            center = np.asarray(ravel_pytree(self.free)[0])
        values, directions = np.linalg.eigh(self.covariance)
        spread = np.sqrt(np.maximum(values, 0.0))
        spread = np.minimum(spread, FARTHEST) if np.isinf(step) else step * spread
        return np.asarray(center + _even_normal(number, len(center)) @ (directions * spread).T)

    def _demands(self, vectors: Float[np.ndarray, "draw parameter"] | None) -> list[ChoiceDemand]:
        vectors = self.resampled if vectors is None else vectors
        assert vectors is not None
        with computing():
            unravel = ravel_pytree(self.free)[1]
            return [eqx.combine(unravel(jnp.asarray(one)), self.fixed) for one in vectors]

    def errors(
        self, told: Callable[[ChoiceDemand], Float[jax.Array, " figure"]]
    ) -> Float[np.ndarray, " figure"]:
        """Standard errors of figures of the demand, by their slopes or by resampling."""
        with computing():
            vector, unravel = ravel_pytree(self.free)

            def figures(vector: jax.Array) -> jax.Array:
                return told(eqx.combine(unravel(vector), self.fixed))

            if self.resampled is not None:
                each = [np.asarray(figures(jnp.asarray(one))) for one in self.resampled]
                return np.asarray(np.std(each, axis=0, ddof=1))
            assert self.covariance is not None
            slope = np.asarray(jax.jacfwd(figures)(vector))
        return np.sqrt(np.maximum(np.einsum("fp,pq,fq->f", slope, self.covariance, slope), 0.0))


def checked_level(level: float) -> float:
    """The part of cases that a range is to hold the truth in, from percent."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 100:
        raise InputError(f"level is {level!r}; give a percentage between 0 and 100 like 90.")
    return level / 100


def reach(level: float, clusters: int) -> float:
    """How many standard errors a range goes to either side: Student's, for so many clusters."""
    return float(student.ppf(0.5 + checked_level(level) / 2, max(clusters - 1, 1)))


def with_ranges(
    table: pl.DataFrame, drawn: Sequence[pl.DataFrame], columns: Sequence[str], far: float
) -> pl.DataFrame:
    """`table` with the range of its `columns` over the same tables of other parameters.

    To either side of a figure the range goes `far` times as far as the others on that side lie from
    their middle (root mean square). Figures that bend with the parameters keep their lopsidedness,
    but a range never misses its own figure.
    """
    for column in columns:
        values = np.stack([one[column].cast(pl.Float64).to_numpy() for one in drawn])
        with np.errstate(invalid="ignore"):
            own = table[column].cast(pl.Float64).to_numpy()
            low, high = own - far * _spread(-values), own + far * _spread(values)
        names = (LOW, HIGH) if len(columns) == 1 else (f"{column} low", f"{column} high")
        table = table.with_columns(
            pl.Series(names[0], low).fill_nan(None), pl.Series(names[1], high).fill_nan(None)
        )
    return table


def _spread(values: Float[np.ndarray, "draw row"]) -> Float[np.ndarray, " row"]:
    """How far values above their middle lie from it, as a root mean square."""
    above = np.maximum(values - np.median(values, axis=0), 0.0)
    return np.asarray(np.sqrt(2.0 * (above**2).mean(0)))


def _even_normal(number: int, size: int) -> Float[np.ndarray, "draw parameter"]:
    """Standard normal draws in pairs of opposites, with a covariance of just one where there are
    enough of them: ranges are then not at the mercy of a seed."""
    half = np.random.default_rng(DRAW_SEED).normal(size=((number + 1) // 2, size))
    if len(half) > size:
        root = np.linalg.cholesky(half.T @ half / len(half))
        half = solve_triangular(root, half.T, lower=True).T
    return np.concatenate([half, -half])[:number]
