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
from scipy.stats import norm

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.fitted_offers import FittedOffers
from dgd.errors import InputError
from dgd.runtime import computing

DRAWS = 200
"""Parameter sets that a range is taken from."""
DRAW_SEED = 20261118
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

    def vectors(self, number: int = DRAWS) -> Float[np.ndarray, "draw parameter"]:
        """Parameter vectors that are as likely as the estimate is sure."""
        if self.resampled is not None:
            return self.resampled
        with computing():
            center = np.asarray(ravel_pytree(self.free)[0])
        assert self.covariance is not None
        values, directions = np.linalg.eigh(self.covariance)
        root = directions * np.sqrt(np.maximum(values, 0.0))
        normal = np.random.default_rng(DRAW_SEED).normal(size=(number, len(center)))
        return np.asarray(center + normal @ root.T)

    def demands(self, number: int = DRAWS) -> list[ChoiceDemand]:
        """The demand of each of these vectors."""
        vectors = self.vectors(number)[:number]
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


def reach(level: float) -> float:
    """How many standard errors a range goes to either side."""
    return float(norm.ppf(0.5 + checked_level(level) / 2))


def with_ranges(
    table: pl.DataFrame, drawn: Sequence[pl.DataFrame], columns: Sequence[str], level: float
) -> pl.DataFrame:
    """`table` with the range of its `columns` over the same tables of other parameters."""
    part = checked_level(level)
    parts = ((1 - part) / 2, (1 + part) / 2)
    for column in columns:
        values = np.stack([one[column].cast(pl.Float64).to_numpy() for one in drawn])
        with np.errstate(invalid="ignore"):
            low, high = np.quantile(values, parts, axis=0)
        names = (LOW, HIGH) if len(columns) == 1 else (f"{column} low", f"{column} high")
        table = table.with_columns(
            pl.Series(names[0], low).fill_nan(None), pl.Series(names[1], high).fill_nan(None)
        )
    return table
