"""Where every run of a long training stands, in one file from which it can go on.

A training loop asks `due` now and then, and where it is hands its arrays to `save`; after a
crash `restored` gives them back, bit by bit. A file is whole or absent, and one that belongs
to another fit is neither gone on with nor replaced.
"""

import math
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from numbers import Real
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_leaves_with_path, tree_map_with_path

from dgd.errors import InputError, ModelFileError, few
from dgd.files.atomic import check_target
from dgd.files.tensors import TensorFile, Tensors, read_tensors, write_tensors
from dgd.learning.belonging import Belonging

EVERY = 5.0
"""Minutes between two checkpoints of a run."""
HOLDS = "checkpoint"

Tree = TypeVar("Tree")


class SavedRun(NamedTuple):
    """Where one run stood."""

    facts: dict[str, Any]
    tensors: Tensors


class Checkpoint:
    """A file that keeps where the runs of a fit stand; threads may share it.

    Args:
        path: The file.
        belonging: What the runs depend on.
        every: Minutes between two saves of a run; with 0 it is always due.
        resume: Whether to go on from the file where there is one.
        suffix: Ends the file's name, where each of several processes keeps a part of its own.

    Raises:
        InputError: The file cannot be written, is no whole checkpoint, or keeps an unfinished
            fit that is not to be resumed or is another one. That of a finished fit is replaced.
    """

    def __init__(
        self,
        path: str | Path,
        belonging: Belonging,
        *,
        every: float = EVERY,
        resume: bool = False,
        suffix: str = "",
    ) -> None:
        self.path = Path(f"{path}.{suffix}" if suffix else path)
        self.seconds = 60 * checked_minutes(every)
        check_target(self.path)
        self._belonging = belonging.facts
        self._runs: dict[str, SavedRun] = {}
        self._finished = False
        self._failed = False
        self._lock = threading.Lock()
        self._saved_at: dict[str, float] = {}
        self._began = monotonic()
        if self.path.exists():
            self._take(_read(self.path), belonging, resume)

    def due(self, name: str, ahead: float = 0.0) -> bool:
        """Whether the run is to be saved now, since in `ahead` seconds it would be too late."""
        return monotonic() + ahead - self._saved_at.get(name, self._began) >= self.seconds

    def save(self, name: str, tree: Any, facts: Mapping[str, Any] | None = None) -> None:
        """Keep the arrays of `tree` and plain `facts` as where the run stands."""
        now = monotonic()
        tensors = {keystr(path): np.array(leaf) for path, leaf in tree_leaves_with_path(tree)}
        with self._lock:
            self._runs[name] = SavedRun(dict(facts or {}), tensors)
            self._finished = False
            self._write()
            self._saved_at[name] = now

    def restored(self, name: str, template: Tree) -> tuple[Tree, dict[str, Any]] | None:
        """The arrays and facts that were saved of the run; None where there are none.

        The arrays come in the form of `template`, whose shapes they must have; an axis of
        length 0 stands for any length. Call it where 64-bit numbers stay what they are.
        """
        found = self._runs.get(name)
        if found is None:
            return None
        with _refusing(self.path):
            return _filled(template, found.tensors), dict(found.facts)

    def finish(self) -> None:
        """Say in the file that all runs are done, so that the next fit may replace it."""
        with self._lock:
            if not self._finished:
                self._finished = True
                self._write()

    def unreadable(self) -> InputError:
        """What to raise where things that were saved do not fit together."""
        return _unreadable(self.path)

    def _take(self, found: TensorFile, belonging: Belonging, resume: bool) -> None:
        """Go on from what stands in the file, or let it be replaced, or refuse."""
        with _refusing(self.path):
            finished = found.facts["finished"] is True
            different = belonging.differences(found.facts["belongs"])
            runs = {
                name: SavedRun(dict(facts), _of_run(found.tensors, name))
                for name, facts in found.facts["runs"].items()
            }
        if different and not finished:
            raise InputError(
                f'checkpoint "{self.path}" keeps another unfinished fit, which differs in '
                f"{few(different)}; ask for that one again, remove the file, or name another."
            )
        if not resume and not finished:
            raise InputError(
                f'checkpoint "{self.path}" keeps this fit unfinished; go on with resume=True, '
                "remove the file, or name another."
            )
        if resume and not different:
            self._runs, self._finished = runs, finished

    def _write(self) -> None:
        """Once writing has failed it is not tried again: its error has said where the rest is."""
        if self._failed:
            return
        self._failed = True
        facts = {
            "belongs": self._belonging,
            "finished": self._finished,
            "runs": {name: run.facts for name, run in self._runs.items()},
        }
        tensors = {
            f"{name}/{leaf}": tensor
            for name, run in self._runs.items()
            for leaf, tensor in run.tensors.items()
        }
        write_tensors(self.path, HOLDS, facts, tensors)
        self._failed = False


def checked_minutes(every: object) -> float:
    """The interval, refused where it is no time."""
    known = isinstance(every, Real) and not isinstance(every, bool)
    if not known or not 0 <= float(every) < math.inf:  # type: ignore[arg-type]
        raise InputError(f"every is {every!r}; give minutes between two checkpoints, like 5.")
    return float(every)  # type: ignore[arg-type]


def remove_checkpoint(path: str | Path) -> None:
    """Remove the file of a fit that is saved elsewhere by now."""
    with suppress(OSError):
        Path(path).unlink(missing_ok=True)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Refuse the file where its parts do not fit together."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _unreadable(path) from error


def _read(path: Path) -> TensorFile:
    try:
        found = read_tensors(path)
    except ModelFileError as error:
        raise _unreadable(path) from error
    if found.holds != HOLDS:
        raise InputError(
            f'checkpoint "{path}" is a file that holds a {found.holds}, which it would replace; '
            "name another."
        )
    return found


def _unreadable(path: Path) -> InputError:
    return InputError(
        f'checkpoint "{path}" is no whole checkpoint of this dgd; name another file, or remove '
        "this one to begin anew."
    )


def _of_run(tensors: Tensors, name: str) -> Tensors:
    prefix = f"{name}/"
    return {
        leaf.removeprefix(prefix): tensor
        for leaf, tensor in tensors.items()
        if leaf.startswith(prefix)
    }


def _filled(template: Tree, tensors: Tensors) -> Tree:
    def fill(path: Any, leaf: Any) -> Any:
        found = tensors[keystr(path)]
        fits = found.ndim == leaf.ndim and all(
            wanted in (0, length) for wanted, length in zip(leaf.shape, found.shape, strict=True)
        )
        if not fits or found.dtype != leaf.dtype:
            raise ValueError(f"{keystr(path)} is {found.dtype}{list(found.shape)}")
        return jnp.array(found) if isinstance(leaf, jax.Array) else found.copy()

    filled: Tree = tree_map_with_path(fill, template)
    return filled
