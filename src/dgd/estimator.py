"""DGD: settings that can be fitted to a panel."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float

from dgd.anchoring.anchor import Anchor
from dgd.anchoring.arrival_anchor import ArrivalAnchor
from dgd.anchoring.layers import MOVEMENTS
from dgd.anchoring.pattern_anchor import PatternAnchor
from dgd.errors import InputError
from dgd.fit import Fit
from dgd.learning.building import RECORDED, first_crowd, shape_of
from dgd.learning.cost import refuse_fit_beyond_memory
from dgd.learning.effort_start import EFFORT_RESPONSES
from dgd.learning.loop import Attempt, Progress, TrainingData
from dgd.learning.objective import Objective
from dgd.learning.preparing import prepared
from dgd.learning.progress import refuse_progress
from dgd.learning.seeds import best_runs, checked_seeds, warn_of_divergence
from dgd.learning.settings import ANCHORING, PAPER, Settings
from dgd.learning.starts import STARTS
from dgd.model.crowd import Crowd
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.split import Split
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
    ) -> Fit:
        """Learn population, observation and feedback together from the training days.

        Args:
            train_end, validation_end: the last day of each range; days after
                `validation_end` are never looked at.
            warmup_end: days up to here set baselines, reference rates and first
                summaries; without it the training days do.
            seeds: one parameter set each; the same seed gives the same numbers.
            progress: a bar for every seed where standard error is a terminal, or in a notebook;
                none with False; or a function to be called with (seed, epochs done, best
                validation objective); a seed that starts from two places is told of twice.
            keep_on_interrupt: on Ctrl-C, return the best parameters so far.
        """
        seeds = checked_seeds(seeds)
        refuse_progress(progress)
        panel, split, maker = prepared(panel, self, train_end, validation_end, warmup_end)
        with computing():
            attempts = self._attempts(panel, split, maker, seeds)
            loss = partial(losses, self.objective)
            best = best_runs(attempts, loss, self.optimizer, progress, keep_on_interrupt)
        fit = Fit(panel, split, maker, best, Settings(**self.as_dict()))
        warn_of_divergence(fit.runs)
        return replace(fit, anchor=self._anchor(fit))

    def reanchored(self, fit: Fit) -> Fit:
        """The trained model of `fit`, its forecasts anchored as these settings say.

        Training knows nothing of the anchors, so the result is, bit by bit, what fitting with
        these settings would give, without the training.

        Raises:
            InputError: A setting that training depends on is not that of the fit.
        """
        trained = fit.settings.as_dict()
        for name, wanted in self.as_dict().items():
            if name not in ANCHORING and wanted != trained[name]:
                raise InputError(
                    f"{name} is {wanted!r}, but the fit was trained with {trained[name]!r}; "
                    f"change only {', '.join(ANCHORING)}, or fit anew."
                )
        alone = replace(fit, settings=Settings(**self.as_dict()), anchor=None)
        return replace(alone, anchor=self._anchor(alone))

    def _anchor(self, fit: Fit) -> Anchor | None:
        """What forecasts of the fit start from, chosen on its training and validation days."""
        panel, split = fit.panel, fit.split
        patterns = arrivals = None
        if self.anchor == "history":
            patterns = PatternAnchor.chosen(panel, split, MOVEMENTS[self.tilts])
        if self.arrival_anchor != "none":
            alone = self.arrival_anchor == "means"
            arrivals = ArrivalAnchor.chosen(panel, split, fit.effort_curve, means_alone=alone)
        if patterns is None and arrivals is None:
            return None
        anchor = Anchor(patterns, arrivals, learned_spread=self.spread == "learned")
        return anchor if self.departures == "none" else anchor.weighed(panel, split, fit.predict)

    def _attempts(
        self, panel: Panel, split: Split, maker: FeatureMaker, seeds: Sequence[int]
    ) -> list[Attempt]:
        """Every seed from every starting place."""
        shape = shape_of(self, panel, maker)
        refuse_fit_beyond_memory(shape, split.train_stop - split.first)
        record = partial(RECORDED[self.supervision], panel, maker)
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
    value, state = objective.train(crowd, *data.train)
    crowd, state = jax.lax.stop_gradient((crowd, state))
    inputs, outcomes = data.validation
    return value, objective.validate(crowd, inputs, outcomes, state)
