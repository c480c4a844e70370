"""Tensor files: numbers and facts in one file that can never run code.

A fit of any kind is a safetensors file: its numbers are tensors, the rest is
JSON in the header, together with a mark that says what the file holds.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from dgd.errors import ModelFileError
from dgd.files.atomic import write_atomically

FORMAT = 3
"""Rises whenever files written before could no longer be read, or not by an earlier dgd."""

Tensors: TypeAlias = dict[str, np.ndarray]


class TensorFile(NamedTuple):
    """What a file says."""

    holds: str
    """The mark of what it holds, like "fit"."""
    facts: dict[str, Any]
    tensors: Tensors


def write_tensors(
    path: str | Path, holds: str, facts: Mapping[str, Any], tensors: Mapping[str, np.ndarray]
) -> None:
    """Write `tensors` and the `facts` about them to `path`, whole or not at all."""
    header = {"format": FORMAT, "holds": holds, **facts}
    whole = {name: np.array(value, order="C") for name, value in tensors.items()}
    write_atomically(Path(path), to_bytes(whole, {"dgd": json.dumps(header)}))


def read_tensors(path: str | Path) -> TensorFile:
    """What stands in the file, refused where it is not a whole file of this format."""
    if not Path(path).is_file():
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
        facts = json.loads(metadata["dgd"])
        written, holds = int(facts.pop("format")), str(facts.pop("holds"))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f'"{path}" is a tensor file of another program, not a dgd model; check the path.'
        ) from error
    if written > FORMAT:
        raise ModelFileError(
            f'"{path}" was written by a newer dgd (file format {written}, this one reads '
            f"{FORMAT}); upgrade dgd."
        )
    if written < FORMAT:
        raise ModelFileError(
            f'"{path}" was written by an older dgd (file format {written}, this one reads '
            f"{FORMAT}); fit the model again."
        )
    return TensorFile(holds, facts, tensors)


def incomplete(path: str | Path, error: Exception) -> ModelFileError:
    """What to raise when a file's parts do not fit together."""
    return ModelFileError(
        f'"{path}" is not a complete dgd model ({error}); save it again from a fit.'
    )
