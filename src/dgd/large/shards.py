"""A fit whose units are spread over processes, kept as a folder with a file of every process's own.

What units share is in every file; together they are the whole fit again.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from dgd.errors import ModelFileError, first_line
from dgd.files import declared
from dgd.files.atomic import write_atomically
from dgd.files.folders import folder_made_whole
from dgd.learning.runs import Run
from dgd.model.crowd import Crowd
from dgd.model.unit_parameters import UnitParameters
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.pattern_counts import PatternCounts
from dgd.processes.group import ALONE
from dgd.runtime import computing

MARK = "shards.json"
"""The file that is written last: a folder without it is no fit."""
FORMAT = 1
MOST_SHARDS = 1_000_000

Part = TypeVar("Part", bound=Any)


def save_shards(fit: Any, path: str | Path) -> None:
    """Write the fit of every process's units into one folder, whole or not at all; all processes
    call it."""
    group = fit.group
    if not group.leads:
        fit.save(Path(group.every("")[0]) / _name(group.index))
        group.barrier("shards are written")
        group.barrier("the fit is whole")
        return
    with folder_made_whole(Path(path), MARK) as folder:
        group.every(str(folder.absolute()))
        fit.save(folder / _name(0))
        group.barrier("shards are written")
        about = {"format": FORMAT, "shards": group.count}
        write_atomically(folder / MARK, json.dumps(about).encode())
    group.barrier("the fit is whole")


def shard_files(folder: Path) -> list[Path]:
    """The files of a fit that was kept in shards."""
    try:
        about = json.loads((folder / MARK).read_text())
        declared.whole(about, "format", FORMAT, FORMAT)
        shards = declared.whole(about, "shards", 1, MOST_SHARDS)
        return [folder / _name(number) for number in range(shards)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelFileError(
            f'"{folder}" is no fit in shards ({first_line(error)}); name a folder that a fit over '
            "processes has written."
        ) from error


def joined_shards(parts: Sequence[Part]) -> Part:
    """The fit of all units, in the order of their labels, as one process would have made it."""
    labels = [unit for part in parts for unit in part.panel.units]
    order = np.array(sorted(range(len(labels)), key=lambda at: labels[at]))
    first = parts[0]
    with computing():
        runs = [_run([p.runs[n] for p in parts], order) for n in range(len(first.runs))]
    found: Part = replace(
        first,
        panel=_panel([part.panel for part in parts], order),
        features=_maker([part.features for part in parts], order),
        runs=tuple(runs),
        group=ALONE,
    )
    return found


def _name(number: int) -> str:
    return f"shard-{number:05}.dgd"


def _together(parts: Sequence[np.ndarray], order: np.ndarray, axis: int = 0) -> np.ndarray:
    return np.concatenate(parts, axis).take(order, axis)


def _panel(parts: Sequence[Panel], order: np.ndarray) -> Panel:
    before = np.cumsum([0, *(len(part.units) for part in parts)])
    place = np.argsort(order)
    rows = [
        (c.day, place[c.unit + start], c.cohort, c.pattern, c.count)
        for c, start in zip([part.counts for part in parts], before[:-1], strict=True)
    ]
    days, _, cohorts, patterns = parts[0].counts.shape
    shape = (days, len(order), cohorts, patterns)
    labels = [unit for part in parts for unit in part.units]
    return replace(
        parts[0],
        counts=PatternCounts.of_rows(shape, *(np.concatenate(x) for x in zip(*rows, strict=True))),
        size=_together([part.size for part in parts], order, 1),
        effort=_together([part.effort for part in parts], order, 1),
        features=_together([part.features for part in parts], order, 1),
        units=tuple(labels[at] for at in order),
        everyone=None,
        since=_since(parts, order),
    )


def _since(parts: Sequence[Panel], order: np.ndarray) -> np.ndarray | None:
    """The day each unit was first seen, where any came after the fit."""
    if all(part.since is None for part in parts):
        return None
    days = [np.zeros(len(p.units), int) if p.since is None else p.since for p in parts]
    return _together(days, order)


def _maker(parts: Sequence[FeatureMaker], order: np.ndarray) -> FeatureMaker:
    return replace(
        parts[0],
        first_arrivals=_together([part.first_arrivals for part in parts], order),
        first_behaviors=_together([part.first_behaviors for part in parts], order),
    )


def _run(parts: Sequence[Run], order: np.ndarray) -> Run:
    """The run of one seed; what units share must be the same in every part."""
    crowds: list[Crowd] = [part.parameters for part in parts]
    units = [UnitParameters.of(crowd) for crowd in crowds]
    nobody = UnitParameters(*(x[:0] for x in units[0]))
    shared = [jax.tree.leaves(nobody.put_into(crowd)) for crowd in crowds]
    same = all(
        np.array_equal(x, y) for other in shared[1:] for x, y in zip(shared[0], other, strict=True)
    )
    if not same:
        raise ModelFileError("shards are of different fits; copy the whole folder again.")
    whole = [
        jnp.asarray(_together([np.asarray(x) for x in same_part], order))
        for same_part in zip(*units, strict=True)
    ]
    return replace(parts[0], parameters=UnitParameters(*whole).put_into(crowds[0]))
