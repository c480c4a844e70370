r"""Effects of labels taken out of columns by means, so that thousands of labels cost little.

.. math:: y_i = \sum_c \phi_{c, l_c(i)} + \tilde y_i

where the rest has mean zero within every label. With one column the effects are the labels'
means; with several the means of each column are taken out in turn until nothing moves.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.sparse import csr_array

from dgd.choice.markets import Markets
from dgd.errors import InputError

TOLERANCE = 1e-12
"""What effects may still move by, relative to the largest value."""
MOST_SWEEPS = 20_000


@dataclass(frozen=True, eq=False)
class Absorbed:
    """Which label of every absorbed column each row has."""

    names: tuple[str, ...]
    members: tuple[csr_array, ...]
    """One matrix a column: 1 where the row has the label."""

    @staticmethod
    def of(markets: Markets) -> "Absorbed":
        """The labels of the available offers of `markets`."""
        rows = markets.available
        members = []
        for name in markets.columns.absorb:
            code, labels = markets.marks[name].code[rows], len(markets.marks[name].labels)
            entries = (np.ones(len(code)), (code, np.arange(len(code))))
            members.append(csr_array(entries, shape=(labels, len(code))))
        return Absorbed(markets.columns.absorb, tuple(members))

    def seen(self) -> tuple[Bool[np.ndarray, " label"], ...]:
        """Which labels any row has, per column."""
        return tuple(np.asarray(column.sum(1)) > 0 for column in self.members)

    def parted(
        self, values: Float[np.ndarray, "row column"]
    ) -> tuple[Float[np.ndarray, "row column"], tuple[Float[np.ndarray, "label column"], ...]]:
        """What no label explains, and the labels' effects; labels without rows have none."""
        rest = np.array(values, dtype=float)
        effects = tuple(np.zeros((len(seen), rest.shape[1])) for seen in self.seen())
        size = np.maximum(np.abs(values).max(0, initial=0.0), np.finfo(float).tiny)
        for _ in range(MOST_SWEEPS):
            moved = 0.0
            for index, column in enumerate(self.members):
                number = np.maximum(np.asarray(column.sum(1)), 1.0)[:, None]
                mean = (column @ rest) / number
                effects[index][:] += mean
                rest -= column.T @ mean
                moved = max(moved, float((np.abs(mean) / size).max(initial=0.0)))
            if len(self.members) < 2 or moved < TOLERANCE:
                return rest, effects
        raise InputError(
            f"the absorbed columns {', '.join(self.names)} are so alike that their effects cannot "
            "be told apart; absorb fewer of them."
        )

    def rest(self, values: Float[np.ndarray, "row column"]) -> Float[np.ndarray, "row column"]:
        """What no label explains."""
        return self.parted(values)[0]
