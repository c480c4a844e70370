"""ChoiceModel: settings that can be fitted to markets."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from dgd.choice.fit import ChoiceFit
from dgd.choice.identification import refuse_unlearnable, warn_of_ambiguity
from dgd.choice.markets import Markets
from dgd.choice.model import ChoiceDemand
from dgd.choice.objective import ChoiceObjective, Sales, choice_loss
from dgd.choice.readout import Offers
from dgd.choice.settings import ChoiceSettings
from dgd.choice.starting import ChoiceStart
from dgd.errors import InputError
from dgd.learning.loop import Attempt, Progress
from dgd.learning.seeds import best_models, checked_seeds, warn_of_divergence
from dgd.runtime import computing
from dgd.tables.labels import Label

HELD_OUT_SEED = 20260912
"""Which markets a fraction holds out depends on their order alone."""


class TrainingData(NamedTuple):
    """Everything the loss needs beside the parameters."""

    fixed: ChoiceDemand
    """The model's arrays that are never trained."""
    train: tuple[Offers, Sales]
    validation: tuple[Offers, Sales]


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
        progress: Progress | None = None,
        keep_on_interrupt: bool = False,
    ) -> ChoiceFit:
        """Learn population and readout together from the counts of the training markets.

        **Arguments:**

        - `validation`: the markets that decide when to stop: other `Markets`, the labels of
            some of `markets`, or the fraction of `markets` to hold out at random (the same
            ones every time). They are never trained on.
        - `seeds`: one parameter set each; the same seed gives the same numbers.
        - `progress`: called with (seed, epochs done, best validation objective); a seed is
            told of once for each of its starts.
        - `keep_on_interrupt`: on Ctrl-C, return the best parameters so far.
        """
        seeds = checked_seeds(seeds)
        training, held_out = divided(markets, validation)
        refuse_unlearnable(training)
        with computing():
            start = ChoiceStart.of(training)
            attempts = [
                self._attempt(start, seed, place, training, held_out)
                for seed in seeds
                for place in range(self.starts)
            ]
            warn_of_ambiguity(training, sum(x.size for x in jax.tree.leaves(attempts[0][2])))
            loss = partial(losses, self.objective)
            best = best_models(attempts, loss, self.optimizer, progress, keep_on_interrupt)
        fit = ChoiceFit(ChoiceSettings(**self.as_dict()), markets, training.markets, best)
        warn_of_divergence(fit.runs)
        return fit

    def _attempt(
        self, start: ChoiceStart, seed: int, place: int, training: Markets, held_out: Markets
    ) -> Attempt:
        model = start.model(
            np.random.default_rng([seed, place]),
            cohorts=len(training.cohorts),
            components=self.components,
            dim=self.dim,
            nodes=self.nodes,
            scale=self.initial_scale,
            population=self.population,
        )
        trainable, fixed = eqx.partition(model, model.trainable())
        counted = [(Offers.of(part), Sales.of(part)) for part in (training, held_out)]
        return Attempt(seed, f"plain logit {place + 1}", trainable, TrainingData(fixed, *counted))


def losses(
    objective: ChoiceObjective, trainable: ChoiceDemand, data: TrainingData
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Training and validation objective; gradients flow through the first only."""
    model = eqx.combine(trainable, data.fixed)
    value = objective.train(model, *data.train)
    return value, choice_loss(jax.lax.stop_gradient(model), *data.validation)


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
    if isinstance(validation, str):
        raise InputError(f'validation is the text "{validation}"; give a list, ["{validation}"].')
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
    places = np.random.default_rng(HELD_OUT_SEED).choice(total, number, replace=False)
    return [markets.markets[place] for place in sorted(places)]
