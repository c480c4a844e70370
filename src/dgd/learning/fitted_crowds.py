"""What the crowds of a fit say about people and effort, asked of the fit itself."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dgd.errors import InputError
from dgd.learning.crowd_tables import dynamics_table, effort_table, population_table
from dgd.learning.effects import effects_table
from dgd.learning.laplace import balanced, measured_dispersion, parameter_draws
from dgd.learning.seeds import checked_seeds
from dgd.learning.settings import Settings
from dgd.model.crowd import Crowd
from dgd.model.effort import EffortCurve
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.sequences import recorded_days
from dgd.panel.split import Split
from dgd.runtime import computing
from dgd.tables.frames import from_polars


class FittedCrowds(ABC):
    """A fit of one crowd per seed."""

    panel: Panel
    split: Split
    features: FeatureMaker
    settings: Settings

    @property
    @abstractmethod
    def crowds(self) -> tuple[Crowd, ...]:
        """Each seed's parameters."""

    @property
    @abstractmethod
    def seeds(self) -> tuple[int, ...]: ...

    def population(self, kind: str | None = None) -> Any:
        """One row per seed, cohort and response type: share, mean and spread."""
        table = population_table(self.crowds, self.seeds, self.panel.cohorts)
        return from_polars(table, kind or self.panel.kind)

    def dynamics(self, kind: str | None = None) -> Any:
        """One row per seed and factor: how much of each state a day carries over or corrects."""
        return from_polars(dynamics_table(self.crowds, self.seeds), kind or self.panel.kind)

    @property
    def effort_curve(self) -> EffortCurve:
        """How arrivals of every cohort answer to effort, on the mean over seeds."""
        cohorts = len(self.panel.cohorts)
        return EffortCurve.mean([crowd.effort.curve(cohorts) for crowd in self.crowds])

    def effort_response(self, kind: str | None = None) -> Any:
        """One row per cohort: elasticity, saturation, the usual, the least and the most effort of
        the training days, and whether the response was `learned` or is an assumption."""
        table = effort_table(self.crowds[0].effort, self.effort_curve, self.panel, self.split)
        return from_polars(table, kind or self.panel.kind)

    def parameter_draws(self, draws: int, seed: int = 0) -> tuple[Crowd, ...]:
        """Crowds whose parameters are as likely as the training days leave them, in turn around
        the trained ones of every seed.

        Only what they predict means anything: labels of response types may swap.
        """
        return self._drawn_around(lambda crowd, *_: crowd, draws, seed)

    def effects(self, kind: str | None = None, draws: int = 200) -> Any:
        """One row per weekday, feature or effort and what it moves: the change in per cent, its
        90 % interval, and the same in words.

        Arrivals change by per cent of their number, behaviours of their odds. What effort does
        without ever having varied is an assumption, and its row says so.
        """
        table = effects_table(self.crowds, self.features, self.panel)
        if table.height:  # otherwise nothing is there to draw for
            objective = self.settings.objective
            around = self._drawn_around(partial(balanced, objective=objective), draws, seed=0)
            table = effects_table(around, self.features, self.panel)
        return from_polars(table, kind or self.panel.kind)

    def _drawn_around(
        self, center: Callable[..., Crowd], draws: int, seed: int
    ) -> tuple[Crowd, ...]:
        """Draws around each seed's `center`, in turn."""
        if draws < 1:
            raise InputError(f"draws is {draws}; draw at least one.")
        crowds = self.crowds[:draws]
        rng = np.random.default_rng(checked_seeds([seed])[0])
        objective, given = self.settings.objective, self.settings.dispersion
        with computing():
            days = recorded_days(
                self.panel, self.features, self.split.first, self.split.train_stop, given
            )
            of_seeds = []
            for number, crowd in enumerate(crowds):
                learned = self.settings.innovations == "learned"
                r = measured_dispersion(crowd, *days) if learned else given
                own = len(range(number, draws, len(crowds)))
                middle = center(crowd, *days, r)
                of_seeds.append(parameter_draws(middle, *days, r, own, rng, objective))
        return tuple(of_seeds[n % len(crowds)][n // len(crowds)] for n in range(draws))
