"""What everything that trains does with its seeds."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Integral

import equinox as eqx
import jax
from jaxtyping import PyTree

from dgd.errors import InputError
from dgd.learning.checkpoints import Checkpoint
from dgd.learning.loop import Attempt, Loss, Optimizer, Progress, train_attempts
from dgd.learning.progress import telling
from dgd.learning.runs import LARGEST_SEED, Run


def checked_seeds(seeds: Sequence[int]) -> list[int]:
    """The seeds as whole numbers, refused where there is none or one comes twice."""
    if isinstance(seeds, (str, bytes)) or not isinstance(seeds, Iterable):
        raise InputError(f"seeds is {seeds!r}; give a list of whole numbers like [1, 2, 3].")
    given = list(seeds)
    for seed in given:
        whole = isinstance(seed, Integral) and not isinstance(seed, bool)
        if not whole or not 0 <= seed <= LARGEST_SEED:
            raise InputError(
                f"seed {seed!r} is not a whole number from 0 to {LARGEST_SEED}; choose another."
            )
    found = [int(seed) for seed in given]
    if not found or len(set(found)) < len(found):
        raise InputError(f"seeds is {found}; give at least one seed and each only once.")
    return found


def best_of_each(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Of every seed, in the order they came, the run that validates best."""
    best: dict[int, Run] = {}
    for run in runs:
        if run.seed not in best or run.best_objective < best[run.seed].best_objective:
            best[run.seed] = run
    return tuple(best.values())


def best_runs(
    attempts: Sequence[Attempt],
    loss: Loss,
    optimizer: Optimizer,
    progress: Progress | bool | None,
    keep_on_interrupt: bool,
    checkpoint: Checkpoint | None = None,
) -> tuple[Run, ...]:
    """Make every attempt and keep, of each seed, the run that validates best.

    The data of an attempt hold, as `fixed`, the arrays that are never trained; the
    parameters of the runs are whole again.
    """
    seeds = list(dict.fromkeys(attempt.seed for attempt in attempts))
    with telling(progress, seeds, optimizer.epochs) as tell:
        made = train_attempts(attempts, loss, optimizer, tell, keep_on_interrupt, checkpoint)
    return best_of_each(
        replace(run, parameters=eqx.combine(run.parameters, attempt.data.fixed))
        for run, attempt in zip(made, attempts, strict=True)
    )


def is_trained(parameters: PyTree) -> PyTree[bool]:
    """True for every array of numbers: all of them are trained."""
    return jax.tree.map(eqx.is_inexact_array, parameters)


def warn_of_divergence(runs: Iterable[Run]) -> None:
    """Say which seeds' objectives stopped being finite; to be called by `fit` itself."""
    diverged = [run.seed for run in runs if run.diverged]
    if diverged:
        warnings.warn(
            f"training diverged for seeds {diverged}; their best parameters so far are kept: "
            "lower learning_rate or raise penalty_weight.",
            RuntimeWarning,
            stacklevel=3,
        )
