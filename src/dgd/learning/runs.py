"""One seed's training: what it found, how it got there, and how a file keeps it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.files import declared
from dgd.files.tensors import Tensors

RUNNING, PATIENT, DIVERGED = 0, 1, 2
REASONS = {
    RUNNING: "all epochs done",
    PATIENT: "validation stopped improving",
    DIVERGED: "diverged: the objective was no longer finite",
}
INTERRUPTED = "interrupted"
CONVERGED, UNCONVERGED = "converged", "not converged: the slope did not vanish"
ENDS = (*REASONS.values(), INTERRUPTED, CONVERGED, UNCONVERGED)
"""Why a run or a search may have ended."""
AT_ONCE = "all units at once"
LARGEST_SEED = 2**32 - 1

Tree = TypeVar("Tree")


@dataclass(frozen=True, eq=False)
class Run:
    """One seed's training: its best parameters and how it got there."""

    seed: int
    start: str
    parameters: Any
    best_epoch: int
    best_objective: float
    train_objective: Float[np.ndarray, " epoch"]
    validation_objective: Float[np.ndarray, " epoch"]
    reason: str
    how: str = AT_ONCE
    """Which units a step of training saw."""

    @property
    def diverged(self) -> bool:
        return self.reason == REASONS[DIVERGED]

    @property
    def facts(self) -> dict[str, Any]:
        """What of the run is not a tensor."""
        return {
            "seed": self.seed,
            "start": self.start,
            "best_epoch": self.best_epoch,
            "best_objective": self.best_objective,
            "reason": self.reason,
            "how": self.how,
        }

    @property
    def tensors(self) -> Tensors:
        """Parameters and objectives, each under a name of its own."""
        named = {
            _name(path): np.asarray(value)
            for path, value in jax.tree_util.tree_leaves_with_path(self.parameters)
        }
        named["train_objective"] = self.train_objective
        named["validation_objective"] = self.validation_objective
        return {f"seed {self.seed}/{name}": value for name, value in named.items()}

    @staticmethod
    def restored(facts: Mapping[str, Any], tensors: Tensors, template: Any) -> "Run":
        """The run of a file, its parameters in the shape of `template`."""
        prefix = f"seed {facts['seed']}/"
        train = _objective(tensors, prefix + "train_objective")
        validation = _objective(tensors, prefix + "validation_objective")
        if train.shape != validation.shape:
            raise ValueError("training and validation objectives are of different lengths")
        return Run(
            seed=facts["seed"],
            start=_text(facts, "start"),
            parameters=_filled(template, tensors, prefix),
            best_epoch=declared.whole(facts, "best_epoch", 0, len(train)),
            best_objective=declared.number(facts, "best_objective"),
            train_objective=train,
            validation_objective=validation,
            reason=declared.choice(facts, "reason", ENDS),
            how=_text(facts, "how"),
        )


def _text(facts: Mapping[str, Any], name: str) -> str:
    if not isinstance(facts[name], str):
        raise TypeError(f"{name} is not a text")
    return str(facts[name])


def _objective(tensors: Tensors, name: str) -> np.ndarray:
    """One number per epoch; where training diverged they are not finite."""
    found = tensors[name]
    if found.ndim != 1 or found.dtype.kind != "f":
        raise ValueError(f"{name} is not one number per epoch")
    return found


def _filled(template: Tree, tensors: Tensors, prefix: str) -> Tree:
    """`template` with every array replaced by the file's array of the same name and shape."""

    def fill(path: Any, leaf: Any) -> Any:
        name, kind = _name(path), np.dtype(leaf.dtype).kind
        raw = name.rpartition(".")[2].startswith("raw_")
        most = declared.LARGEST_RAW if raw else declared.LARGEST_PARAMETER
        value = declared.tensor(tensors, prefix + name, leaf.shape, -most, most, kind)
        return jnp.asarray(value)

    arrays, static = eqx.partition(template, eqx.is_array)
    return eqx.combine(jax.tree_util.tree_map_with_path(fill, arrays), static)


def _name(path: Any) -> str:
    return jax.tree_util.keystr(path, simple=True, separator=".")


def history_table(runs: Sequence[Run]) -> pl.DataFrame:
    """One row per seed and epoch: training and validation objective."""
    return pl.concat(
        pl.DataFrame(
            {
                "seed": np.full(len(run.train_objective), run.seed),
                "epoch": np.arange(len(run.train_objective)),
                "training": run.train_objective,
                "validation": run.validation_objective,
            }
        )
        for run in runs
    )


def summary_table(runs: Sequence[Run]) -> pl.DataFrame:
    """One row per seed: the epoch kept, its validation objective, why training ended."""
    return pl.DataFrame(
        {
            "seed": [run.seed for run in runs],
            "start": [run.start for run in runs],
            "epoch kept": [run.best_epoch for run in runs],
            "validation objective": [run.best_objective for run in runs],
            "epochs run": [len(run.train_objective) for run in runs],
            "ended because": [run.reason for run in runs],
            **_ways(runs),
        }
    )


def _ways(runs: Sequence[Run]) -> dict[str, list[str]]:
    """How runs were trained, where any was not by all units at once."""
    ways = [run.how for run in runs]
    return {} if set(ways) == {AT_ONCE} else {"trained by": ways}
