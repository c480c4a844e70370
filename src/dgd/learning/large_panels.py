"""Training on panels of many units: exact in blocks, or over random blocks where these are faster.

From `MANY_UNITS` units on, each is drawn to what all units are like (`unit_prior.py`), and units
are walked in blocks with sparse counts. From `STOCHASTIC_UNITS` on, steps see random blocks instead
of all units; the summary of a fit says which it was.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from dgd.errors import InputError
from dgd.learning.block_objective import BlockObjective
from dgd.learning.block_steps import put_together, taken_apart
from dgd.learning.building import first_crowd, shape_of
from dgd.learning.checkpoints import Checkpoint
from dgd.learning.cost import refuse_units_beyond_memory
from dgd.learning.effort_start import EFFORT_RESPONSES
from dgd.learning.exact_training import ExactTraining
from dgd.learning.loop import Progress, made_side_by_side
from dgd.learning.progress import telling
from dgd.learning.random_blocks import RandomBlocks
from dgd.learning.runs import INTERRUPTED, Run
from dgd.learning.settings import Settings
from dgd.learning.starts import STARTS, Start, people_reached, reference_size
from dgd.learning.stochastic import StochasticTraining
from dgd.learning.unit_blocks import BlockRecorder, Strengths
from dgd.learning.unit_curvature import curvature_of_units
from dgd.learning.unit_prior import MANY_UNITS, UnitPrior, UnitSums, unit_prior
from dgd.model.crowd import Crowd
from dgd.model.effort import AbstractEffortResponse
from dgd.model.unit_parameters import UnitParameters
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.shared import BroughtTogether
from dgd.panel.some_units import standing_for_all
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
"""Units that random blocks are drawn from, at most; every process holds all of them."""
SUMMED = 4
"""One in so many units of a random block is asked what cohorts are expected to do."""


def has_many_units(settings: Settings, panel: Panel, group: Group = ALONE) -> bool:
    """Whether units are walked in blocks; events by their own context never are."""
    many = settings.supervision == "counts" and panel.together.units >= MANY_UNITS
    if settings.innovations == "learned" and (many or group.count > 1):
        raise InputError(
            f'innovations is "{settings.innovations}", which is learned for fewer than '
            f"{MANY_UNITS} units by one process, and there are {panel.together.units}; leave it at "
            '"auto".'
        )
    if group.count > 1:
        _refuse_to_spread(settings, panel)
        return True
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
    largest: Float[np.ndarray, " cohort"] | None = None
    """Reference sizes of all units, where these units stand for them."""

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
        asked = (seeds, progress, keep_on_interrupt, checkpoint)
        if not self.stochastic:
            self._refuse_beyond_memory()
            return self.exact_training.runs(self.first, *asked)
        sample = self._sample
        learned = sample.learned(*asked)
        runs = [self._of_all(run) for run in learned]
        if any(run.reason == INTERRUPTED for run in runs):
            return tuple(runs)
        settled = tuple(
            self.stochastic_training.settled(run, sample.exact_training.surprise(some.parameters))
            for run, some in zip(runs, learned, strict=True)
        )
        if checkpoint is not None:
            checkpoint.finish()
        return settled

    def _refuse_beyond_memory(self) -> None:
        days = self.split.validation_stop - self.split.first
        features = 1 + len(self.panel.behaviors) + len(self.panel.feature_names)
        cells = (len(self.panel.units), len(self.panel.cohorts))
        refuse_units_beyond_memory(*cells, days, features)

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
        """The units that random blocks are drawn from, few enough that every process can hold
        them: all learn the same from them, and the same as one process would."""
        panel = self._brought_together(SAMPLED)
        if panel.units == self.panel.units:
            return self
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
        return LargePanel(settings, panel, self.split, maker, largest=self._largest)

    def _of_all(self, run: Run) -> Run:
        """What was learned from the sample, by the first process, with this process's own units:
        those of the sample as they were learned, others where the hierarchy has them."""
        if self._sample is self:
            return run
        shared, _, learned = taken_apart(run.parameters)
        agreed = jax.tree.map(lambda x: jnp.asarray(self.group.every(np.asarray(x))[0]), shared)
        _, fixed, first = taken_apart(self.first(run.start, run.seed))
        place = {unit: number for number, unit in enumerate(self._sample.panel.units)}
        own = [number for number, unit in enumerate(self.panel.units) if unit in place]
        there = np.array([place[self.panel.units[number]] for number in own], np.int64)
        here, baseline = jnp.asarray(np.array(own, np.int64)), first.log_baseline
        level = (learned.arrival + learned.log_baseline)[there]
        units = UnitParameters(
            first.arrival.at[here].set(level - baseline[here]),
            first.response.at[here].set(learned.response[there]),
            baseline,
        )
        how = f"{run.how}, for all {self.panel.together.units:,}"
        if self.group.count > 1:
            how += f" on {self.group.count} processes"
        return replace(run, parameters=put_together(agreed, fixed, units), how=how)

    @cached_property
    def exact_training(self) -> ExactTraining:
        """Training that walks all units in every epoch."""
        most = int(self.group.maximum(len(self.panel.units)))
        length = self.block_length(most)
        count = -(-most // length)
        return ExactTraining(self.settings, self._recorder, self.split, self.group, count, length)

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
            size = jnp.asarray(self._largest)
            found[name] = replace(start, reference=replace(start.reference, size=size))
        return found

    @cached_property
    def _largest(self) -> Float[np.ndarray, " cohort"]:
        """Reference sizes of all units, wherever they are."""
        if self.largest is not None:
            return self.largest
        return self.group.maximum(reference_size(self.panel, self.split))

    @cached_property
    def _effort(self) -> AbstractEffortResponse:
        """As units of all processes say, some of them where there are many."""
        some = self._brought_together(MOST_COMPARED)
        return EFFORT_RESPONSES[self.settings.effort_response](some, self.split)

    def _brought_together(self, most: int) -> Panel:
        """At most so many units of all processes."""
        units = standing_for_all(self.panel, most, self.group)
        return BroughtTogether.of(self.panel, units, self.group).whole

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
