"""What is to be fitted, one job a panel, and what became of it, one outcome a job."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from dgd.panel.panel import Panel
from dgd.tables.periods import Moment

PanelMaker: TypeAlias = Callable[[], Panel]
"""Makes a panel where and when it is needed."""

FITTED, KEPT, FAILED = "fitted", "kept", "failed"
"""States of an outcome; "kept" is a fit that an earlier call had finished."""


@dataclass(frozen=True)
class Job:
    """One panel and how it is to be fitted."""

    name: str
    panel: Panel | PanelMaker
    settings: Mapping[str, Any]
    ends: Mapping[str, Moment | None]
    seeds: tuple[int, ...]
    file: Path


@dataclass(frozen=True)
class Outcome:
    """What became of one panel."""

    name: str
    state: str
    seconds: float
    objective: float | None = None
    """The best validation objective of all seeds."""
    file: str | None = None
    failure: str | None = None
    """Why there is no fit, in a sentence."""
    warnings: tuple[str, ...] = ()
    """What the fit warned of."""
    diverged: tuple[int, ...] = ()
    """Seeds whose training diverged, whether in this call or in an earlier one."""

    @staticmethod
    def failed(name: str, sentence: str, seconds: float = 0.0) -> "Outcome":
        return Outcome(name, FAILED, seconds, failure=sentence)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for files and other machines."""
        return asdict(self)

    @staticmethod
    def from_dict(told: Mapping[str, Any]) -> "Outcome":
        lists = {name: tuple(told[name]) for name in ("warnings", "diverged")}
        return Outcome(**{**told, **lists})
