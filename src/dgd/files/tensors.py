"""Tensor files: numbers and facts in one file that can never run code.

A fit of any kind is a safetensors file: its numbers are tensors, the rest is
JSON in the header, together with a mark that says what the file holds and a
digest of everything else, so that a file that changed on its way is refused.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from dgd.errors import ModelFileError, first_line
from dgd.files.atomic import write_atomically

FORMAT = 7
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
    header = json.dumps({"format": FORMAT, "holds": holds, **facts})
    whole = {name: np.array(value, order="C") for name, value in tensors.items()}
    write_atomically(Path(path), to_bytes(whole, {"dgd": sealed(header, whole)}))


def read_tensors(path: str | Path) -> TensorFile:
    """What stands in the file, refused where it is not a whole file of this format."""
    if not Path(path).is_file():
        what = "is not a file" if Path(path).exists() else "does not exist"
        raise ModelFileError(f'"{path}" {what}; check the path.')
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, TypeError, AttributeError) as error:
        raise ModelFileError(
            f'"{path}" is not a dgd model, or only a part of one ({first_line(error)}); '
            "save it again."
        ) from error
    try:
        written_digest, _, text = metadata["dgd"].partition("\n")
        facts = json.loads(text)
        written, holds = int(facts.pop("format")), str(facts.pop("holds"))
    except (
        AttributeError,
        KeyError,
        TypeError,
        ValueError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise ModelFileError(
            f'"{path}" is a tensor file of another program, not a dgd model; check the path.'
        ) from error
    _refuse_other_format(path, written)
    if written_digest != digest(text, tensors):
        raise ModelFileError(
            f'"{path}" has changed since it was written: its digest does not match what it holds; '
            "copy it again or save it again."
        )
    return TensorFile(holds, facts, tensors)


def sealed(header: str, tensors: Mapping[str, np.ndarray]) -> str:
    """The header as a file keeps it: the digest of everything in a line of its own before it."""
    return f"{digest(header, tensors)}\n{header}"


def digest(header: str, tensors: Mapping[str, np.ndarray]) -> str:
    """One number for everything in a file: its facts, and each tensor's name, kind and content."""
    whole = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        whole.update(json.dumps([name, tensor.dtype.str, list(tensor.shape)]).encode())
        whole.update(tensor.tobytes())
    return whole.hexdigest()


def _refuse_other_format(path: str | Path, written: int) -> None:
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


def incomplete(path: str | Path, error: Exception) -> ModelFileError:
    """What to raise when a file's parts do not fit together."""
    return ModelFileError(
        f'"{path}" is not a complete dgd model ({first_line(error)}); save it again from a fit.'
    )
