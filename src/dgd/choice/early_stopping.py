"""The paper's protocol: Adam on training markets, stopped by validation markets, seed by seed."""

from collections.abc import Sequence
from functools import partial

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.estimation.folds import refuse_no_fraction
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.markets import Markets
from dgd.choice.objective import ChoiceObjective, Sales, choice_loss
from dgd.choice.settings import ChoiceSettings
from dgd.choice.starting import ChoiceStart, estimated, first_demand
from dgd.errors import InputError
from dgd.learning.loop import Attempt, Progress, TrainingData
from dgd.learning.runs import Run
from dgd.learning.seeds import best_runs
from dgd.tables import refusing
from dgd.tables.labels import Label

HELD_OUT_SEED = 20260912
"""Which markets a fraction holds out depends on their order alone."""


def trained(
    settings: ChoiceSettings,
    training: Markets,
    held_out: Markets,
    seeds: Sequence[int],
    progress: Progress | bool | None,
    keep_on_interrupt: bool,
) -> tuple[Run, ...]:
    """Of every seed the start that validates best, at its best epoch; within `computing`."""
    fitted = FittedOffers.plain(training)
    start = ChoiceStart.of(fitted)
    counted = [(fitted.of(part), Sales.of(part)) for part in (training, held_out)]
    attempts = []
    for seed in seeds:
        for number in range(settings.starts):
            rng = np.random.default_rng([seed, number])
            first = first_demand(settings, start, len(training.cohorts), rng)
            free = estimated(first, alike=False, quality=False)
            attempts.append(Attempt.of(seed, f"plain logit {number + 1}", first, free, *counted))
    loss = partial(losses, settings.objective)
    return best_runs(attempts, loss, settings.optimizer, progress, keep_on_interrupt)


def losses(
    objective: ChoiceObjective, trainable: ChoiceDemand, data: TrainingData
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Training and validation objective; gradients flow through the first only."""
    demand = eqx.combine(trainable, data.fixed)
    value = objective.train(demand, *data.train)
    return value, choice_loss(jax.lax.stop_gradient(demand), *data.validation)


def divided(
    markets: Markets, validation: Markets | Sequence[Label] | float
) -> tuple[Markets, Markets]:
    """The markets to train on and those to stop by."""
    if isinstance(validation, Markets):
        return markets, validation
    refusing.refuse_text(validation, "validation")
    if isinstance(validation, (int, float)):
        held_out = _drawn(markets, float(validation))
    else:
        held_out = list(dict.fromkeys(validation))
    stopping = markets.select(held_out)
    rest = [label for label in markets.markets if label not in set(held_out)]
    if not rest:
        raise InputError("validation names every market; leave some to train on.")
    return markets.select(rest), stopping


def _drawn(markets: Markets, fraction: float) -> list[Label]:
    refuse_no_fraction(fraction)
    total = len(markets.markets)
    if total < 2:
        raise InputError("validation is a fraction of a single market; give at least two markets.")
    number = min(max(1, round(fraction * total)), total - 1)
    indices = np.random.default_rng(HELD_OUT_SEED).choice(total, number, replace=False)
    return [markets.markets[index] for index in sorted(indices)]
