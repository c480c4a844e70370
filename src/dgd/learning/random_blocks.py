"""Random blocks of a panel's units, each standing for all of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int

from dgd.learning.unit_blocks import BlockRecorder, UnitBlocks
from dgd.panel.some_units import blocks_of_units
from dgd.panel.split import Split

VALIDATED = 2
"""Blocks of units in the validation sample."""
SPARE = 6.0
"""Standard deviations of room in the lists of what a random block has shown."""


@dataclass(frozen=True, eq=False)
class RandomBlocks:
    """The panel as training over random blocks sees it."""

    recorder: BlockRecorder
    split: Split
    length: int
    """Units in a block."""

    @property
    def units(self) -> int:
        return len(self.recorder.panel.units)

    def stood_for(self, units: Int[np.ndarray, " some"]) -> float:
        """How many of all units, wherever they are, each of some stands for."""
        return self.recorder.panel.together.units / len(units)

    def drawn(self, seed: int) -> Iterator[Int[np.ndarray, " some"]]:
        """Blocks of units without end; every unit comes once before any comes again."""
        turn = 0
        while True:
            order = np.random.default_rng([seed, turn]).permutation(self.units)
            for first in range(0, self.units - self.length + 1, self.length):
                yield np.sort(order[first : first + self.length])
            turn += 1

    def block(self, units: Int[np.ndarray, " some"]) -> UnitBlocks:
        """The training days of some units, standing for all."""
        start, stop = self.split.first, self.split.train_stop
        days = self.recorder.days(units, start, stop, self.length, self._room)
        return self.recorder.standing_for_all([days], start, stop, self.stood_for(units))

    @cached_property
    def sample(self) -> Int[np.ndarray, " some"]:
        """The units on which validation is looked at, a few blocks of them."""
        wanted = min(self.units, VALIDATED * self.length)
        return np.sort(np.random.default_rng(0).permutation(self.units)[:wanted])

    @cached_property
    def sampled_days(self) -> tuple[UnitBlocks, UnitBlocks]:
        """Training and validation days of the sample, in blocks that stand for all units."""
        ends = (self.split.first, self.split.train_stop, self.split.validation_stop)
        return self._sampled(*ends[:2]), self._sampled(*ends[1:])

    def one_after_another(self) -> Iterator[Int[np.ndarray, " some"]]:
        """Blocks that hold every unit once."""
        yield from blocks_of_units(self.units, self.length)

    def _sampled(self, start: int, stop: int) -> UnitBlocks:
        parts = [
            self.recorder.days(self.sample[first : first + self.length], start, stop, self.length)
            for first in range(0, len(self.sample), self.length)
        ]
        return self.recorder.standing_for_all(parts, start, stop, self.stood_for(self.sample))

    @cached_property
    def _room(self) -> tuple[int, int]:
        """Cells and entries that hardly any random block exceeds, so that one program serves."""
        counts = self.recorder.panel.counts.between(self.split.first, self.split.train_stop)
        entries = np.diff(counts.starts)
        opens = np.diff(counts.cell, prepend=-1) != 0
        cells = np.bincount(counts.unit[opens], minlength=self.units)
        some = self.length
        found = [some * n.mean() + SPARE * np.sqrt(some) * n.std() + 1 for n in (cells, entries)]
        return int(found[0]), int(found[1])
