"""Training on panels of many units: exact in blocks, or over random blocks where these are faster.

From `MANY_UNITS` units on, each is drawn to what all units are like (`unit_prior.py`), and units
are walked in blocks with sparse counts. From `STOCHASTIC_UNITS` on, steps see random blocks instead
of all units; the summary of a fit says which it was.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.errors import InputError
from dgd.learning.block_objective import BlockObjective
from dgd.learning.block_steps import filled_up, put_together, taken_apart
from dgd.learning.building import first_crowd, shape_of
from dgd.learning.checkpoints import Checkpoint
from dgd.learning.effort_start import EFFORT_RESPONSES
from dgd.learning.loop import Attempt, Progress, TrainingData, made_side_by_side
from dgd.learning.progress import telling
from dgd.learning.random_blocks import RandomBlocks
from dgd.learning.runs import INTERRUPTED, Run
from dgd.learning.seeds import best_runs
from dgd.learning.settings import Settings
from dgd.learning.spread import Spread
from dgd.learning.starts import STARTS, Start, people_reached
from dgd.learning.stochastic import StochasticTraining
from dgd.learning.unit_blocks import BlockRecorder, Strengths
from dgd.learning.unit_curvature import curvature_of_units
from dgd.learning.unit_prior import MANY_UNITS, UnitPrior, UnitSums, unit_prior
from dgd.learning.units_compared import evenly_spread
from dgd.model.crowd import Crowd
from dgd.model.effort import AbstractEffortResponse
from dgd.model.unit_parameters import UnitParameters
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.processes.group import ALONE, Group

STOCHASTIC_UNITS = 2_000
"""Units from which on training sees random blocks of them, unless the settings say otherwise."""
BLOCK_NUMBERS = 60_000_000
"""Patterns x nodes x cells of a block, most of them: what is held of it stays below a gigabyte."""
FEWEST = 64
"""Units of a random block at least: fewer say too little about what all do."""
MOST = 512
"""Units of a random block at most."""
MOST_COMPARED = 500
"""Units on which the answer to effort is measured."""
SAMPLED = 8_000
"""Units of all processes that random blocks are drawn from, where there are several processes."""
SUMMED = 4
"""One in so many units of a random block is asked what cohorts are expected to do."""


def has_many_units(settings: Settings, panel: Panel, group: Group = ALONE) -> bool:
    """Whether units are walked in blocks; events by their own context never are."""
    if group.count > 1:
        _refuse_to_spread(settings, panel)
        return True
    many = settings.supervision == "counts" and panel.together.units >= MANY_UNITS
    if settings.training == "stochastic" and not many:
        raise InputError(
            f'training is "stochastic", which needs counts of at least {MANY_UNITS} units, and '
            f"there are {panel.together.units}, with supervision by {settings.supervision}; leave "
            "it at auto."
        )
    return many


def _refuse_to_spread(settings: Settings, panel: Panel) -> None:
    """Refuse what several processes cannot do together."""
    if settings.supervision != "counts":
        raise InputError(
            f'supervision is "{settings.supervision}", which one process can do; leave it at '
            '"counts", or fit with one process.'
        )
    if panel.together.units < MANY_UNITS:
        raise InputError(
            f"{panel.together.units} units are too few to be spread over processes; fit with one."
        )


@dataclass(frozen=True, eq=False)
class LargePanel:
    """A panel of many units, and how it is trained on."""

    settings: Settings
    panel: Panel
    split: Split
    maker: FeatureMaker
    group: Group = ALONE
    """The processes that the units are spread over."""

    @property
    def stochastic(self) -> bool:
        """Whether steps see random blocks."""
        if self.settings.training == "auto":
            return self.panel.together.units >= STOCHASTIC_UNITS
        return self.settings.training == "stochastic"

    def runs(
        self,
        seeds: Sequence[int],
        progress: Progress | bool | None,
        keep_on_interrupt: bool,
        checkpoint: Checkpoint | None,
    ) -> tuple[Run, ...]:
        """The best run of every seed."""
        if not self.stochastic:
            return self._exact(seeds, progress, keep_on_interrupt, checkpoint)
        asked = (seeds, progress, keep_on_interrupt, checkpoint)
        if self.group.count > 1:
            runs = [self._here(run) for run in self._sample.learned(*asked)]
        else:
            runs = self.learned(*asked)
        if any(run.reason == INTERRUPTED for run in runs):
            return tuple(runs)
        settled = tuple(self.stochastic_training.settled(run) for run in runs)
        if checkpoint is not None:
            checkpoint.finish()
        return settled

    def learned(
        self,
        seeds: Sequence[int],
        progress: Progress | bool | None,
        keep_on_interrupt: bool,
        checkpoint: Checkpoint | None,
    ) -> list[Run]:
        """What random blocks say units share; what each has of its own is not settled yet."""
        stop, training = threading.Event(), self.stochastic_training
        name, starts = self._better_start(training, seeds)
        with telling(progress, seeds, self.settings.epochs) as tell:
            return made_side_by_side(
                [
                    partial(training.run, first, seed, name, tell, stop, checkpoint)
                    for seed, first in zip(seeds, starts, strict=True)
                ],
                stop,
                keep_on_interrupt,
            )

    @cached_property
    def _sample(self) -> "LargePanel":
        """Units of all processes, few enough that each can hold them: all learn the same from
        them."""
        panel = evenly_spread(self.panel, SAMPLED, self.group)
        settings = self.settings
        unscaled = FeatureMaker.unscaled(
            panel,
            self.split,
            self.maker.rates,
            self.maker.calendar,
            settings.summary_retention,
            settings.summaries,
        )
        maker = replace(
            unscaled,
            known_scaling=self.maker.known_scaling,
            summary_scaling=self.maker.summary_scaling,
        )
        return LargePanel(settings, panel, self.split, maker)

    def _here(self, run: Run) -> Run:
        """What the first process learned of the sample, with this process's own units."""
        shared, _, _ = taken_apart(run.parameters)
        agreed = jax.tree.map(lambda x: jnp.asarray(self.group.every(np.asarray(x))[0]), shared)
        _, fixed, units = taken_apart(self.first(run.start, run.seed))
        how = f"{run.how}, for {self.panel.together.units:,} on {self.group.count} processes"
        return replace(run, parameters=put_together(agreed, fixed, units), how=how)

    def _exact(
        self,
        seeds: Sequence[int],
        progress: Progress | bool | None,
        keep_on_interrupt: bool,
        checkpoint: Checkpoint | None,
    ) -> tuple[Run, ...]:
        """Every seed from every start; each epoch walks all units, a block at a time."""
        units, group = len(self.panel.units), self.group
        most = int(group.maximum(units))
        length = self.block_length(most)
        ends = (self.split.first, self.split.train_stop, self.split.validation_stop)
        count = -(-most // length)
        train = self._recorder.blocks(*ends[:2], length, count, group)
        validation = self._recorder.blocks(*ends[1:], length, count, group)
        attempts = []
        for name in self.settings.starts:
            for seed in seeds:
                first = self.first(name, seed)
                filled = filled_up(UnitParameters.of(first), count * length).put_into(first)
                attempts.append(
                    Attempt.of(seed, name, filled, filled.trainable(), train, validation)
                )
        best = best_runs(
            attempts,
            partial(block_losses, BlockObjective(self.settings.objective)),
            self.settings.optimizer,
            progress,
            keep_on_interrupt,
            checkpoint,
            None if group.count == 1 else spread_units(group, attempts[0]),
        )
        how = f"all {self.panel.together.units:,} units in blocks of {length:,}"
        if group.count > 1:
            how += f" on {group.count} processes"
        return tuple(
            replace(run, parameters=_without_filling(run.parameters, units), how=how)
            for run in best
        )

    def block_length(self, units: int) -> int:
        """How many units a block has, so that what is held of it stays small."""
        points = self.settings.components * self.settings.nodes**self.settings.dim
        days, cohorts = self.split.train_stop - self.split.first, len(self.panel.cohorts)
        each = 2 ** len(self.panel.behaviors) * points * days * cohorts
        most = max(1, BLOCK_NUMBERS // each)
        return -(-units // -(-units // most))

    @cached_property
    def stochastic_training(self) -> StochasticTraining:
        """Training over random blocks of its units."""
        units = len(self.panel.units)
        length = min(units, max(FEWEST, min(MOST, self.block_length(units))))
        days = self.split.train_stop - self.split.first
        everyone = self.panel.together
        arrivals = float(everyone.arrivals[self.split.train].sum())
        objective = self.settings.objective
        curvature = curvature_of_units(
            self._sums, self._prior, self._rates, objective, days, everyone.units, arrivals
        )
        return StochasticTraining(
            RandomBlocks(self._recorder, self.split, length),
            BlockObjective(objective, max(1, length // SUMMED)),
            self.settings.optimizer,
            curvature,
        )

    def _better_start(
        self, training: StochasticTraining, seeds: Sequence[int]
    ) -> tuple[str, list[Crowd]]:
        """The start that validates better before any step, and every seed there."""
        found = {}
        for name in self.settings.starts:
            first = [self.first(name, seed) for seed in seeds]
            objective = training.looked_at(first[0]) if len(self.settings.starts) > 1 else 0.0
            found[name] = (objective, first)
        best = min(found, key=lambda name: found[name][0])
        return best, found[best][1]

    def first(self, name: str, seed: int) -> Crowd:
        """Parameters at the start of training, units where the hierarchy has them."""
        shape = shape_of(self.settings, self.panel, self.maker)
        crowd = first_crowd(self.settings, shape, self._starts[name], seed)
        if self.settings.unit_effects == "free":
            return crowd
        prior = self._prior
        parts = (prior.arrival, prior.response, prior.log_mean)
        return UnitParameters(*(jnp.asarray(x) for x in parts)).put_into(crowd)

    @cached_property
    def _starts(self) -> dict[str, Start]:
        found = {}
        for name in self.settings.starts:
            start = STARTS[name](self.panel, self.split, self._effort)
            largest = jnp.asarray(self.group.maximum(np.asarray(start.reference.size)))
            found[name] = replace(start, reference=replace(start.reference, size=largest))
        return found

    @cached_property
    def _effort(self) -> AbstractEffortResponse:
        """As some units of all processes say, evenly spread ones where there are many."""
        some = evenly_spread(self.panel, MOST_COMPARED, self.group)
        return EFFORT_RESPONSES[self.settings.effort_response](some, self.split)

    @cached_property
    def _recorder(self) -> BlockRecorder:
        held = None
        if self.settings.unit_effects != "free":
            held = Strengths(
                jnp.asarray(self._prior.arrival_strength),
                jnp.asarray(self._prior.response_strength),
            )
        return BlockRecorder(self.panel, self.maker, self.settings.dispersion, held)

    @cached_property
    def _sums(self) -> UnitSums:
        days = self.split.train
        return UnitSums.of(self.panel, days, people_reached(self.panel, days, self._effort))

    @cached_property
    def _rates(self) -> Float[np.ndarray, "cohort behavior"]:
        return np.asarray(next(iter(self._starts.values())).reference.rates)

    @cached_property
    def _prior(self) -> UnitPrior:
        return unit_prior(self._sums, self._rates, self.group)


def block_losses(
    objective: BlockObjective, trainable: Crowd, data: TrainingData
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Training and validation objective in blocks; gradients flow through the first only."""
    crowd = eqx.combine(trainable, data.fixed)
    value, state = objective.train(crowd, data.train)
    crowd, state = jax.lax.stop_gradient((crowd, state))
    return value, objective.validate(crowd, data.validation, state)


def _without_filling(crowd: Crowd, units: int) -> Crowd:
    own = UnitParameters.of(crowd)
    return UnitParameters(*(x[:units] for x in own)).put_into(crowd)


def spread_units(group: Group, attempt: Attempt) -> Spread:
    """Which parameters and data of an attempt belong to a process's own units."""
    shared = jax.tree.map(lambda x: np.zeros(x.shape, bool), attempt.parameters)
    own = eqx.tree_at(
        lambda crowd: (crowd.arrival.intercept, crowd.response.unit_intercept),
        shared,
        replace_fn=np.ones_like,
    )
    vector = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(own)])
    return Spread(group, vector, _data_of_units)


def _data_of_units(data: TrainingData) -> TrainingData:
    """True for arrays with a leading axis over units, or over blocks of them."""
    shared = jax.tree.map(lambda _: False, data)
    return eqx.tree_at(
        lambda d: (d.fixed.reference.log_baseline, d.train.days, d.validation.days),
        shared,
        (True, *(jax.tree.map(lambda _: True, x.days) for x in (data.train, data.validation))),
    )
