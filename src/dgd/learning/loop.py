"""Optimisation: Adam with clipping, early stopping on validation, several seeds.

The loop itself is compiled, a chunk of epochs at a time. Between chunks the
progress is told and an interruption is heard. Seeds run side by side in
threads on one compiled program, so each seed's numbers are the same however
many others are fitted with it.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, fields
from functools import partial
from os import cpu_count
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, PyTree

from dgd.learning.checkpoints import Checkpoint
from dgd.learning.course import Carry, Course
from dgd.learning.runs import DIVERGED, INTERRUPTED, PATIENT, REASONS, RUNNING, Run
from dgd.runtime import computing

EPOCHS_PER_CHUNK = 20

Made = TypeVar("Made")

Progress: TypeAlias = Callable[[int, int, float], None]
"""Told (seed, epochs done, best validation objective) now and then."""


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """How long and how fast to train."""

    epochs: int
    learning_rate: float
    clip_norm: float
    patience: int

    @staticmethod
    def of(settings: Any) -> "Optimizer":
        """As `settings` that have these four among them say."""
        return Optimizer(**{each.name: getattr(settings, each.name) for each in fields(Optimizer)})

    def transformation(self) -> optax.GradientTransformation:
        """Adam on clipped gradients."""
        clip = optax.clip_by_global_norm(self.clip_norm)
        return optax.chain(clip, optax.adam(self.learning_rate))


class Limits(NamedTuple):
    """When to stop; handed to the compiled program, so that other limits need no other one."""

    epochs: Int[Array, ""]
    patience: Int[Array, ""]


class TrainingData(NamedTuple):
    """Everything a loss needs beside the parameters that are trained."""

    fixed: PyTree
    """The arrays of the parameters that are never trained."""
    train: PyTree
    validation: PyTree


class Attempt(NamedTuple):
    """One training run to make: first parameters, and the data its loss needs."""

    seed: int
    start: str
    """The name of the place it starts from."""
    parameters: Any
    data: TrainingData

    @property
    def name(self) -> str:
        """What a checkpoint calls it."""
        return f"seed {self.seed} from {self.start}"

    @staticmethod
    def of(
        seed: int,
        start: str,
        first: Any,
        trainable: PyTree[bool],
        train: PyTree,
        validation: PyTree,
    ) -> "Attempt":
        """Train those arrays of `first` that `trainable` marks."""
        free, fixed = eqx.partition(first, trainable)
        return Attempt(seed, start, free, TrainingData(fixed, train, validation))


Loss: TypeAlias = Callable[[Any, TrainingData], tuple[Float[Array, ""], Float[Array, ""]]]
"""(parameters, data) -> training objective, validation objective."""


def train_attempts(
    attempts: Sequence[Attempt],
    loss: Loss,
    optimizer: Optimizer,
    progress: Progress | None = None,
    keep_on_interrupt: bool = False,
    checkpoint: Checkpoint | None = None,
) -> list[Run]:
    """Make every attempt, side by side, and return the runs in order.

    The parameters kept are those of the epoch with the lowest validation
    objective, the start included, so a fit is never worse on validation than
    where it began. Ctrl-C stops after the chunk under way; with
    `keep_on_interrupt` the best parameters so far are returned. With a
    `checkpoint` every run begins where it was saved, and is saved when it is
    due, stopped or done.
    """
    vectors = [ravel_pytree(attempt.parameters) for attempt in attempts]
    unravel = vectors[0][1]
    carries = [_first(vector, optimizer) for vector, _ in vectors]
    limits = Limits(jnp.asarray(optimizer.epochs), jnp.asarray(optimizer.patience))
    courses = [
        Course(attempt.name, carry, checkpoint)
        for attempt, carry in zip(attempts, carries, strict=True)
    ]
    chunk = partial(_chunk, partial(_flat_loss, loss, unravel), optimizer)
    compiled = jax.jit(chunk).lower(carries[0], attempts[0].data, limits).compile()
    stop = threading.Event()
    runs = made_side_by_side(
        [
            partial(_make, attempt, course, compiled, limits, unravel, progress, stop)
            for attempt, course in zip(attempts, courses, strict=True)
        ],
        stop,
        keep_on_interrupt,
    )
    if checkpoint is not None and not any(run.reason == INTERRUPTED for run in runs):
        checkpoint.finish()
    return runs


def made_side_by_side(
    makers: Sequence[Callable[[], Made]],
    stop: threading.Event,
    keep_on_interrupt: bool,
) -> list[Made]:
    """What each of the `makers` makes, in threads that hear `stop`.

    Ctrl-C sets it; with `keep_on_interrupt` what they have made by then is returned.
    """
    tasks = [Task(make) for make in makers]
    workers = min(len(tasks), cpu_count() or 1)
    with ThreadPoolExecutor(workers, thread_name_prefix="dgd-seed") as pool:
        try:
            _hand_out(tasks, pool)
            _wait([task.future for task in tasks])
        except KeyboardInterrupt:
            stop.set()
            if not keep_on_interrupt:
                raise
            _hand_out(tasks, pool)
        except BaseException:
            stop.set()
            raise
    return [task.future.result() for task in tasks]


class Task(Generic[Made]):
    """Something that is made once, however often it is handed out.

    An interruption may come before, within or after a submission, and nobody can tell which.
    """

    def __init__(self, make: Callable[[], Made]) -> None:
        self.make = make
        self.future: Future[Made] = Future()
        self.claim = threading.Lock()

    def __call__(self) -> None:
        if not self.claim.acquire(blocking=False):
            return
        try:
            self.future.set_result(self.make())
        except BaseException as error:
            self.future.set_exception(error)


def _hand_out(tasks: Sequence[Task[Any]], pool: ThreadPoolExecutor) -> None:
    for task in tasks:
        pool.submit(task)


def _wait(futures: Sequence[Future[Any]]) -> None:
    """Wait in short steps, so that an interruption is heard while threads compute."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=0.1, return_when=FIRST_COMPLETED)
        for future in done:
            future.result()


def _make(
    attempt: Attempt,
    course: Course,
    compiled: Callable[[Carry, PyTree, Limits], tuple[Carry, tuple[Array, Array]]],
    limits: Limits,
    unravel: Callable[[Array], Any],
    progress: Progress | None,
    stop: threading.Event,
) -> Run:
    most = int(limits.epochs)

    def tell() -> None:
        if progress is not None and course.epoch:
            progress(attempt.seed, min(course.epoch, most), float(course.carry.best_objective))

    with computing():
        tell()
        while course.running and course.epoch <= most and not stop.is_set():
            reach = jnp.asarray(course.reach(most, EPOCHS_PER_CHUNK))
            course.went(*compiled(course.carry, attempt.data, limits._replace(epochs=reach)))
            tell()
        course.rest()
        parameters = unravel(course.carry.best)
    carry, trained, validated = course.standing
    interrupted = stop.is_set() and course.running and course.epoch <= most
    return Run(
        seed=attempt.seed,
        start=attempt.start,
        parameters=parameters,
        best_epoch=int(carry.best_epoch),
        best_objective=float(carry.best_objective),
        train_objective=trained,
        validation_objective=validated,
        reason=INTERRUPTED if interrupted else REASONS[int(carry.status)],
    )


def _first(parameters: Float[Array, " parameter"], optimizer: Optimizer) -> Carry:
    return Carry(
        parameters=parameters,
        moments=optimizer.transformation().init(parameters),
        best=parameters,
        best_objective=jnp.asarray(jnp.inf),
        best_epoch=jnp.asarray(0),
        epoch=jnp.asarray(0),
        status=jnp.asarray(RUNNING),
    )


def _flat_loss(
    loss: Loss, unravel: Callable[[Array], Any], parameters: Array, data: PyTree
) -> tuple[Array, Array]:
    return loss(unravel(parameters), data)


def _chunk(
    loss: Loss,
    optimizer: Optimizer,
    carry: Carry,
    data: PyTree,
    limits: Limits,
) -> tuple[Carry, tuple[Array, Array]]:
    """Run the next epochs; once a seed has stopped the rest of the chunk is skipped."""
    nothing = (jnp.asarray(jnp.nan), jnp.asarray(jnp.nan))

    def epoch(carry: Carry, _: None) -> tuple[Carry, tuple[Array, Array]]:
        going = (carry.status == RUNNING) & (carry.epoch <= limits.epochs)
        return jax.lax.cond(
            going,
            lambda c: _epoch(loss, optimizer, c, data, limits.patience),
            lambda c: (c, nothing),
            carry,
        )

    return jax.lax.scan(epoch, carry, None, length=EPOCHS_PER_CHUNK)


def _epoch(
    loss: Loss,
    optimizer: Optimizer,
    carry: Carry,
    data: PyTree,
    patience: Int[Array, ""],
) -> tuple[Carry, tuple[Array, Array]]:
    """Score the parameters as they stand, remember the best, then take one step."""
    (value, validation), gradient = jax.value_and_grad(loss, has_aux=True)(carry.parameters, data)
    fine: Bool[Array, ""] = jnp.isfinite(gradient).all()
    finite = jnp.isfinite(value) & jnp.isfinite(validation) & fine
    better = finite & (validation < carry.best_objective)
    best_epoch = jnp.where(better, carry.epoch, carry.best_epoch)
    update, moments = optimizer.transformation().update(gradient, carry.moments)
    waited = carry.epoch - best_epoch >= patience
    following = Carry(
        parameters=optax.apply_updates(carry.parameters, update),
        moments=moments,
        best=jnp.where(better, carry.parameters, carry.best),
        best_objective=jnp.where(better, validation, carry.best_objective),
        best_epoch=best_epoch,
        epoch=carry.epoch + 1,
        status=jnp.where(finite, jnp.where(waited, PATIENT, RUNNING), DIVERGED),
    )
    return following, (value, validation)
