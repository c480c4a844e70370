"""A job on its way to another process: its panel as a file would keep it, and a digest of all.

The digest is kept in the model file. A file that carries the same digest is the fit of the same
panel with the same settings, days and seeds, and is not made again.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dgd.errors import DGDError, ModelFileError, first_line
from dgd.files.tensors import Tensors, digest, read_tensors, write_tensors
from dgd.fit import Fit
from dgd.learning.runs import DIVERGED, REASONS
from dgd.many.jobs import KEPT, Job, Outcome
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.panel.stored import panel_from, panel_stored
from dgd.tables.periods import Moment

MANY = "many"
"""Under which name a model file keeps what it was asked for."""


@dataclass(frozen=True)
class Ask:
    """All that a process needs to fit one panel."""

    name: str
    facts: str
    """Those of the panel, as JSON."""
    tensors: Tensors
    split: Split
    settings: Mapping[str, Any]
    ends: Mapping[str, Moment | None]
    seeds: tuple[int, ...]
    file: Path

    @staticmethod
    def of(job: Job, panel: Panel) -> "Ask":
        """The ask of a job whose panel has been made, refused where its days cannot be right."""
        ends = {name: job.ends[name] for name in ("train_end", "validation_end", "warmup_end")}
        split = Split.of(panel, *ends.values())  # type: ignore[arg-type]
        facts, tensors = panel_stored(panel)
        return Ask(
            job.name, json.dumps(facts), tensors, split, job.settings, ends, job.seeds, job.file
        )

    @cached_property
    def digest(self) -> str:
        """One number for everything that the fit depends on."""
        asked = {
            "panel": self.facts,
            "days": asdict(self.split),
            "settings": dict(self.settings),
            "seeds": self.seeds,
        }
        return digest(json.dumps(asked, sort_keys=True), self.tensors)

    @property
    def program(self) -> str:
        """The same for asks that the same compiled programs serve."""
        facts = json.loads(self.facts)
        asked = {
            "panel": [facts[name] for name in ("shape", "period", "sized", "has_effort")],
            "more": [len(facts[name]) for name in ("feature_names", "context")],
            "special": len(facts.get("special_days", {}).get("names", ())),
            "days": asdict(self.split),
            "settings": dict(self.settings),
            "jax": version("jax"),
        }
        return digest(json.dumps(asked, sort_keys=True), {})

    def panel(self) -> Panel:
        return panel_from(json.loads(self.facts), self.tensors)

    def keep(self, fit: Fit) -> None:
        """Write the fit and the digest to one file, whole or not at all."""
        facts, tensors = fit.whole()
        asked = {"name": self.name, "digest": self.digest}
        write_tensors(self.file, fit.holds, {**facts, MANY: asked}, tensors)

    def kept(self) -> Outcome | None:
        """The outcome where the file has this very fit already."""
        try:
            holds, facts, _ = read_tensors(self.file)
        except ModelFileError:
            return None
        if holds != Fit.holds or facts.get(MANY, {}).get("digest") != self.digest:
            return None
        best = min(run["best_objective"] for run in facts["runs"])
        astray = [run["seed"] for run in facts["runs"] if run["reason"] == REASONS[DIVERGED]]
        return Outcome(self.name, KEPT, 0.0, best, str(self.file), diverged=tuple(astray))


def ask_or_outcome(job: Job) -> Ask | Outcome:
    """What is to be fitted, or what became of it without any fitting."""
    try:
        panel = (
            job.panel if isinstance(job.panel, Panel) or not callable(job.panel) else job.panel()
        )
        ask = Ask.of(job, panel)
        return ask.kept() or ask
    except DGDError as error:
        return Outcome.failed(job.name, str(error))
    except Exception as error:  # whatever a user's own function may raise
        said = f"{type(error).__name__}: {first_line(error)}"
        return Outcome.failed(job.name, f"its panel could not be made ({said}).")
