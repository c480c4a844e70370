"""Labels beside the offers: whose they are, when and where they were made."""

from typing import NamedTuple

import numpy as np
import polars as pl
from jaxtyping import Int

from dgd.panel.grids import label_indices
from dgd.tables.labels import Label


class Marks(NamedTuple):
    """One column of labels, spread over markets and slots."""

    code: Int[np.ndarray, "market slot"]
    """Which of `labels` the offer has; -1 where a slot holds no product."""
    labels: tuple[Label, ...]

    @property
    def of_market(self) -> Int[np.ndarray, " market"]:
        """The label of every market, where a market has one only."""
        return np.asarray(self.code[:, 0])

    def at(self, markets: np.ndarray, width: int) -> "Marks":
        """The marks of some markets."""
        return Marks(self.code[markets, :width], self.labels)


def label_codes(column: pl.Series) -> tuple[np.ndarray, tuple[Label, ...]]:
    """Each row's place among the column's labels, and these in the order they come."""
    labels = tuple(column.unique(maintain_order=True).to_list())
    return label_indices(column, labels), labels
