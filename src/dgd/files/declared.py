"""What a file says, taken only where it is of the kind, the size and the range it must be.

Nothing a file declares is believed before it is held against the length of what the file
holds. Each reader raises a `ValueError` or `TypeError` that names the field; `dgd.load` turns
it into a `ModelFileError`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from dgd.files.tensors import Tensors

LARGEST_PARAMETER = 1e16
"""Parameters are logarithms, logits, shares and sizes; no size is larger."""
LARGEST_RAW = 500.0
"""Raw parameters go through a sigmoid or its like, which beyond this is at its end."""


def part(facts: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The facts under `name`."""
    found = facts[name]
    if not isinstance(found, dict):
        raise TypeError(f"{name} is not a table of facts")
    return found


def whole(facts: Mapping[str, Any], name: str, least: int, most: int) -> int:
    """A whole number from `least` to `most`."""
    found = facts[name]
    if not is_whole(found) or not least <= found <= most:
        raise ValueError(f"{name} is {_short(found)}, not a whole number from {least} to {most}")
    return found


def number(facts: Mapping[str, Any], name: str) -> float:
    found = facts[name]
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise TypeError(f"{name} is {_short(found)}, not a number")
    return float(found)


def choice(facts: Mapping[str, Any], name: str, known: Sequence[Any]) -> Any:
    """One of the values in `known`."""
    found = facts[name]
    if not isinstance(found, (str, bool)) or found not in known:
        raise ValueError(f"{name} is {_short(found)}, not one of {', '.join(map(str, known))}")
    return found


def texts(facts: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Different texts."""
    found = labels(facts, name)
    if not all(isinstance(text, str) for text in found):
        raise ValueError(f"{name} are not all texts")
    return tuple(str(text) for text in found)


def labels(facts: Mapping[str, Any], name: str) -> tuple[str | int, ...]:
    """Different texts, or different whole numbers of at most 64 bits."""
    found = facts[name]
    if not isinstance(found, list):
        raise TypeError(f"{name} is not a list of labels")
    numbers = all(is_whole(x) for x in found) and any(
        all(least <= x < most for x in found) for least, most in ((-(2**63), 2**63), (0, 2**64))
    )
    if not numbers and not all(isinstance(x, str) for x in found):
        raise ValueError(f"{name} is not a list of labels")
    if len(set(found)) < len(found):
        raise ValueError(f"{name} names one of its labels twice")
    return tuple(found)


def tensor(
    tensors: Tensors,
    name: str,
    shape: Sequence[int | None],
    least: float = -math.inf,
    most: float = math.inf,
    kind: str = "f",
    gaps: bool = False,
) -> np.ndarray:
    """The tensor of that name, shape and kind of numbers, all finite and within the range.

    Args:
        tensors: What the file holds.
        name: The tensor's.
        shape: The length of every axis; None where it may be any.
        least, most: The range.
        kind: NumPy's letter, "f" for numbers, "i" for whole numbers, "b" for yes and no.
        gaps: Whether NaN stands for what is not known.
    """
    found = tensors[name]
    fits = len(found.shape) == len(shape) and all(
        wanted in (None, length) for wanted, length in zip(shape, found.shape, strict=True)
    )
    if not fits:
        raise ValueError(f"{name} has shape {found.shape}, not {tuple(shape)}")
    if found.dtype.kind != kind:
        raise ValueError(f"{name} holds {found.dtype}, another kind of numbers")
    inside = (found >= least) & (found <= most) & np.isfinite(found)
    if not np.all(inside | np.isnan(found) if gaps else inside):
        raise ValueError(f"{name} holds a number that is not finite or out of range")
    return found


def sparse_places(
    tensors: Tensors, name: str, shape: Sequence[int], most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Places on a grid of `shape`, one after another, and the counts kept there."""
    cells = math.prod(shape)
    places = tensor(tensors, f"{name}/indices", [None], 0, cells - 1, kind="i")
    counts = tensor(tensors, f"{name}/counts", [len(places)], 1, most, kind="i")
    if np.any(np.diff(places) <= 0):
        raise ValueError(f"{name}/indices name a place twice or out of order")
    if counts.sum(dtype=np.float64) > most:
        raise ValueError(f"{name}/counts add up to more than {most}")
    return places, counts


def sparse(tensors: Tensors, name: str, shape: Sequence[int], most: int) -> np.ndarray:
    """Counts kept by their places and values, on a grid of `shape`."""
    places, counts = sparse_places(tensors, name, shape, most)
    grid = np.zeros(math.prod(shape), np.int64)
    grid[places] = counts
    return grid.reshape(shape)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether `value` is a whole number of its own right, not yes or no."""
    return isinstance(value, int) and not isinstance(value, bool)


def _short(value: object) -> str:
    return repr(value)[:60]
