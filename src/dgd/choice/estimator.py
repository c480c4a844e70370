"""ChoiceModel: settings that can be fitted to markets."""

from collections.abc import Sequence
from functools import partial

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.fit import ChoiceFit
from dgd.choice.identification import refuse_unlearnable, warn_of_ambiguity
from dgd.choice.markets import Markets
from dgd.choice.objective import ChoiceObjective, Sales, choice_loss
from dgd.choice.offers import Offers
from dgd.choice.settings import ChoiceSettings
from dgd.choice.starting import ChoiceStart, first_demand
from dgd.errors import InputError
from dgd.learning.loop import Attempt, Progress, TrainingData
from dgd.learning.progress import refuse_progress
from dgd.learning.seeds import best_runs, checked_seeds, warn_of_divergence
from dgd.runtime import computing
from dgd.tables import refusing
from dgd.tables.labels import Label

HELD_OUT_SEED = 20260912
"""Which markets a fraction holds out depends on their order alone."""


class ChoiceModel(ChoiceSettings):
    """Demand of a heterogeneous population, ready to be fitted.

    The arguments are those of `ChoiceSettings`.
    """

    def fit(
        self,
        markets: Markets,
        *,
        validation: Markets | Sequence[Label] | float = 0.25,
        seeds: Sequence[int] = (1, 2, 3),
        progress: Progress | bool | None = None,
        keep_on_interrupt: bool = False,
    ) -> ChoiceFit:
        """Learn population and utility together from the counts of the training markets.

        Args:
            markets: what was offered and counted.
            validation: the markets that decide when to stop: other `Markets`, the labels of
                some of `markets`, or the fraction of `markets` to hold out at random (the
                same ones every time). They are never trained on.
            seeds: one parameter set each; the same seed gives the same numbers.
            progress: a bar for every seed where standard error is a terminal, or in a notebook;
                none with False; or a function to be called with (seed, epochs done, best
                validation objective); a seed is told of once for each of its starts.
            keep_on_interrupt: on Ctrl-C, return the best parameters so far.

        Returns:
            Of every seed the start that validates best, at its best epoch.
        """
        seeds = checked_seeds(seeds)
        refuse_progress(progress)
        training, held_out = divided(markets, validation)
        refuse_unlearnable(training)
        with computing():
            start = ChoiceStart.of(training)
            attempts = [
                self._attempt(start, seed, number, training, held_out)
                for seed in seeds
                for number in range(self.starts)
            ]
            warn_of_ambiguity(
                training, sum(x.size for x in jax.tree.leaves(attempts[0].parameters))
            )
            loss = partial(losses, self.objective)
            best = best_runs(attempts, loss, self.optimizer, progress, keep_on_interrupt)
        fit = ChoiceFit(ChoiceSettings(**self.as_dict()), markets, training.markets, best)
        warn_of_divergence(fit.runs)
        return fit

    def _attempt(
        self, start: ChoiceStart, seed: int, number: int, training: Markets, held_out: Markets
    ) -> Attempt:
        rng = np.random.default_rng([seed, number])
        first = first_demand(self, start, len(training.cohorts), rng)
        counted = [(Offers.of(part), Sales.of(part)) for part in (training, held_out)]
        name = f"plain logit {number + 1}"
        return Attempt.of(seed, name, first, first.trainable(), *counted)


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
        markets.refuse_different(validation, "validation")
        if not validation.counted:
            raise InputError(
                "validation was made with count=None; early stopping needs counts: name their "
                "column."
            )
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
    if not 0 < fraction < 1:
        raise InputError(f"validation is {fraction:g}; a fraction lies between 0 and 1.")
    total = len(markets.markets)
    if total < 2:
        raise InputError("validation is a fraction of a single market; give at least two markets.")
    number = min(max(1, round(fraction * total)), total - 1)
    indices = np.random.default_rng(HELD_OUT_SEED).choice(total, number, replace=False)
    return [markets.markets[index] for index in sorted(indices)]
