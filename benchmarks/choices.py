"""How the constants of the anchor were chosen: on days before any test day.

    python benchmarks/choices.py --data DIR --json choices.json

Every window of the arena is cut at its validation end before anything is computed, so
that no test day is seen. What is left is split again, twice: the last validation range of
days (14 on most windows), and the one before it, are forecast by anchors that were chosen on
the days before them. Joint NLL and the absolute error of total arrivals, 1, 3 and 7 days ahead,
are averaged over windows, ranges and days ahead for every value of every constant, the others
being as they are in the library. The value with the lowest figure is the choice; where
values differ by less than 0.0002 of NLL or 0.2 percent of arrivals the one in the library stays.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from dgd.anchoring import arrival_anchor, pattern_anchor
from dgd.anchoring.arrival_anchor import ArrivalAnchor
from dgd.anchoring.pattern_anchor import PatternAnchor
from dgd.anchoring.weighing import BLOCKS
from dgd.arena.windows import LOADERS, windows_in
from dgd.files.atomic import write_atomically
from dgd.panel.panel import Panel
from dgd.panel.split import Split

PATTERN_GRID = {"softness": (0.0005, 0.001, 0.002, 0.004, 0.008), "own": (0.0, 0.5, 1.0)}
ARRIVAL_GRID = {"softness": (0.03, 0.05, 0.1, 0.2, 0.4), "recent": (14.0, 28.0, 56.0, 112.0)}


@dataclass(frozen=True)
class Rehearsal:
    """A window as it stood before its test days, and a split within it."""

    panel: Panel
    split: Split
    stop: int
    """The day after the last one that is forecast."""

    def origins(self, step: int) -> np.ndarray:
        return np.arange(self.split.validation_stop - 1, self.stop - step)


def rehearsals(panel: Panel, split: Split) -> Iterator[Rehearsal]:
    length = split.validation_stop - split.train_stop
    for back in (0, length):
        stop = split.validation_stop - back
        inner = Split(split.first, stop - 2 * length, stop - length)
        if inner.train_stop > split.first:
            yield Rehearsal(panel, inner, stop)


def pattern_loss(one: Rehearsal, **changed: float) -> list[float]:
    anchor = PatternAnchor.chosen(one.panel, one.split, swings=True, weekdays=True, **changed)
    found = []
    for step in BLOCKS:
        origins = one.origins(step)
        if len(origins):
            counts = one.panel.patterns[origins + step]
            said = np.log(anchor.predict(one.panel, origins, step)[-1])
            found.append(float(-(counts * said).sum() / max(counts.sum(), 1)))
    return found


def arrival_loss(one: Rehearsal, **changed: float) -> list[float]:
    anchor = ArrivalAnchor.chosen(one.panel, one.split, **changed)
    found = []
    for step in BLOCKS:
        origins = one.origins(step)
        if len(origins):
            total = one.panel.arrivals[origins + step].sum((1, 2))
            said = anchor.predict(one.panel, origins, step)[-1].sum((1, 2))
            found.append(float(np.log(max(np.abs(said - total).mean(), 0.1))))
    return found


def rows(
    all_of_them: list[Rehearsal],
    part: str,
    loss: Callable[..., list[float]],
    grid: dict[str, tuple[float, ...]],
    library: dict[str, float],
) -> Iterator[dict[str, Any]]:
    for name, values in grid.items():
        for value in values:
            losses = [loss(one, **{name: value}) for one in all_of_them]
            yield {
                "part": part,
                "constant": name,
                "value": value,
                "in the library": value == library[name],
                "loss": float(np.mean([np.mean(of) for of in losses])),
            }


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--data", type=Path, required=True)
    asked.add_argument("--json", type=Path)
    given = asked.parse_args()
    known: list[Rehearsal] = []
    for _, dataset in windows_in(given.data, tuple(LOADERS), print):
        window = dataset.window
        panel = dataset.panel.through(window.validation_end)
        split = Split.of(panel, window.train_end, window.validation_end, window.warmup_end)
        known += rehearsals(panel, split)
    library = {
        "patterns": {"softness": pattern_anchor.SOFTNESS, "own": pattern_anchor.OWN},
        "arrivals": {"softness": arrival_anchor.SOFTNESS, "recent": arrival_anchor.RECENT},
    }
    found = [
        *rows(known, "patterns", pattern_loss, PATTERN_GRID, library["patterns"]),
        *rows(known, "arrivals", arrival_loss, ARRIVAL_GRID, library["arrivals"]),
    ]
    table = pl.DataFrame(found).with_columns(
        (pl.col("loss") - pl.col("loss").min().over("part", "constant")).alias("above the best")
    )
    with pl.Config(tbl_rows=100, tbl_hide_dataframe_shape=True, float_precision=5):
        print(f"{len(known)} rehearsals")
        print(table)
    if given.json is not None:
        write_atomically(given.json.absolute(), json.dumps(table.to_dicts(), indent=1).encode())


if __name__ == "__main__":
    main()
