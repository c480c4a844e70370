"""How the anchor's parts and constants were chosen: on days that are no test day of the arena.

    python benchmarks/choices.py --data DIR --json choices.json

Every rehearsal (`rehearsals.py`: 57 windows from five sources) is forecast 1, 3 and 7 days ahead by
anchors chosen on the days before. Joint NLL and the logarithm of the mean absolute error of
total arrivals are compared with those of the library's values, window by window, with the standard
error over windows; a constant of the library stays unless another is better by two of these.
`--every 4` takes each fourth rehearsal only.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from dgd.anchoring import arrival_anchor, pattern_anchor
from dgd.anchoring.arrival_anchor import ArrivalAnchor
from dgd.anchoring.layers import MOVEMENTS
from dgd.anchoring.pattern_anchor import PatternAnchor
from dgd.anchoring.weighing import BLOCKS
from dgd.files.atomic import write_atomically
from rehearsals import Rehearsal, rehearsals

PATTERN_GRID: dict[str, tuple[Any, ...]] = {
    "movements": ("both", "shared", "swings", "weekdays", "none"),
    "softness": (0.001, 0.002, 0.004),
    "own": (0.0, 0.5, 1.0),
}
ARRIVAL_GRID: dict[str, tuple[Any, ...]] = {
    "means_alone": (False, True),
    "softness": (0.05, 0.1, 0.2),
    "recent": (28.0, 56.0, 112.0),
}
LIBRARY: dict[str, dict[str, Any]] = {
    "patterns": {
        "movements": "both",
        "softness": pattern_anchor.SOFTNESS,
        "own": pattern_anchor.OWN,
    },
    "arrivals": {
        "means_alone": False,
        "softness": arrival_anchor.SOFTNESS,
        "recent": arrival_anchor.RECENT,
    },
}


def pattern_loss(changed: dict[str, Any], one: Rehearsal) -> float:
    """Mean joint NLL over the steps ahead."""
    rest = {name: value for name, value in changed.items() if name != "movements"}
    movements = MOVEMENTS[changed.get("movements", "both")]
    anchor = PatternAnchor.chosen(one.panel, one.split, movements, **rest)
    found = []
    for step in BLOCKS:
        origins = one.origins(step)
        if len(origins):
            counts = one.panel.patterns[origins + step]
            said = np.log(anchor.predict(one.panel, origins, step)[-1])
            found.append(float(-(counts * said).sum() / max(counts.sum(), 1)))
    return float(np.mean(found))


def arrival_loss(changed: dict[str, Any], one: Rehearsal) -> float:
    """Mean log of the absolute error of total arrivals over the steps ahead."""
    anchor = ArrivalAnchor.chosen(one.panel, one.split, **changed)
    found = []
    for step in BLOCKS:
        origins = one.origins(step)
        if len(origins):
            total = one.panel.arrivals[origins + step].sum((1, 2))
            said = anchor.predict(one.panel, origins, step)[-1].sum((1, 2))
            found.append(float(np.log(max(np.abs(said - total).mean(), 0.1))))
    return float(np.mean(found))


def rows(
    known: list[Rehearsal],
    part: str,
    loss: Callable[[dict[str, Any], Rehearsal], float],
    grid: dict[str, tuple[Any, ...]],
    pool: ProcessPoolExecutor,
) -> Iterator[dict[str, Any]]:
    """Each value's difference to the library's, averaged over windows and by source."""
    library = np.array(list(pool.map(partial(loss, {}), known)))
    sources = np.array([one.source for one in known])
    for name, values in grid.items():
        for value in values:
            own = value == LIBRARY[part][name]
            losses = (
                library if own else np.array(list(pool.map(partial(loss, {name: value}), known)))
            )
            apart = losses - library
            yield {
                "part": part,
                "constant": name,
                "value": str(value),
                "library": own,
                "difference": float(apart.mean()),
                "standard error": float(apart.std(ddof=1) / np.sqrt(len(apart))),
                **{
                    of: float(apart[sources == of].mean()) for of in dict.fromkeys(sources.tolist())
                },
            }
            print(f"{part}: {name} {value} done", flush=True)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--data", type=Path, required=True)
    asked.add_argument("--json", type=Path)
    asked.add_argument("--every", type=int, default=1, help="take each so many rehearsals only")
    given = asked.parse_args()
    known = list(rehearsals(given.data, print))[:: given.every]
    if not known:
        asked.error(f"{given.data} holds no table that rehearsals are cut from")
    with ProcessPoolExecutor() as pool:
        found = [
            *rows(known, "patterns", pattern_loss, PATTERN_GRID, pool),
            *rows(known, "arrivals", arrival_loss, ARRIVAL_GRID, pool),
        ]
    table = pl.DataFrame(found)
    with pl.Config(tbl_rows=100, tbl_cols=20, tbl_width_chars=160, float_precision=5):
        print(f"{len(known)} rehearsals")
        print(table)
    if given.json is not None:
        write_atomically(given.json.absolute(), json.dumps(table.to_dicts(), indent=1).encode())


if __name__ == "__main__":
    main()
