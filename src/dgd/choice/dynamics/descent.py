"""Descent by slopes and their changes, stopped by validation: far fewer steps than Adam's.

Whatever the loss of the compiled loop (`learning.loop`) is can be walked down here too, and what
comes back are the same runs.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from scipy.optimize import minimize

from dgd.learning.loop import Attempt, Loss, Optimizer, Progress, TrainingData, made_side_by_side
from dgd.learning.progress import telling
from dgd.learning.runs import CONVERGED, INTERRUPTED, PATIENT, REASONS, RUNNING, Run
from dgd.learning.seeds import best_of_each
from dgd.runtime import computing

FLAT = 1e-7
"""A descent has converged where no entry of the slope is larger."""

ValueAndSlope = Callable[[Any, TrainingData], tuple[tuple[Any, Any], Any]]
"""(parameters as a vector, data) -> ((objective, validation objective), slope)."""


def descended_runs(
    attempts: Sequence[Attempt],
    loss: Loss,
    optimizer: Optimizer,
    progress: Progress | bool | None,
    keep_on_interrupt: bool,
) -> tuple[Run, ...]:
    """Make every attempt and keep, of each seed, the run that validates best.

    What is kept of a run is its step of the lowest validation objective, the start included; of
    the optimiser's settings the most steps and patience are used.
    """
    seeds = list(dict.fromkeys(attempt.seed for attempt in attempts))
    vectors, unravels = zip(*(ravel_pytree(each.parameters) for each in attempts), strict=True)
    valued = jax.jit(jax.value_and_grad(partial(_flat, loss, unravels[0]), has_aux=True))
    stop = threading.Event()
    with telling(progress, seeds, optimizer.epochs) as tell:
        courses = [
            _Course(attempt, np.asarray(vector), valued, optimizer, tell, stop)
            for attempt, vector in zip(attempts, vectors, strict=True)
        ]
        runs = made_side_by_side([course.walked for course in courses], stop, keep_on_interrupt)
    return best_of_each(
        replace(run, parameters=eqx.combine(unravel(run.parameters), attempt.data.fixed))
        for run, unravel, attempt in zip(runs, unravels, attempts, strict=True)
    )


class _Ended(Exception):
    """There is a reason to take no more steps."""


class _Course:
    """One attempt on its way down."""

    def __init__(
        self,
        attempt: Attempt,
        start: np.ndarray,
        valued: ValueAndSlope,
        optimizer: Optimizer,
        tell: Progress | None,
        stop: threading.Event,
    ) -> None:
        self.attempt, self.start, self.best = attempt, start, start
        self.valued, self.optimizer, self.tell, self.stop = valued, optimizer, tell, stop
        self.values: list[float] = []
        self.validations: list[float] = []
        self.best_step = 0
        self.reason = REASONS[RUNNING]

    def walked(self) -> Run:
        most = self.optimizer.epochs
        options = {"maxiter": most, "maxfun": most, "gtol": FLAT, "ftol": 0.0}
        try:
            end = minimize(self.step, self.start, jac=True, method="L-BFGS-B", options=options)
            if np.abs(end.jac).max(initial=0.0) <= FLAT:
                self.reason = CONVERGED
        except _Ended:
            pass
        with computing():
            kept = jnp.asarray(self.best)
        return Run(
            seed=self.attempt.seed,
            start=self.attempt.start,
            parameters=kept,
            best_epoch=self.best_step,
            best_objective=self.validations[self.best_step],
            train_objective=np.array(self.values),
            validation_objective=np.array(self.validations),
            reason=self.reason,
        )

    def step(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Objective and slope; what a step that leads out of all numbers finds is no way down."""
        if self.values:
            self._refuse_to_go_on()
        with computing():
            (value, validation), slope = self.valued(jnp.asarray(vector), self.attempt.data)
            found = float(value), np.asarray(slope)
        self.values.append(found[0])
        self.validations.append(float(validation))
        sound = np.isfinite(found[0]) and np.isfinite(found[1]).all()
        if sound and self.validations[-1] < self.validations[self.best_step]:
            self.best_step, self.best = len(self.values) - 1, vector.copy()
        if self.tell is not None:
            lowest = self.validations[self.best_step]
            self.tell(self.attempt.seed, len(self.values), lowest)
        return found if sound else (np.inf, np.zeros_like(vector))

    def _refuse_to_go_on(self) -> None:
        if self.stop.is_set():
            self.reason = INTERRUPTED
            raise _Ended
        if len(self.values) - self.best_step > self.optimizer.patience:
            self.reason = REASONS[PATIENT]
            raise _Ended


def _flat(loss: Loss, unravel: Callable[..., Any], vector: Any, data: TrainingData) -> Any:
    return loss(unravel(vector), data)
