"""ManyFits: what became of many panels, and their fits, read when they are asked for."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from dgd.errors import InputError, few
from dgd.fit import Fit
from dgd.many.jobs import FAILED, FITTED, KEPT, Outcome
from dgd.storage import load_kind
from dgd.tables.frames import from_polars
from dgd.tables.html import html_summary

COLUMNS: dict[str, Any] = {
    "name": pl.String,
    "state": pl.String,
    "seconds": pl.Float64,
    "objective": pl.Float64,
    "file": pl.String,
    "failure": pl.String,
}


@dataclass(frozen=True, eq=False, repr=False)
class ManyFits(Mapping[str, Fit]):
    """The fits of many panels by name, each read from its file when it is asked for.

    Those that failed are not among them; `failures` says why.
    """

    outcomes: tuple[Outcome, ...]
    """What became of every panel, in the order in which they were handed over."""
    kind: str = "polars"
    """The kind of frame that tables come in."""

    def __getitem__(self, name: str) -> Fit:
        for outcome in self.outcomes:
            if outcome.name == name and outcome.file is not None:
                return load_kind(outcome.file, Fit)
            if outcome.name == name:
                raise InputError(f'there is no fit of panel "{name}": {outcome.failure}')
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (outcome.name for outcome in self.outcomes if outcome.file is not None)

    def __len__(self) -> int:
        return len(self.outcomes) - len(self.failures)

    def __contains__(self, name: object) -> bool:
        return name in set(self)

    @property
    def failures(self) -> dict[str, str]:
        """Why there is no fit, of every panel without one."""
        return {one.name: one.failure or "" for one in self.outcomes if one.state == FAILED}

    def to_frame(self, kind: str | None = None) -> Any:
        """One row per panel.

        Columns:
            name: the panel's.
            state: "fitted", "kept" where an earlier call had fitted the same, or "failed".
            seconds: what it took this time.
            objective: the best validation objective of its seeds.
            file: the model file, for `dgd.load` and the shell.
            failure: why there is no fit, in a sentence.
        """
        rows = [{name: one.as_dict()[name] for name in COLUMNS} for one in self.outcomes]
        return from_polars(pl.DataFrame(rows, schema=COLUMNS), kind or self.kind)

    def payload(self) -> dict[str, Any]:
        """Every outcome as plain values, and how many there are of each state."""
        states = Counter(one.state for one in self.outcomes)
        return {
            **{state: states[state] for state in (FITTED, KEPT, FAILED)},
            "panels": [one.as_dict() for one in self.outcomes],
        }

    def __repr__(self) -> str:
        counted = self.payload()
        said = ", ".join(f"{counted[state]} {state}" for state in (FITTED, KEPT, FAILED))
        return f"ManyFits({len(self.outcomes)} panels: {said})"

    def _repr_html_(self) -> str:
        said = [f"There is no fit of {few(list(self.failures))}."] if self.failures else []
        return html_summary(repr(self), said, {"Panels": self.to_frame("polars")})
