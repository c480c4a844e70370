"""What every fit with one run per seed has in common: tables of its training, a file, a word.

DGD, the choice model and the neural opponents are all `Trained`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from dgd.files import declared
from dgd.files.tensors import Tensors, write_tensors
from dgd.learning.runs import LARGEST_SEED, Run, history_table, summary_table
from dgd.tables.frames import from_polars
from dgd.tables.html import html_summary

REPORTING = "dgd.report.page.reporting"
"""Where reports are made."""


class Trained(ABC):
    """A fit: one parameter set per seed, and the data it was fitted to."""

    holds: ClassVar[str]
    """What a file of such a fit says it holds."""

    runs: tuple[Run, ...]
    """The best run of each seed."""

    @property
    @abstractmethod
    def data(self) -> Any:
        """The panel or the markets it was fitted to."""

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(run.seed for run in self.runs)

    @property
    def parameters(self) -> tuple[Any, ...]:
        """Each seed's parameters."""
        return tuple(run.parameters for run in self.runs)

    @property
    def diverged(self) -> tuple[int, ...]:
        """Seeds whose objective stopped being finite; they keep their best parameters."""
        return tuple(run.seed for run in self.runs if run.diverged)

    def history(self, kind: str | None = None) -> Any:
        """One row per seed and epoch: training and validation objective."""
        return from_polars(history_table(self.runs), kind or self.data.kind)

    def summary(self, kind: str | None = None) -> Any:
        """One row per seed: the epoch kept, its validation objective, why training ended."""
        return from_polars(summary_table(self.runs), kind or self.data.kind)

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What it was fitted to and with which settings, for people and for JSON."""

    def tables(self) -> dict[str, pl.DataFrame]:
        """What training did and what it found, under the titles that people see."""
        return {"Training": self.summary("polars")}

    def sentences(self) -> tuple[str, ...]:
        """The facts that no table and no title says: which days it saw, and its settings."""
        settings = self.facts()["settings"].items()
        return (
            *self._days,
            "settings: " + ", ".join(f"{name} {value}" for name, value in settings),
        )

    @property
    def _days(self) -> list[str]:
        return [f"{part}: {dates}" for part, dates in self.facts().get("ranges", {}).items()]

    def payload(self) -> dict[str, Any]:
        """Everything above in one document of plain values."""
        tables = {title.lower(): table.to_dicts() for title, table in self.tables().items()}
        return {"holds": self.holds, **self.facts(), **tables}

    def report(self, **asked: Any) -> Any:
        """A page about the fit that opens offline; `.save("report.html")` writes it.

        The arguments are those of `dgd.report.crowd_report` or, for a fit of demand, of
        `dgd.report.choice_report`.
        """
        # Pages stand on top of everything: they are looked up by name, and only when asked for.
        return import_module(REPORTING).report_of(self, **asked)

    def save(self, path: str | Path) -> None:
        """Write everything to one file, whole or not at all; `dgd.load` reads it."""
        write_tensors(path, self.holds, *self.whole())

    def whole(self) -> tuple[dict[str, Any], Tensors]:
        """The facts and tensors of a file, the runs included."""
        facts, tensors = self.stored()
        for run in self.runs:
            tensors |= run.tensors
        facts["runs"] = [run.facts for run in self.runs]
        return facts, tensors

    @abstractmethod
    def stored(self) -> tuple[dict[str, Any], Tensors]:
        """The facts and tensors of a file, but for the runs."""

    @classmethod
    @abstractmethod
    def restored(cls, facts: dict[str, Any], tensors: Tensors) -> "Trained":
        """The fit that `stored` and its runs describe."""

    @property
    def _best(self) -> Run:
        return min(self.runs, key=lambda run: run.best_objective)

    def __repr__(self) -> str:
        best = self._best
        return (
            f"{type(self).__name__}({len(self.runs)} seeds on {self.data!r}, best validation "
            f"objective {best.best_objective:.4f} at epoch {best.best_epoch})"
        )

    def _repr_html_(self) -> str:
        """What training did, and what the best seed found: those of all would fill a page."""
        training, *found = self.tables().items()
        best = self._best.seed
        tables = dict([training, *(_of_seed(title, table, best) for title, table in found)])
        said = [f"Training diverged for seeds {list(self.diverged)}."] if self.diverged else []
        said += ["; ".join(self._days)] if self._days else []
        return html_summary(repr(self), said, tables)


def _of_seed(title: str, table: pl.DataFrame, seed: int) -> tuple[str, pl.DataFrame]:
    if "seed" not in table.columns:
        return title, table
    return f"{title}, seed {seed}", table.filter(pl.col("seed") == seed).drop("seed")


def restored_runs(
    facts: Sequence[dict[str, Any]], tensors: Tensors, template: Any
) -> tuple[Run, ...]:
    """The runs of a file whose parameters all have the shape of `template`."""
    return tuple(Run.restored(fact, tensors, template) for fact in checked_facts(facts))


def checked_facts(facts: Any) -> list[dict[str, Any]]:
    """What a file says about its runs: at least one, each of another seed."""
    if not isinstance(facts, list) or not facts or not all(isinstance(x, dict) for x in facts):
        raise ValueError("runs is not a list of runs")
    seeds = [declared.whole(fact, "seed", 0, LARGEST_SEED) for fact in facts]
    if len(set(seeds)) < len(seeds):
        raise ValueError("runs has one seed twice")
    return facts
