"""What went wrong once, before anything refused it; every case is refused now."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dgd
from support.fuzzing.outcomes import Case
from support.fuzzing.tables import clean, panel_with, sensible

ARGUMENTS: dict[str, dict[str, Any]] = {
    "a list for a column": {"count": ["count"]},
    "a list for the unit's column": {"unit": []},
    "no text for a column": {"cohort": 0},
    "a list for the period": {"period": ["day"]},
    "a table for the period": {"period": {"a": 1}},
    "a list for what to do with duplicates": {"duplicates": ["sum"]},
    "an array as a name of context": {"context": ["rain", np.zeros(3)]},
    "a number for the names of context": {"context": 3},
    "a number for labels": {"cohorts": -1},
    "a set as a label": {"cohorts": [{1}]},
    "yes as a label": {"units": [True, "north", "south"]},
    "nothing as a label": {"units": ["north", "south", None]},
    "texts and numbers as labels": {"units": ["north", "south", 7]},
    "a number with a point as a label": {"units": ["north", "south", np.float64(1.5)]},
}


def prepare(folder: Path) -> Callable[[np.random.Generator], Case]:
    """What hands out the cases one after the other."""
    del folder
    cases = iter([*map(_argument_case, ARGUMENTS), *SEEDS, _numpy_labels()])
    return lambda _: next(cases)


def _argument_case(name: str) -> Case:
    return Case(name, lambda: sensible(panel_with(clean(), **ARGUMENTS[name]), whole=False))


def _numpy_labels() -> Case:
    """Whole numbers of NumPy are whole numbers of Python's own in a panel; nothing is refused."""
    tables = {"counts": clean()["counts"]}
    tables["counts"]["unit"] = [7 if unit == "north" else 8 for unit in tables["counts"]["unit"]]

    def attempt() -> None:
        panel = panel_with(tables, units=np.array([8, 7]))
        assert [type(unit) for unit in panel.units] == [int, int]
        raise dgd.InputError("as it should be.")

    return Case("labels in an array", attempt)


SEEDS = [
    Case(f"seed {seed!r}", lambda seed=seed: dgd.simulate(dgd.example_world(), 3, seed))
    for seed in (-1, 2**70, "1", 1.5)
]
NUMBER = len(ARGUMENTS) + len(SEEDS) + 1
