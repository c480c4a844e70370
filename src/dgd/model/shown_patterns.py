"""The patterns that were shown, without those that were not: what a sparse likelihood reads.

Cells without arrivals have nothing to say about behaviour and are not predicted; of the others only
the patterns that occurred are scored.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from dgd.model.multinomial import SMALLEST_PROBABILITY
from dgd.model.observation import AtNodes, integrate_groups, integrate_shown


class ShownPatterns(eqx.Module):
    """Counts of patterns that occurred; places that fill a block up have a count of 0."""

    cell: Int[Array, "*block group"]
    """Cells with arrivals, by their place on the grid of dates, units and cohorts."""
    group: Int[Array, "*block entry"]
    """Which of these cells each entry belongs to."""
    pattern: Int[Array, "*block entry"]
    count: Float[Array, "*block entry"]

    def log_likelihood(
        self, nodes: AtNodes, dependence: Float[Array, "behavior behavior"]
    ) -> Float[Array, " date"]:
        """sum C(y) log q(y) of each date, from the cells with arrivals alone.

        Shown patterns are asked one by one, or the whole tree of their cell where it has so many
        that this is less work; the numbers are the same.
        """
        behaviors, shape = nodes.of_cell.shape[-1], nodes.arrivals.shape
        if len(self.pattern) * behaviors < len(self.cell) * 2**behaviors:
            cell = self.cell[self.group]
            return self._by_date(integrate_shown(nodes, dependence, cell, self.pattern), shape)
        nobody = jnp.zeros((len(self.cell), behaviors))
        probable = integrate_groups(nodes, dependence, self.cell, nobody)
        return self._by_date(probable[self.pattern, self.group], shape)

    def log_likelihood_of(
        self, patterns: Float[Array, "pattern date unit cohort"]
    ) -> Float[Array, " date"]:
        """The same where the probabilities of all cells are known already."""
        probable = patterns.reshape(len(patterns), -1)[self.pattern, self.cell[self.group]]
        return self._by_date(probable, patterns.shape[1:])

    def after_first_date(self, cells: int) -> "ShownPatterns":
        """Without the first date, which has that many cells; its entries no longer count."""
        later = self.cell >= cells
        count = jnp.where(later[self.group], self.count, 0.0)
        cell = jnp.where(later, self.cell - cells, 0)
        return ShownPatterns(cell, self.group, self.pattern, count)

    def _by_date(
        self, probable: Float[Array, " entry"], shape: tuple[int, ...]
    ) -> Float[Array, " date"]:
        dates, units, cohorts = shape
        likely = self.count * jnp.log(jnp.maximum(probable, SMALLEST_PROBABILITY))
        return jax.ops.segment_sum(likely, self.cell[self.group] // (units * cohorts), dates)
