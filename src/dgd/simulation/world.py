"""Worlds: parameters to draw from, with the names and inputs of the panel they make."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from dgd.model.crowd import Crowd
from dgd.tables.labels import Label

WEEKDAYS = 6


@dataclass(frozen=True, eq=False)
class World:
    """Parameters to draw from, with the names and inputs of the panel they make.

    The crowd's features are the six weekday indicators, Tuesday to Sunday, as 0 or 1.
    """

    crowd: Crowd
    units: tuple[Label, ...]
    cohorts: tuple[Label, ...]
    behaviors: tuple[str, ...]
    sizes: Float[np.ndarray, "unit cohort"]
    dispersion: float = 50.0
    start: str = "2022-01-03"
    campaign: float = 1.0
    """Effort in every fourth week; 1 in the others."""

    def effort(self, days: int) -> Float[np.ndarray, "date unit cohort"]:
        """The effort planned for the first `days` days, the same everywhere."""
        week = np.arange(days) // 7
        of_day = np.where(week % 4 == 3, self.campaign, 1.0)
        return np.broadcast_to(of_day[:, None, None], (days, *self.sizes.shape)).copy()
