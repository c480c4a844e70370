"""DGD: settings that can be fitted to a panel."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
from jaxtyping import Array, Float

from dgd.fit import Fit
from dgd.learning.loop import Attempt, Progress
from dgd.learning.objective import Objective
from dgd.learning.seeds import best_models, checked_seeds, warn_of_divergence
from dgd.learning.settings import PAPER, Settings
from dgd.learning.starts import Shape, reference_rates, start_from_training, start_from_warmup
from dgd.model.days import Inputs, Outcomes
from dgd.model.model import Model
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.sequences import recorded_days, recorded_events
from dgd.panel.split import Split
from dgd.runtime import computing
from dgd.tables.periods import Moment

STARTS = {"warmup": start_from_warmup, "training": start_from_training}
RECORDED = {"counts": recorded_days, "events": recorded_events}


class TrainingData(NamedTuple):
    """Everything the loss needs beside the parameters."""

    fixed: Model
    """The model's arrays that are never trained."""
    train: tuple[Inputs, Outcomes]
    validation: tuple[Inputs, Outcomes]


class DGD(Settings):
    """Differentiable Gaussian Dynamics, ready to be fitted.

    The arguments are those of `Settings`; `DGD.paper()` gives the paper's values.
    """

    @classmethod
    def paper(cls, **changes: Any) -> "DGD":
        """The paper's preset, with any setting changed by name."""
        return cls(**{**PAPER, **changes})

    def fit(
        self,
        panel: Panel,
        *,
        train_end: Moment,
        validation_end: Moment,
        warmup_end: Moment | None = None,
        seeds: Sequence[int] = (1, 2, 3),
        progress: Progress | None = None,
        keep_on_interrupt: bool = False,
    ) -> Fit:
        """Learn population, observation and feedback together from the training days.

        **Arguments:**

        - `train_end`, `validation_end`: the last day of each range; days after
            `validation_end` are never looked at.
        - `warmup_end`: days up to here set baselines, reference rates and first
            summaries; without it the training days do.
        - `seeds`: one parameter set each; the same seed gives the same numbers.
        - `progress`: called with (seed, epochs done, best validation objective); a seed that
            starts from two places is told of twice.
        - `keep_on_interrupt`: on Ctrl-C, return the best parameters so far.
        """
        seeds = checked_seeds(seeds)
        split = Split.of(panel, train_end, validation_end, warmup_end)
        rates = reference_rates(panel, split.warmup)
        maker = FeatureMaker.fitted(panel, split, rates, self.calendar, self.summary_retention)
        with computing():
            places = list(STARTS) if self.start == "best" else [self.start]
            attempts = self._attempts(panel, split, maker, places, seeds)
            loss = partial(losses, self.objective)
            best = best_models(attempts, loss, self.optimizer, progress, keep_on_interrupt)
        fit = Fit(Settings(**self.as_dict()), panel, split, maker, best)
        warn_of_divergence(fit.runs)
        return fit

    def shape(self, panel: Panel, maker: FeatureMaker) -> Shape:
        return Shape(
            units=len(panel.units),
            cohorts=len(panel.cohorts),
            behaviors=len(panel.behaviors),
            features=len(maker.names(panel)),
            components=self.components,
            dim=self.dim,
            nodes=self.nodes,
            contexts=0 if panel.events is None else len(panel.events.names),
        )

    def _attempts(
        self,
        panel: Panel,
        split: Split,
        maker: FeatureMaker,
        places: Sequence[str],
        seeds: Sequence[int],
    ) -> list[Attempt]:
        """Every seed from every starting place."""
        first, stop, last = split.first, split.train_stop, split.validation_stop
        record = RECORDED[self.supervision]
        training = record(panel, maker, first, stop, self.dispersion)
        validation = record(panel, maker, stop, last, self.dispersion)
        shape = self.shape(panel, maker)
        attempts = []
        for place in places:
            start = replace(
                STARTS[place](panel, split, self.initial_scale),
                population=self.population,
                dynamics=self.dynamics,
                readout=self.readout,
                supervision=self.supervision,
            )
            for seed in seeds:
                model = start.model(shape, seed)
                trainable, fixed = eqx.partition(model, model.trainable())
                data = TrainingData(fixed, training, validation)
                attempts.append(Attempt(seed, place, trainable, data))
        return attempts


def losses(
    objective: Objective, trainable: Model, data: TrainingData
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Training and validation objective; gradients flow through the first only."""
    model = eqx.combine(trainable, data.fixed)
    value, state = objective.train(model, *data.train)
    model, state = jax.lax.stop_gradient((model, state))
    return value, objective.validate(model, *data.validation, state)
