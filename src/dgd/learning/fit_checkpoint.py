"""The checkpoint of a fit to a panel, and what it belongs to."""

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax

from dgd.errors import InputError
from dgd.files.tensors import digest
from dgd.learning.belonging import Belonging
from dgd.learning.checkpoints import Checkpoint, checked_minutes
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.panel.stored import panel_stored

DISTRIBUTION = "differentiable-gaussian-dynamics"
_GRIDS = {"panel/size": "sizes", "panel/effort": "effort", "panel/features": "features"}
"""What users call these tensors of a panel; all others are counts."""


def refuse_checkpoint(checkpoint: object, every: object, resume: object) -> None:
    """Refuse before any work what names no file, no time or no choice."""
    checked_minutes(every)
    if not isinstance(resume, bool):
        raise InputError(f"resume is {resume!r}; give True to go on from a checkpoint, or False.")
    if checkpoint is None and resume:
        raise InputError(
            'resume=True needs the file to go on from; name it with checkpoint="FILE".'
        )
    if checkpoint is not None and not isinstance(checkpoint, (str, Path)):
        raise InputError(f"checkpoint is {checkpoint!r}; give the path of a file.")


def checkpoint_of(
    path: str | Path | None,
    panel: Panel,
    split: Split,
    seeds: Sequence[int],
    settings: Mapping[str, Any],
    *,
    every: float,
    resume: bool,
    suffix: str = "",
) -> Checkpoint | None:
    """The checkpoint of such a fit at `path`; None where none is wanted."""
    if path is None:
        return None
    belonging = belonging_of(panel, split, seeds, settings)
    return Checkpoint(path, belonging, every=every, resume=resume, suffix=suffix)


def belonging_of(
    panel: Panel, split: Split, seeds: Sequence[int], settings: Mapping[str, Any]
) -> Belonging:
    """That of a fit to `panel`: counts and all that is known beside them, days, seeds and
    settings, and the programs that compute, which may differ in the last digits."""
    dates = panel.dates
    ends = {
        "warmup_end": str(dates[split.first - 1]) if split.first else None,
        "train_end": str(dates[split.train_stop - 1]),
        "validation_end": str(dates[split.validation_stop - 1]),
    }
    made_with = {"dgd": version(DISTRIBUTION), "jax": f"{jax.__version__}, {jax.default_backend()}"}
    return Belonging(
        _contents(panel), {**ends, "seeds": list(seeds), **settings, "versions": made_with}
    )


def _contents(panel: Panel) -> dict[str, str]:
    _, tensors = panel_stored(panel)
    grids: dict[str, dict[str, Any]] = {}
    for name, tensor in tensors.items():
        grids.setdefault(_GRIDS.get(name, "counts"), {})[name] = tensor
    labels = {
        "dates": [str(panel.known_dates[0]), len(panel.known_dates), panel.days, panel.period.name],
        "units": panel.units,
        "cohorts": panel.cohorts,
        "behaviors": panel.behaviors,
        "features": panel.feature_names,
        "special days": panel.special_days.stored(),
    }
    return {
        name: digest(json.dumps(labels.get(name)), grids.get(name, {}))
        for name in dict.fromkeys([*labels, *grids])
    }
