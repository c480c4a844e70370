r"""Training over random blocks of units, for panels too large to walk whole in every step.

A step sees some units, drawn without replacement until all had their turn, and takes what they say
for what all say: sums over units are weighed up and unbiased. What units share moves by Adam, at a
rate that falls when validation stops improving, and is averaged over the steps. What a unit has of
its own is nearly settled by its own counts: it moves by a damped Newton step whenever the unit is
seen, and twice more, for every unit, when what all share stands still.

Validation is that of a fixed sample of units, the same for all seeds and starts.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dgd.learning.block_objective import BlockObjective
from dgd.learning.block_steps import (
    Moving,
    Own,
    Parts,
    filled_up,
    first_move,
    looked_at,
    put_together,
    slopes_of_units,
    step,
    taken_apart,
)
from dgd.learning.checkpoints import Checkpoint
from dgd.learning.loop import Optimizer, Progress
from dgd.learning.random_blocks import RandomBlocks
from dgd.learning.runs import DIVERGED, INTERRUPTED, PATIENT, REASONS, RUNNING, Run
from dgd.learning.unit_blocks import SharedSurprise
from dgd.learning.unit_curvature import Curvature
from dgd.model.crowd import Crowd
from dgd.model.unit_parameters import UnitParameters
from dgd.runtime import computing

CHECKED = 10
"""Steps between two looks at the validation sample."""
PATIENT_CHECKS = 3
"""Looks without improvement after which the rate falls."""
FALLS = 0.25
"""By what it falls."""
SLOWEST = 0.02
"""Share of the first rate at which training ends."""
IMPROVED = 1e-5
"""Gains of the validation objective below this are none."""
DAMPED = 0.7
"""Share of a Newton step that units take."""
SETTLED = 2
"""How often every unit moves at the end."""


class Going(NamedTuple):
    """Where a run stands, and whatever its next step needs."""

    moving: Moving
    arrival: Float[np.ndarray, "unit cohort"]
    response: Float[np.ndarray, "unit behavior"]
    best: Crowd
    """What units share, at the best look."""
    best_objective: Float[np.ndarray, ""]
    best_check: Int[np.ndarray, ""]
    rate: Float[np.ndarray, ""]
    waited: Int[np.ndarray, ""]
    steps: Int[np.ndarray, ""]
    status: Int[np.ndarray, ""]
    trained: Float[np.ndarray, " check"]
    validated: Float[np.ndarray, " check"]


@dataclass(frozen=True, eq=False)
class StochasticTraining:
    """Training of one panel over random blocks; seeds and starts share its programs."""

    blocks: RandomBlocks
    objective: BlockObjective
    optimizer: Optimizer
    curvature: Curvature

    @property
    def how(self) -> str:
        """What a summary says of it."""
        return (
            f"random blocks of {self.blocks.length:,} of {self.blocks.units:,} units, validated on "
            f"{len(self.blocks.sample):,}"
        )

    @computing()
    def run(
        self,
        first: Crowd,
        seed: int,
        start: str,
        progress: Progress | None,
        stop: threading.Event,
        checkpoint: Checkpoint | None,
    ) -> Run:
        """Train one seed from one start until what units share stands still."""
        name, parts, most = f"seed {seed} from {start}", taken_apart(first), self.optimizer.epochs
        going = _begun(parts, self.optimizer.learning_rate)
        kept = None if checkpoint is None else checkpoint.restored(name, going)
        going = going if kept is None else kept[0]
        turns = islice(self.blocks.drawn(seed), int(going.steps), None)
        while _runs(going, most) and not stop.is_set():
            going = self._checked(parts, self._stepped(parts, going, turns))
            if progress is not None:
                done = min(int(going.steps), most)
                progress(seed, done, float(going.best_objective))
            over = stop.is_set() or not _runs(going, most)
            if checkpoint is not None and (over or checkpoint.due(name)):
                checkpoint.save(name, going)
        crowd = put_together(going.best, parts.fixed, _units(going, parts))
        return Run(
            seed=seed,
            start=start,
            parameters=crowd,
            best_epoch=int(going.best_check),
            best_objective=float(going.best_objective),
            train_objective=going.trained,
            validation_objective=going.validated,
            reason=INTERRUPTED if _runs(going, most) else REASONS[int(going.status)],
            how=self.how,
        )

    def looked_at(self, crowd: Crowd) -> float:
        """The validation objective of the sample, before any step."""
        parts = taken_apart(crowd)
        return self._look(parts, _begun(parts, 0.0), parts.shared)

    def settled(self, run: Run, surprise: SharedSurprise) -> Run:
        """The same run after every unit has moved, given what all share: parameters, and how far
        arrivals surprised all of them. So no unit's numbers depend on those it is moved with."""
        with computing():
            parts = taken_apart(run.parameters)
            going = _begun(parts, self.optimizer.learning_rate)
            for _ in range(SETTLED):
                for units in self.blocks.one_after_another():
                    going = self._moved(parts, going, parts.shared, units, surprise)
            crowd = put_together(parts.shared, parts.fixed, _units(going, parts))
        return replace(run, parameters=crowd)

    def _stepped(
        self, parts: Parts, going: Going, turns: Iterator[Int[np.ndarray, " some"]]
    ) -> Going:
        """After the next steps, up to a look at the validation sample."""
        values = []
        for units in islice(turns, CHECKED):
            own, baseline = self._block(going, parts, units)
            days, rate = self.blocks.block(units), jnp.asarray(going.rate)
            value, moving, slopes = step(
                self.objective,
                self.optimizer.clip_norm,
                going.moving,
                rate,
                own,
                parts.fixed,
                baseline,
                days,
            )
            going = self._with_slopes(going._replace(moving=moving), units, slopes)
            values.append(float(value))
        return going._replace(
            steps=np.asarray(int(going.steps) + len(values)),
            trained=np.append(going.trained, np.mean(values)),
        )

    def _checked(self, parts: Parts, going: Going) -> Going:
        """After a look at the validation sample, whose units move first."""
        average = going.moving.average
        sample = self.blocks.sample
        for first in range(0, len(sample), self.blocks.length):
            some = sample[first : first + self.blocks.length]
            going = self._moved(parts, going, average, some)
        found = self._look(parts, going, average)
        finite = bool(np.isfinite(found) and np.isfinite(going.trained[-1]))
        better = finite and found < float(going.best_objective) - IMPROVED
        waited, rate, moving = (
            0 if better else int(going.waited) + 1,
            float(going.rate),
            going.moving,
        )
        if waited >= PATIENT_CHECKS:
            rate, waited, moving = FALLS * rate, 0, moving._replace(shared=average)
        slow = rate < SLOWEST * self.optimizer.learning_rate
        return going._replace(
            moving=moving,
            best=average if better else going.best,
            best_objective=np.asarray(found if better else float(going.best_objective)),
            best_check=np.asarray(len(going.validated) if better else int(going.best_check)),
            rate=np.asarray(rate),
            waited=np.asarray(waited),
            status=np.asarray((PATIENT if slow else RUNNING) if finite else DIVERGED),
            validated=np.append(going.validated, found),
        )

    def _look(self, parts: Parts, going: Going, shared: Crowd) -> float:
        train, validation = self.blocks.sampled_days
        units = filled_up(_units(going, parts, self.blocks.sample), train.days.present.size)
        return float(looked_at(self.objective, shared, units, parts.fixed, train, validation))

    def _moved(
        self,
        parts: Parts,
        going: Going,
        shared: Crowd,
        units: Int[np.ndarray, " some"],
        surprise: SharedSurprise | None = None,
    ) -> Going:
        """After some units have moved by themselves; their own surprises are taken for those of
        all where these are not known."""
        own, baseline = self._block(going, parts, units)
        days = replace(self.blocks.block(units), shared=surprise)
        slopes = slopes_of_units(self.objective, shared, own, parts.fixed, baseline, days)
        return self._with_slopes(going, units, slopes)

    def _block(
        self, going: Going, parts: Parts, units: Int[np.ndarray, " some"]
    ) -> tuple[Own, Array]:
        """What some units have of their own, and their baselines, filled up to a block."""
        whole = filled_up(_units(going, parts, units), self.blocks.length)
        return Own(whole.arrival, whole.response), whole.log_baseline

    def _with_slopes(self, going: Going, units: Int[np.ndarray, " some"], slopes: Own) -> Going:
        """After a damped Newton step of some units, each of which stood for many."""
        weight = self.blocks.stood_for(units)
        found = []
        for values, slope, bend in zip(
            (going.arrival, going.response), slopes, self.curvature, strict=True
        ):
            newton = np.asarray(slope)[: len(units)] / weight / bend[units]
            moved = values.copy()
            moved[units] -= DAMPED * np.where(np.isfinite(newton), newton, 0.0)
            found.append(moved)
        return going._replace(arrival=found[0], response=found[1])


def _begun(parts: Parts, rate: float) -> Going:
    """Where a run begins."""
    return Going(
        moving=first_move(parts.shared),
        arrival=np.array(parts.units.arrival),
        response=np.array(parts.units.response),
        best=parts.shared,
        best_objective=np.asarray(np.inf),
        best_check=np.asarray(0),
        rate=np.asarray(rate),
        waited=np.asarray(0),
        steps=np.asarray(0),
        status=np.asarray(RUNNING),
        trained=np.zeros(0),
        validated=np.zeros(0),
    )


def _runs(going: Going, most: int) -> bool:
    return int(going.status) == RUNNING and int(going.steps) < most


def _units(
    going: Going, parts: Parts, some: Int[np.ndarray, " some"] | None = None
) -> UnitParameters:
    """All units as they stand, or some of them."""
    chosen = slice(None) if some is None else some
    baseline = np.asarray(parts.units.log_baseline)
    found = (going.arrival[chosen], going.response[chosen], baseline[chosen])
    return UnitParameters(*(jnp.asarray(x) for x in found))
