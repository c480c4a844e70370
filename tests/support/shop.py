"""One round through the shell: a simulated world, a model fitted to it, and where they lie."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from support.shell import done

BEHAVIORS = "click,like,share"
ENDS = ["--train-end", "2022-01-30", "--validation-end", "2022-02-06"]
WORLD = ["--days", 40, "--arrivals", 15, "--seed", 3]
"""The world of the shared fit: its programs are compiled already."""


@dataclass(frozen=True)
class Shop:
    """What one round through the shell has written."""

    folder: Path
    suffix: str
    simulated: dict[str, Any]
    fitted: dict[str, Any]

    def table(self, name: str) -> Path:
        return self.folder / "world" / f"{name}.{self.suffix}"

    @property
    def model(self) -> Path:
        return self.folder / "model.dgd"

    def fit(self, *options: object) -> list[object]:
        """The arguments of a fit to this world."""
        tables = ["--sizes", self.table("sizes"), "--effort", self.table("effort")]
        return ["fit", self.table("counts"), "--behaviors", BEHAVIORS, *ENDS, *tables, *options]


def open_shop(folder: Path, suffix: str) -> Shop:
    """Simulate a world and fit a model to it."""
    drawn = done("simulate", *WORLD, "--format", suffix, "--output", folder / "world", "--json")
    shop = Shop(folder, suffix, json.loads(drawn.stdout), {})
    options = ["--epochs", 5, "--seeds", "1", "--output", shop.model, "--json"]
    fitted = done(*shop.fit(*options))
    assert fitted.stderr == ""
    return replace(shop, fitted=json.loads(fitted.stdout))


def read(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path)
