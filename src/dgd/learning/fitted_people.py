"""What the people of a fit do and what they carry, asked of the fit itself."""

from abc import abstractmethod
from functools import cached_property
from typing import Any

import jax
import polars as pl

from dgd.learning.carried_days import carried_days_table
from dgd.learning.evidence import evidence_table
from dgd.learning.feedback_moves import moves_table
from dgd.learning.feedback_words import feedback_sentences
from dgd.learning.fitted_crowds import FittedCrowds
from dgd.learning.response_types import response_types_table
from dgd.learning.runs import Run
from dgd.learning.type_words import crowd_sentences
from dgd.model.feedback.feedback import State
from dgd.panel.sequences import recorded_days, recorded_events
from dgd.runtime import computing
from dgd.tables.frames import from_polars


class FittedPeople(FittedCrowds):
    """Response types, what is carried from day to day, and both in words."""

    @property
    @abstractmethod
    def _best(self) -> Run:
        """The run that validates best."""

    @property
    @abstractmethod
    def states(self) -> tuple[State, ...]:
        """Each seed's state at the beginning of every day from the first training day on."""

    @property
    def best_seed(self) -> int:
        """The seed that validates best."""
        return self._best.seed

    def response_types(self, kind: str | None = None) -> Any:
        """One row per seed, cohort and response type, by what the type does on training days.

        Types are numbered within their cohort, the most often seen first: `share` of the
        cohort, arrivals per person and day (relative to the mean of the cohort where no sizes
        were given; `per` says which), share of the cohort's contacts, and every behaviour's rate.
        """
        return from_polars(self._types.clone(), kind or self.panel.kind)

    def crowd_in_words(self) -> tuple[str, ...]:
        """A sentence or two for each cohort: its response types, of the seed that validates best,
        and whether the seeds agree on them."""
        return crowd_sentences(self._types, self.best_seed, self.panel.behaviors)

    def evidence(self, kind: str | None = None) -> Any:
        """One row per part of the model: the `gain` in log-likelihood of the next day's counts, per
        thousand arrivals of the validation days, that it has over the model without the part, and
        the gain's standard error over days.

        Parts are the heterogeneity of people, each state that is carried, the answer to effort
        where effort varied, and each level of the innovations of arrivals and of joint patterns.
        Of very many units some are asked.
        """
        with computing():
            inputs, outcomes = recorded_events(
                self.panel,
                self.features,
                self.split.first,
                self.split.validation_stop,
                self.settings.dispersion,
            )
            since = self.split.train_stop - self.split.first
            table = evidence_table(self.crowds, inputs, outcomes, since)
        return from_polars(table, kind or self.panel.kind)

    def feedback(self, kind: str | None = None) -> Any:
        """One row per seed, date, state, whose it is and what of it: what is carried into the day.

        `who` is a cohort, a unit of the arrival environment, or "all" for what units share of it;
        `of` is the behaviour that is remembered or the dimension that is shifted. Memory is a
        rate, and `reference` the rate it settles at when days are as before training; all
        states are zero on the first training day. The last date is the day after the last
        counted one.
        """
        with computing():
            table = carried_days_table(
                self.crowds, self.seeds, self.states, self.split.first, self.panel
            )
        return from_polars(table, kind or self.panel.kind)

    def feedback_in_words(self) -> tuple[str, ...]:
        """A sentence or two for everything that is carried: how long it lasts, what it moves."""
        with computing():
            moves = moves_table(self.crowds, self.seeds, self.states, self.panel.behaviors)
        return feedback_sentences(self.dynamics("polars"), moves, self.panel.period.name)

    @cached_property
    def _types(self) -> pl.DataFrame:
        """Computed once: texts, tables and charts all ask for it."""
        first, stop = self.split.first, self.split.train_stop
        with computing():
            inputs, _ = recorded_days(
                self.panel, self.features, first, stop, self.settings.dispersion
            )
            days = slice(0, stop - first)
            states = [jax.tree.map(lambda x: x[days], state) for state in self.states]
            return response_types_table(self.crowds, self.seeds, states, inputs, self.panel)
