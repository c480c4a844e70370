r"""One day of one cohort through the model, step by step: the numbers behind the method figure.

.. math:: A(y) = \sum_{k,i} \pi_k w_i\, \ell(u_{ki})\, p(y \mid u_{ki}), \qquad
    D = \sum_y A(y), \quad \hat N = n D, \quad q(y) = A(y) / D, \quad
    \hat Y_h = \hat N \sum_y y_h\, q(y)

Two behaviours are shown; what the others do is summed over.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Float
from scipy.stats import norm

from dgd.errors import InputError
from dgd.fit import Fit
from dgd.model.arrival import clipped
from dgd.model.bits import behavior_bits
from dgd.model.crowd import Crowd
from dgd.model.observation import AtNodes
from dgd.model.patterns import integrate_patterns
from dgd.model.readout import ArrivalWeighted
from dgd.runtime import computing

POINTS, REACH = 240, 3.5
BASE, TRANSLATED = "base", "translated by the state"
WHOLE = "all"
SHOWN = 2
"""How many behaviours are shown."""


@dataclass(frozen=True)
class MethodDay:
    """What the model holds of one unit and cohort on one day."""

    fit: Fit
    day: int
    unit: int
    cohort: int
    share: Float[np.ndarray, " component"]
    mean: Float[np.ndarray, " component"]
    spread: Float[np.ndarray, " component"]
    shift: float
    """delta, of the first dimension."""
    points: Float[np.ndarray, " node"]
    """Where nodes stand before the shift, in the first dimension."""
    weight: Float[np.ndarray, " node"]
    """pi w."""
    intensity: Float[np.ndarray, " node"]
    """ell, effort included."""
    probability: Float[np.ndarray, "node pattern"]
    """p(y | u) of all behaviours."""
    size: float
    """n."""

    @staticmethod
    def of(fit: Fit, number: int, day: int, unit: int, cohort: int) -> "MethodDay":
        """The day of that number, predicted by the seed of that `number` from the day before."""
        crowd = fit.crowds[number]
        if not crowd.population.has_density or not isinstance(crowd.readout, ArrivalWeighted):
            raise InputError(
                "the method figure shows a Gaussian population whose arrivals answer; fit with "
                "population=gaussian and readout=weighted."
            )
        origin = np.array([day - 1])
        with computing():
            state = fit.carried(number, origin)
            (inputs,) = fit.ahead(fit.panel, origin, 1)
            nodes = crowd.at_nodes(state, inputs)
            support, types = crowd.population.support(), crowd.population.types()
            reached = crowd.effort.reached(inputs.effort)[0, unit, cohort]
            exponent = clipped(crowd.exponent(state, inputs))[0, unit, cohort]
            return MethodDay(
                fit=fit,
                day=day,
                unit=unit,
                cohort=cohort,
                share=np.asarray(types.share)[cohort],
                mean=np.asarray(types.mean)[cohort, :, 0],
                spread=np.asarray(types.spread)[cohort, :, 0],
                shift=float(crowd.moved(state)[0, cohort, 0]),
                points=np.asarray(support.points)[cohort, :, 0],
                weight=np.exp(np.asarray(support.log_weights)[cohort]),
                intensity=float(reached) * np.exp(np.asarray(exponent)),
                probability=_at_each_node(crowd, nodes, unit, cohort),
                size=float(inputs.size[0, unit, cohort]),
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The behaviours shown."""
        return self.fit.panel.behaviors[:SHOWN]

    @property
    def _bits(self) -> Float[np.ndarray, "pattern shown"]:
        return behavior_bits(len(self.names))

    @property
    def labels(self) -> list[str]:
        """The patterns of the behaviours shown, in their order."""
        return [_named(self.names, bits) for bits in self._bits]

    @property
    def shown(self) -> Float[np.ndarray, "node pattern"]:
        """p(y | u) of the behaviours shown: their bits come first in the number of a pattern."""
        nodes = len(self.probability)
        return self.probability.reshape(nodes, -1, len(self._bits)).sum(1)

    @property
    def contributions(self) -> Float[np.ndarray, "node pattern"]:
        """pi w ell p: what each node adds to each pattern's intensity."""
        return (self.weight * self.intensity)[:, None] * self.shown

    @property
    def total(self) -> float:
        """D."""
        return float(self.contributions.sum())

    @property
    def recorded(self) -> Float[np.ndarray, " pattern"]:
        """Counts of the patterns shown."""
        counts = self.fit.panel.patterns[self.day, self.unit, self.cohort]
        return np.asarray(counts.reshape(-1, len(self._bits)).sum(0), dtype=np.float64)

    def mixture_table(self) -> pl.DataFrame:
        """One row per mixture, part and propensity: densities before and after the shift."""
        low, high = self.mean - REACH * self.spread, self.mean + REACH * self.spread
        grid = np.linspace(
            low.min() + min(self.shift, 0.0), high.max() + max(self.shift, 0.0), POINTS
        )
        rows = []
        for name, moved in ((BASE, 0.0), (TRANSLATED, self.shift)):
            at = (self.mean + moved)[:, None]
            each = self.share[:, None] * norm.pdf(grid, at, self.spread[:, None])
            parts = {WHOLE: each.sum(0), **{str(k + 1): x for k, x in enumerate(each)}}
            rows += [
                pl.DataFrame({"propensity": grid, "density": density}).with_columns(
                    pl.lit(name).alias("mixture"), pl.lit(part).alias("part")
                )
                for part, density in parts.items()
            ]
        return pl.concat(rows).select("mixture", "part", "propensity", "density")

    def node_table(self) -> pl.DataFrame:
        """One row per node and pattern, nodes in the order of their propensity."""
        nodes, patterns = self.shown.shape
        order = np.argsort(self.points, kind="stable")
        of = np.repeat(order, patterns)
        pattern = np.tile(np.arange(patterns), nodes)
        each = nodes // len(self.share)
        return pl.DataFrame(
            {
                "node": np.repeat(np.arange(1, nodes + 1), patterns),
                "component": of // each + 1,
                "base propensity": self.points[of],
                "propensity": self.points[of] + self.shift,
                "weight": self.weight[of],
                "intensity": self.intensity[of],
                "pattern": [self.labels[index] for index in pattern],
                "probability": self.shown[of, pattern],
                "contribution": self.contributions[of, pattern],
            }
        )

    def pattern_table(self) -> pl.DataFrame:
        """One row per pattern: A, q, and counts expected and recorded."""
        intensity = self.contributions.sum(0)
        return pl.DataFrame(
            {
                "pattern": self.labels,
                "intensity": intensity,
                "probability": intensity / self.total,
                "expected": self.size * intensity,
                "recorded": self.recorded,
            }
        )

    def count_table(self) -> pl.DataFrame:
        """One row for arrivals and each behaviour shown: counts expected and recorded."""
        table = self.pattern_table()
        sums = np.concatenate([np.ones((len(table), 1)), self._bits], 1)
        return pl.DataFrame(
            {
                "count of": ["arrivals", *self.names],
                "expected": table["expected"].to_numpy() @ sums,
                "recorded": table["recorded"].to_numpy() @ sums,
            }
        )


def _at_each_node(
    crowd: Crowd, nodes: AtNodes, unit: int, cohort: int
) -> Float[np.ndarray, "node pattern"]:
    """p(y | u): every node is a cell of its own, with nobody else in it."""
    logits = nodes.of_cell[0, unit, cohort][None] + nodes.of_node[cohort]
    alone = jnp.ones((1, len(logits)))
    return np.asarray(integrate_patterns(logits.T[:, None], alone, crowd.response.dependence)).T


def _named(names: Sequence[str], bits: Float[np.ndarray, " shown"]) -> str:
    there = [name for name, bit in zip(names, bits, strict=True) if bit]
    if not there:
        return "neither" if len(names) > 1 else f"no {names[0]}"
    if len(there) == len(names):
        return " and ".join(there)
    return f"only {there[0]}"
