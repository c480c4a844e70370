"""What scenarios and plans need of a fit, and no more."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Int

from dgd.learning.settings import Settings
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs
from dgd.model.feedback.feedback import State
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.split import Split


@runtime_checkable
class ExpectingFit(Protocol):
    """A fit whose crowds can be walked through another future."""

    @property
    def panel(self) -> Panel: ...
    @property
    def split(self) -> Split: ...
    @property
    def features(self) -> FeatureMaker: ...
    @property
    def settings(self) -> Settings: ...
    @property
    def crowds(self) -> tuple[Crowd, ...]: ...
    @property
    def first_origin(self) -> int: ...
    @property
    def states(self) -> tuple[State, ...]:
        """Each seed's states at the beginning of every recorded day from the first training day
        on, and of the day after the last; of very many units what their cohorts carry is
        enough."""

    def carried(self, number: int, origins: Int[np.ndarray, " origin"]) -> State:
        """What the seed of that `number` carries into the day after each origin."""


@runtime_checkable
class DrawingFit(ExpectingFit, Protocol):
    """One that also knows what its parameters do not know, and draws counts of futures."""

    def parameter_draws(self, draws: int, seed: int = 0) -> tuple[Crowd, ...]:
        """Crowds as likely as the counts leave them."""

    def draw_futures(
        self,
        futures: Sequence[Sequence[Inputs]],
        day: int,
        panel: Panel,
        paths: int,
        seed: int,
        crowds: Sequence[Crowd] | None = None,
        carried: Sequence[State] | None = None,
    ) -> tuple[Int[np.ndarray, "path step unit cohort pattern"], ...]:
        """Counts of every future, drawn by the same chance."""
