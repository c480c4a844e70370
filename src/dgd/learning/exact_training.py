"""Exact training on many units: every epoch walks all of them, a block at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from dgd.learning.block_objective import BlockObjective
from dgd.learning.block_steps import filled_up, looked_at, surprise_of, taken_apart
from dgd.learning.checkpoints import Checkpoint
from dgd.learning.loop import Attempt, Progress, TrainingData
from dgd.learning.runs import Run
from dgd.learning.seeds import best_runs
from dgd.learning.settings import Settings
from dgd.learning.spread import Spread
from dgd.learning.unit_blocks import BlockRecorder, SharedSurprise, UnitBlocks
from dgd.model.crowd import Crowd
from dgd.model.unit_parameters import UnitParameters
from dgd.panel.split import Split
from dgd.processes.group import Group


@dataclass(frozen=True, eq=False)
class ExactTraining:
    """Exact training of one panel, whose units may be spread over processes."""

    settings: Settings
    recorder: BlockRecorder
    split: Split
    group: Group
    count: int
    """Blocks of every process."""
    length: int
    """Units in a block."""

    def runs(
        self,
        first: Callable[[str, int], Crowd],
        seeds: Sequence[int],
        progress: Progress | bool | None,
        keep_on_interrupt: bool,
        checkpoint: Checkpoint | None,
    ) -> tuple[Run, ...]:
        """The best run of every seed; `first` has the parameters of a start and seed."""
        attempts = self._attempts(first, seeds)
        best = best_runs(
            attempts,
            partial(block_losses, BlockObjective(self.settings.objective)),
            self.settings.optimizer,
            progress,
            keep_on_interrupt,
            checkpoint,
            None if self.group.count == 1 else spread_units(self.group, attempts[0]),
        )
        units = len(self.recorder.panel.units)
        return tuple(
            replace(run, parameters=_without_filling(run.parameters, units), how=self.how)
            for run in best
        )

    @property
    def how(self) -> str:
        """What a summary says of it."""
        said = f"all {self.recorder.panel.together.units:,} units in blocks of {self.length:,}"
        return said if self.group.count == 1 else f"{said} on {self.group.count} processes"

    def _attempts(self, first: Callable[[str, int], Crowd], seeds: Sequence[int]) -> list[Attempt]:
        """Every seed from every start."""
        attempts = []
        for name in self.settings.starts:
            for seed in seeds:
                crowd = first(name, seed)
                whole = self._filled(UnitParameters.of(crowd)).put_into(crowd)
                attempts.append(Attempt.of(seed, name, whole, whole.trainable(), *self._days))
        return attempts

    def validated(self, crowd: Crowd) -> float:
        """The validation objective of all units, wherever a crowd's parameters come from."""
        parts = taken_apart(crowd)
        objective, units = BlockObjective(self.settings.objective), self._filled(parts.units)
        return float(looked_at(objective, parts.shared, units, parts.fixed, *self._days))

    def surprise(self, crowd: Crowd) -> SharedSurprise:
        """What all units make of their arrival environment on the training days."""
        parts = taken_apart(crowd)
        return surprise_of(parts.shared, self._filled(parts.units), parts.fixed, self._days[0])

    @cached_property
    def _days(self) -> tuple[UnitBlocks, UnitBlocks]:
        """Training and validation days of all units."""
        split, sized = self.split, (self.length, self.count, self.group)
        return (
            self.recorder.blocks(split.first, split.train_stop, *sized),
            self.recorder.blocks(split.train_stop, split.validation_stop, *sized),
        )

    def _filled(self, units: UnitParameters) -> UnitParameters:
        return filled_up(units, self.count * self.length)


def block_losses(
    objective: BlockObjective, trainable: Crowd, data: TrainingData
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Training and validation objective in blocks; gradients flow through the first only."""
    crowd = eqx.combine(trainable, data.fixed)
    value, state = objective.train(crowd, data.train)
    crowd, state = jax.lax.stop_gradient((crowd, state))
    return value, objective.validate(crowd, data.validation, state)


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


def _without_filling(crowd: Crowd, units: int) -> Crowd:
    own = UnitParameters.of(crowd)
    return UnitParameters(*(x[:units] for x in own)).put_into(crowd)
