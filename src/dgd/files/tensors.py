"""Tensor files: numbers and facts in one file that can never run code.

A fit of any kind is a safetensors file: its numbers are tensors, the rest is
JSON in the header. Writing goes to a neighbour first and then takes the
file's place, so a file is whole or absent.
"""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from dgd.errors import InputError, ModelFileError
from dgd.learning.loop import Run

FORMAT = 2
"""Rises whenever an older dgd could no longer read what a newer one writes."""

Tensors = dict[str, np.ndarray]
Tree = TypeVar("Tree")


class Content(NamedTuple):
    """What a file can hold, and who reads it."""

    name: str
    reader: str


FIT = Content("a fit of counts over time", "dgd.load")
CHOICE_FIT = Content("a choice fit", "dgd.choice.load")
CONTENTS = {"fit": FIT, "choice fit": CHOICE_FIT}
_UNMARKED = "fit"
"""The first files said nothing about what they hold; all of them hold this."""


def write_tensors(
    path: str | Path, content: Content, about: Mapping[str, Any], tensors: Mapping[str, np.ndarray]
) -> None:
    """Write `tensors` and the facts `about` them to `path` atomically."""
    mark = next(mark for mark, known in CONTENTS.items() if known == content)
    facts = {"format": FORMAT, "holds": mark, **about}
    whole = {name: np.array(value, order="C") for name, value in tensors.items()}
    write_atomically(Path(path), to_bytes(whole, {"dgd": json.dumps(facts)}))


def write_atomically(path: Path, content: bytes) -> None:
    """Put `content` at `path`; on any failure what stood there before still stands."""
    if not path.parent.is_dir():
        raise InputError(f'folder "{path.parent}" does not exist; make it first.')
    handle, neighbor = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(neighbor, 0o666 & ~mask)
        os.replace(neighbor, path)
    except BaseException:
        Path(neighbor).unlink(missing_ok=True)
        raise


def read_tensors(path: Path, content: Content) -> tuple[dict[str, Any], Tensors]:
    """The facts and tensors of a file that holds `content`."""
    if not path.is_file():
        raise ModelFileError(f'"{path}" does not exist; check the path.')
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelFileError(
            f'"{path}" is not a dgd model, or only a part of one ({error}); save it again.'
        ) from error
    try:
        about = json.loads(metadata["dgd"])
        written = int(about["format"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f'"{path}" is a tensor file of another program, not a dgd model; check the path.'
        ) from error
    if written > FORMAT:
        raise ModelFileError(
            f'"{path}" was written by a newer dgd (file format {written}, this one reads up to '
            f"{FORMAT}); upgrade dgd."
        )
    held = CONTENTS.get(about.get("holds", _UNMARKED))
    if held is not None and held != content:
        raise ModelFileError(
            f'"{path}" holds {held.name}, not {content.name}; open it with {held.reader}.'
        )
    return about, tensors


def incomplete(path: Path, error: Exception) -> ModelFileError:
    """What to raise when a file's parts do not fit together."""
    return ModelFileError(
        f'"{path}" is not a complete dgd model ({error}); save it again from a fit.'
    )


def run_tensors(runs: Sequence[Run]) -> Tensors:
    """Every seed's parameters and objectives, each under a name of its own."""
    tensors: Tensors = {}
    for run in runs:
        for place, value in jax.tree_util.tree_leaves_with_path(run.parameters):
            tensors[f"seed {run.seed}/{_name(place)}"] = np.asarray(value)
        tensors[f"seed {run.seed}/train_objective"] = run.train_objective
        tensors[f"seed {run.seed}/validation_objective"] = run.validation_objective
    return tensors


def run_facts(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """What of every run is not a tensor."""
    return [
        {
            "seed": run.seed,
            "start": run.start,
            "best_epoch": run.best_epoch,
            "best_objective": run.best_objective,
            "reason": run.reason,
        }
        for run in runs
    ]


def read_run(facts: Mapping[str, Any], tensors: Tensors, template: Any) -> Run:
    """One seed's run, its parameters in the shape of `template`."""
    prefix = f"seed {facts['seed']}/"
    return Run(
        seed=facts["seed"],
        start=facts["start"],
        parameters=_filled(template, tensors, prefix),
        best_epoch=facts["best_epoch"],
        best_objective=facts["best_objective"],
        train_objective=tensors[prefix + "train_objective"],
        validation_objective=tensors[prefix + "validation_objective"],
        reason=facts["reason"],
    )


def _filled(template: Tree, tensors: Tensors, prefix: str) -> Tree:
    """`template` with every array replaced by the file's array of the same name and shape."""

    def fill(place: Any, leaf: Any) -> Any:
        value = tensors[prefix + _name(place)]
        if value.shape != leaf.shape:
            raise ValueError(f"{_name(place)} has shape {value.shape}, not {leaf.shape}")
        return jnp.asarray(value)

    arrays, static = eqx.partition(template, eqx.is_array)
    return eqx.combine(jax.tree_util.tree_map_with_path(fill, arrays), static)


def _name(place: Any) -> str:
    return jax.tree_util.keystr(place, simple=True, separator=".")
