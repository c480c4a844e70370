"""DGD: settings that can be fitted to a panel."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.anchoring.anchor import Anchor
from dgd.errors import InputError
from dgd.fit import Fit
from dgd.large.block_size import is_large
from dgd.large.choosing import chosen_anchor
from dgd.large.shards import gathered
from dgd.learning.building import RECORDED, first_crowd, shape_of
from dgd.learning.checkpoints import EVERY
from dgd.learning.cost import refuse_fit_beyond_memory
from dgd.learning.effort_start import EFFORT_RESPONSES
from dgd.learning.fit_checkpoint import checkpoint_of, refuse_checkpoint
from dgd.learning.large_panels import LargePanel, has_many_units
from dgd.learning.loop import Attempt, Progress, TrainingData
from dgd.learning.objective import Objective
from dgd.learning.preparing import prepared
from dgd.learning.progress import refuse_progress
from dgd.learning.seeds import best_runs, checked_seeds, warn_of_divergence
from dgd.learning.settings import ANCHORING, PAPER, Settings
from dgd.learning.starts import STARTS
from dgd.learning.variances import with_variances
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Outcomes
from dgd.panel.features import FeatureMaker
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
        stop = Split.of(panel, train_end, validation_end, warmup_end).validation_stop
        many = has_many_units(self, panel, group)
        settings = DGD(**self.resolved(many_units=many, days=stop))
        learned = settings.innovations == "learned"
        panel, split, maker = prepared(
            panel, settings, train_end, validation_end, None if learned else warmup_end, group
        )
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
            if many:
                large = LargePanel(settings, panel, split, maker, group)
                best = large.runs(seeds, progress, keep_on_interrupt, kept)
            else:
                attempts = settings._attempts(panel, split, maker, seeds)
                loss = partial(losses, self.objective)
                best = best_runs(attempts, loss, self.optimizer, progress, keep_on_interrupt, kept)
                if learned:
                    best = with_variances(best, attempts, self.objective)
        fit = Fit(panel, split, maker, best, Settings(**settings.as_dict()), group=group)
        warn_of_divergence(fit.runs)
        return replace(fit, anchor=settings._anchor(fit))

    def reanchored(self, fit: Fit) -> Fit:
        """The trained model of `fit`, its forecasts anchored as these settings say.

        Training knows nothing of the anchors, so the result is, bit by bit, what fitting with
        these settings would give, without the training.

        Raises:
            InputError: A setting that training depends on is not that of the fit.
        """
        trained, many = fit.settings.as_dict(), has_many_units(self, fit.panel, fit.group)
        asked = self.resolved(many_units=many, days=fit.split.validation_stop)
        for name, wanted in asked.items():
            if name not in ANCHORING and wanted != trained[name]:
                raise InputError(
                    f"{name} is {wanted!r}, but the fit was trained with {trained[name]!r}; "
                    f"change only {', '.join(ANCHORING)}, or fit anew."
                )
        alone = replace(fit, settings=Settings(**asked), anchor=None)
        return replace(alone, anchor=DGD(**asked)._anchor(alone))

    def _anchor(self, fit: Fit) -> Anchor | None:
        """What forecasts of the fit start from, chosen on its training and validation days."""
        if fit.group.count == 1 or is_large(fit.panel):
            return chosen_anchor(fit, self, fit.effort_curve)
        whole = gathered(fit)
        anchor = chosen_anchor(whole, self, whole.effort_curve)
        place = {unit: number for number, unit in enumerate(whole.panel.units)}
        own = np.array([place[unit] for unit in fit.panel.units])
        return None if anchor is None else anchor.of_units(own)

    def _attempts(
        self, panel: Panel, split: Split, maker: FeatureMaker, seeds: Sequence[int]
    ) -> list[Attempt]:
        """Every seed from every starting place."""
        shape = shape_of(self, panel, maker)
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
                first = first_crowd(self, shape, start, seed)
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
