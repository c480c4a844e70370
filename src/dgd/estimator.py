"""DGD: settings that can be fitted to a panel."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from dgd.fit import Fit
from dgd.learning.building import RECORDED, first_crowd, shape_of
from dgd.learning.checkpoints import EVERY
from dgd.learning.cost import refuse_fit_beyond_memory
from dgd.learning.effort_start import EFFORT_RESPONSES
from dgd.learning.fit_checkpoint import checkpoint_of, refuse_checkpoint
from dgd.learning.loop import Attempt, Progress, TrainingData
from dgd.learning.objective import Objective
from dgd.learning.preparing import prepared
from dgd.learning.progress import refuse_progress
from dgd.learning.sample import Sample
from dgd.learning.seeds import best_runs, checked_seeds, warn_of_divergence
from dgd.learning.settings import PAPER, Settings
from dgd.learning.starts import STARTS
from dgd.learning.variances import with_variances
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Outcomes
from dgd.panel.panel import Panel
from dgd.panel.shared import known_to_all
from dgd.panel.split import Split
from dgd.processes.group import ALONE, Group
from dgd.runtime import computing
from dgd.tables.periods import Moment


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
        progress: Progress | bool | None = None,
        keep_on_interrupt: bool = False,
        checkpoint: str | Path | None = None,
        every: float = EVERY,
        resume: bool = False,
        group: Group = ALONE,
    ) -> Fit:
        """Learn population, observation and feedback together from the training days.

        Args:
            train_end, validation_end: the last day of each range; days after
                `validation_end` are never looked at.
            warmup_end: days up to here set baselines, reference rates and first
                summaries; without it the training days do. Innovations follow the counts from the
                first day on, so that with them these days are training days.
            seeds: one parameter set each; the same seed gives the same numbers.
            progress: a bar for every seed where standard error is a terminal, or in a notebook;
                none with False; or a function to be called with (seed, epochs done, best
                validation objective); a seed that starts from two places is told of twice.
            keep_on_interrupt: on Ctrl-C, return the best parameters so far.
            checkpoint: a file that keeps where training stands, so that it can go on after a
                crash; it stays until you remove it or the next fit replaces it.
            every: minutes between two checkpoints.
            resume: go on from the checkpoint where there is one, to the same numbers bit by bit;
                one that keeps another unfinished fit is refused.
            group: the processes that units are spread over (`dgd.processes.joined`), each of
                which hands over the panel of its own units and gets the fit of these.
        """
        seeds = checked_seeds(seeds)
        refuse_progress(progress)
        refuse_checkpoint(checkpoint, every, resume)
        panel = known_to_all(panel, group)
        settings = DGD(**self.resolved())
        learned = settings.innovations == "learned"
        ends = (train_end, validation_end, None if learned else warmup_end)
        Split.of(panel, train_end, validation_end, warmup_end)  # refused where it is no split
        panel, split, maker = prepared(panel, settings, *ends, group, alike=learned)
        sample = Sample.of(settings, panel, split, maker, group)
        kept = checkpoint_of(
            checkpoint,
            panel,
            split,
            seeds,
            settings.as_dict(),
            every=every,
            resume=resume,
            suffix=str(group.index) if group.count > 1 else "",
        )
        with computing():
            attempts = settings._attempts(sample, split, seeds)
            loss = partial(losses, self.objective)
            runs = best_runs(attempts, loss, self.optimizer, progress, keep_on_interrupt, kept)
            if learned:
                runs = with_variances(runs, attempts, self.objective)
            runs = tuple(replace(run, parameters=sample.of_all(run.parameters)) for run in runs)
        if sample.is_part:
            runs = tuple(replace(run, how=sample.how) for run in runs)
        warn_of_divergence(runs)
        return Fit(panel, split, maker, runs, Settings(**settings.as_dict()), group=group)

    def _attempts(self, sample: Sample, split: Split, seeds: Sequence[int]) -> list[Attempt]:
        """Every seed from every starting place."""
        panel, maker = sample.panel, sample.maker
        shape = shape_of(self, panel, split, maker)
        refuse_fit_beyond_memory(shape, split.train_stop - split.first)
        record = partial(RECORDED[self.supervision], panel, maker)
        if self.innovations == "learned":
            training = record(split.first, split.validation_stop, self.dispersion)
            validation: Any = jnp.asarray(split.train_stop - split.first)
        else:
            training = record(split.first, split.train_stop, self.dispersion)
            validation = record(split.train_stop, split.validation_stop, self.dispersion)
        effort = EFFORT_RESPONSES[self.effort_response](panel, split)
        attempts = []
        for name in self.starts:
            start = STARTS[name](panel, split, effort)
            for seed in seeds:
                first = sample.sized(first_crowd(self, shape, start, seed), split)
                attempts.append(
                    Attempt.of(seed, name, first, first.trainable(), training, validation)
                )
        return attempts


def losses(
    objective: Objective, trainable: Crowd, data: TrainingData
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Training and validation objective; gradients flow through the first only."""
    crowd = eqx.combine(trainable, data.fixed)
    if crowd.innovations is not None:
        days: tuple[Inputs, Outcomes] = data.train
        return objective.through_time(crowd, *days, data.validation)
    value, state = objective.train(crowd, *data.train)
    crowd, state = jax.lax.stop_gradient((crowd, state))
    inputs, outcomes = data.validation
    return value, objective.validate(crowd, inputs, outcomes, state)
