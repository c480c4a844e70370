"""Training through time: demand without feedback first, then what feedback adds to it.

Feedback starts from the demand that was best without it, at effects of zero. The start counts
among the epochs that validation chooses from, so that a fit with feedback never validates worse
than the same one without: where nothing moves, nothing is lost but time.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.choice.dynamics.descent import descended_runs
from dgd.choice.dynamics.history import HistoryOf
from dgd.choice.dynamics.in_time import divided_in_time
from dgd.choice.dynamics.moving_demand import MovingDemand
from dgd.choice.dynamics.moving_objective import EXPECTED_WEIGHT, MovingObjective, moving_losses
from dgd.choice.dynamics.starting_at_rest import moving, unmoved
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.markets import Markets
from dgd.choice.objective import Sales
from dgd.choice.offers import Offers
from dgd.choice.settings import EARLY_STOPPING, ChoiceSettings
from dgd.choice.starting import ChoiceStart, first_demand
from dgd.learning.loop import Attempt, Progress
from dgd.learning.runs import INTERRUPTED, Run
from dgd.learning.seeds import best_runs, checked_seeds
from dgd.runtime import computing
from dgd.tables.labels import Label

FIRST_RETENTIONS = (0.5, 0.8)
"""How much of every state a period leaves at the start; each seed is trained from both."""

CountedOffers = tuple[Offers, Sales]
"""What a loss needs of some markets."""


class InTime(NamedTuple):
    """Markets divided in time, as training sees them, each with what was recorded before it."""

    training: Markets
    held_out: Markets
    fitted: FittedOffers
    train: CountedOffers
    validation: CountedOffers

    @staticmethod
    def of(
        markets: Markets, validation: Sequence[Label] | float, fitted: FittedOffers | None = None
    ) -> "InTime":
        """Inside `computing`; `fitted` where offers have absorbed effects or quality."""
        training, held_out = divided_in_time(markets, validation)
        fitted = FittedOffers.plain(training) if fitted is None else fitted
        before = HistoryOf.by(training)
        recorded = ((training, before), (held_out, before.with_later(held_out)))
        counted = [(replace(fitted, past=past).of(part), Sales.of(part)) for part, past in recorded]
        return InTime(training, held_out, fitted, *counted)


class WithAndWithout(NamedTuple):
    """The same fit with feedback and without it, judged on the same later periods.

    Places may differ in their tastes in both: what feedback gains is gained over time.
    """

    moving: tuple[Run, ...]
    static: tuple[Run, ...]

    def to_polars(self) -> pl.DataFrame:
        """One row per seed: the loss of one opportunity in the periods held out."""
        return pl.DataFrame(
            {
                "seed": [run.seed for run in self.moving],
                "with feedback": [run.best_objective for run in self.moving],
                "without": [run.best_objective for run in self.static],
            }
        ).with_columns((pl.col("without") - pl.col("with feedback")).alias("gain"))

    @property
    def gain(self) -> Float[np.ndarray, " seed"]:
        """By how much feedback lowers the loss of one opportunity held out, never below zero."""
        return np.asarray(self.to_polars()["gain"])


def fit_with_and_without(
    settings: ChoiceSettings,
    markets: Markets,
    validation: Sequence[Label] | float = 0.25,
    seeds: Sequence[int] = (1, 2, 3),
    progress: Progress | bool | None = None,
    keep_on_interrupt: bool = False,
    *,
    fitted: FittedOffers | None = None,
    expected_weight: float = EXPECTED_WEIGHT,
) -> WithAndWithout:
    """Train population, utility and feedback together, and the same without feedback.

    Args:
        settings: of population, start and optimiser.
        markets: what was offered and counted, with periods and, where they differ, places.
        validation: the fraction of the periods that decides when to stop, the last ones; or the
            labels of all markets of the last periods.
        seeds: one parameter set each.
        progress: as in `ChoiceModel.fit`; every seed is told of once more for feedback.
        keep_on_interrupt: on Ctrl-C, return the best parameters so far.
        fitted: how markets become offers, where they have absorbed effects or quality.
        expected_weight: beta, of the branch that leaves periods by expected purchases.
    """
    seeds = checked_seeds(seeds)
    objective = MovingObjective(
        penalty_weight=settings.penalty_weight, expected_weight=expected_weight
    )
    with computing():
        data = InTime.of(markets, validation, fitted)
        static = static_runs(settings, data, seeds, objective, progress, keep_on_interrupt)
        return WithAndWithout(
            moving_runs(settings, data, static, objective, progress, keep_on_interrupt), static
        )


def static_runs(
    settings: ChoiceSettings,
    data: InTime,
    seeds: Sequence[int],
    objective: MovingObjective,
    progress: Progress | bool | None = None,
    keep_on_interrupt: bool = False,
) -> tuple[Run, ...]:
    """Of every seed the best fit that carries nothing on; inside `computing`."""
    start = ChoiceStart.of(data.fitted)
    cohorts = len(data.training.cohorts)
    firsts = []
    for seed, number in product(seeds, range(settings.starts)):
        rng = np.random.default_rng([seed, number])
        first = first_demand(settings, start, cohorts, rng)
        firsts.append((seed, f"plain logit {number + 1}", unmoved(first, data.training)))
    return _trained(settings, data, firsts, objective, progress, keep_on_interrupt)


def moving_runs(
    settings: ChoiceSettings,
    data: InTime,
    static: Sequence[Run],
    objective: MovingObjective,
    progress: Progress | bool | None = None,
    keep_on_interrupt: bool = False,
) -> tuple[Run, ...]:
    """Of every seed the best fit with feedback, from where `static` runs ended; inside
    `computing`. Where those were interrupted, feedback is not begun."""
    if any(run.reason == INTERRUPTED for run in static):
        return tuple(replace(x, parameters=moving(x.parameters)) for x in static)
    firsts = [
        (run.seed, f"{run.start}, retention {kept:g}", moving(run.parameters, kept))
        for run in static
        for kept in FIRST_RETENTIONS
    ]
    return _trained(settings, data, firsts, objective, progress, keep_on_interrupt)


def _trained(
    settings: ChoiceSettings,
    data: InTime,
    firsts: Sequence[tuple[int, str, MovingDemand]],
    objective: MovingObjective,
    progress: Progress | bool | None,
    keep_on_interrupt: bool,
) -> tuple[Run, ...]:
    attempts = [
        Attempt.of(seed, name, first, first.trainable(), data.train, data.validation)
        for seed, name, first in firsts
    ]
    loss = partial(moving_losses, objective)
    make = best_runs if settings.method == EARLY_STOPPING else descended_runs
    return make(attempts, loss, settings.optimizer, progress, keep_on_interrupt)
