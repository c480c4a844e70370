"""The course of one run: what an epoch hands to the next, the objectives so far, and the
checkpoint that keeps both."""

from time import monotonic
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from dgd.learning.checkpoints import Checkpoint
from dgd.learning.runs import REASONS, RUNNING

PARTS = 4
"""A checkpoint's interval is at least so many times what is computed in one go, unless an epoch
takes longer."""


class Carry(NamedTuple):
    """Everything one epoch hands to the next."""

    parameters: Float[Array, " parameter"]
    moments: PyTree
    best: Float[Array, " parameter"]
    best_objective: Float[Array, ""]
    best_epoch: Int[Array, ""]
    epoch: Int[Array, ""]
    status: Int[Array, ""]


class Standing(NamedTuple):
    """What a run needs to go on."""

    carry: Carry
    train_objective: Float[np.ndarray, " epoch"]
    validation_objective: Float[np.ndarray, " epoch"]


class Course:
    """One run from its first carry on, or from where a checkpoint has it."""

    def __init__(self, name: str, first: Carry, checkpoint: Checkpoint | None) -> None:
        self.name = name
        self.carry = first
        self.checkpoint = checkpoint
        self.parts = [(np.zeros(0), np.zeros(0))]
        self.seconds = float("inf")
        """How long an epoch takes; not known yet."""
        self.began = monotonic()
        self.saved = True
        if checkpoint is not None:
            self._restore(checkpoint)

    @property
    def epoch(self) -> int:
        """How many epochs are done."""
        return int(self.carry.epoch)

    @property
    def running(self) -> bool:
        return int(self.carry.status) == RUNNING

    @property
    def standing(self) -> Standing:
        train, validation = (np.concatenate(each) for each in zip(*self.parts, strict=True))
        return Standing(self.carry, train, validation)

    def reach(self, most: int, epochs: int) -> int:
        """The last epoch of those to compute in one go: `epochs` of them, or fewer where a
        checkpoint would have to wait for them too long."""
        if self.checkpoint is None:
            return most
        self.began = monotonic()
        affordable = self.checkpoint.seconds / PARTS / max(self.seconds, 1e-9)
        return min(most, self.epoch + max(1, int(min(epochs, affordable))) - 1)

    def went(self, carry: Carry, losses: tuple[Array, Array]) -> None:
        """Take what the next epochs made of the run, and save it where that is due."""
        done = int(carry.epoch) - self.epoch
        self.parts.append((np.asarray(losses[0])[:done], np.asarray(losses[1])[:done]))
        self.carry, self.saved = carry, False
        took = monotonic() - self.began
        self.seconds = took / max(done, 1)
        if self.checkpoint is not None and self.checkpoint.due(self.name, ahead=took):
            self.rest()

    def rest(self) -> None:
        """Save where the run stands, unless that is saved."""
        if self.checkpoint is not None and not self.saved:
            self.checkpoint.save(self.name, self.standing)
            self.saved = True

    def _restore(self, checkpoint: Checkpoint) -> None:
        """Go on from where the run stood."""
        kept = checkpoint.restored(self.name, Standing(self.carry, *self.parts[0]))
        if kept is None:
            return
        standing = self._checked(checkpoint, kept[0])
        self.carry = standing.carry
        self.parts = [(standing.train_objective, standing.validation_objective)]

    @staticmethod
    def _checked(checkpoint: Checkpoint, found: Standing) -> Standing:
        carry, train, validation = found
        told = int(carry.epoch) == len(train) == len(validation)
        if not told or int(carry.status) not in REASONS:
            raise checkpoint.unreadable()
        return found
