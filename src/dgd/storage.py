"""Model files: one safetensors file with everything a forecast needs.

Numbers are tensors and the rest is JSON in the header, so reading a file can
never run code from it. Writing goes to a neighbour first and then takes the
file's place, so a file is whole or absent.
"""

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from dgd.errors import InputError, ModelFileError
from dgd.features import FeatureMaker, Scaling
from dgd.feedback import Reference
from dgd.ingest import Columns
from dgd.model import Model
from dgd.panel import Panel
from dgd.periods import period_named
from dgd.runtime import computing
from dgd.settings import Settings
from dgd.split import Split
from dgd.starting import Shape, Start
from dgd.training import Run

if TYPE_CHECKING:
    from dgd.fit import Fit

FORMAT = 1
"""Rises whenever an older dgd could no longer read what a newer one writes."""


def save(fit: "Fit", path: str | Path) -> None:
    """Write `fit` to `path` atomically."""
    panel = fit.panel
    tensors = {**_panel_tensors(panel), **_maker_tensors(fit.features)}
    for run in fit.runs:
        for name, value in _named_arrays(run.parameters):
            tensors[f"seed {run.seed}/{name}"] = np.asarray(value)
        tensors[f"seed {run.seed}/train_objective"] = run.train_objective
        tensors[f"seed {run.seed}/validation_objective"] = run.validation_objective
    about = {
        "format": FORMAT,
        "settings": fit.settings.as_dict(),
        "split": asdict(fit.split),
        "panel": _panel_facts(panel),
        "features": {"calendar": fit.features.calendar, "retention": fit.features.retention},
        "runs": [
            {
                "seed": run.seed,
                "start": run.start,
                "best_epoch": run.best_epoch,
                "best_objective": run.best_objective,
                "reason": run.reason,
            }
            for run in fit.runs
        ],
    }
    tensors = {name: np.array(value, order="C") for name, value in tensors.items()}
    write_atomically(Path(path), to_bytes(tensors, {"dgd": json.dumps(about)}))


def write_atomically(path: Path, content: bytes) -> None:
    """Put `content` at `path`; on any failure what stood there before still stands."""
    if not path.parent.is_dir():
        raise InputError(f'folder "{path.parent}" does not exist; make it first.')
    handle, neighbor = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(neighbor, 0o666 & ~mask)
        os.replace(neighbor, path)
    except BaseException:
        Path(neighbor).unlink(missing_ok=True)
        raise


def load(path: str | Path) -> "Fit":
    """Read a file written by `Fit.save`; forecasts are the same as before saving."""
    from dgd.fit import Fit

    path = Path(path)
    about, tensors = _read(path)
    try:
        panel = _panel(about["panel"], tensors)
        settings = Settings(**about["settings"])
        maker = _maker(about["features"], tensors)
        with computing():
            template = _template(settings, panel, maker)
            runs = tuple(_run(facts, tensors, template) for facts in about["runs"])
        return Fit(settings, panel, Split(**about["split"]), maker, runs)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ModelFileError(
            f'"{path}" is not a complete dgd model ({error}); save it again from a fit.'
        ) from error


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if not path.is_file():
        raise ModelFileError(f'"{path}" does not exist; check the path.')
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelFileError(
            f'"{path}" is not a dgd model, or only a part of one ({error}); save it again.'
        ) from error
    try:
        about = json.loads(metadata["dgd"])
        written = int(about["format"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f'"{path}" is a tensor file of another program, not a dgd model; check the path.'
        ) from error
    if written > FORMAT:
        raise ModelFileError(
            f'"{path}" was written by a newer dgd (file format {written}, this one reads up to '
            f"{FORMAT}); upgrade dgd."
        )
    return about, tensors


def _named_arrays(tree: PyTree) -> list[tuple[str, Any]]:
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return [(jax.tree_util.keystr(path, simple=True, separator="."), leaf) for path, leaf in leaves]


def _template(settings: Settings, panel: Panel, maker: FeatureMaker) -> Model:
    """A model of the right shape, to be filled from the file."""
    units, cohorts, behaviors = len(panel.units), len(panel.cohorts), len(panel.behaviors)
    shape = Shape(
        units, cohorts, behaviors, len(maker.names(panel)),
        settings.components, settings.dim, settings.nodes,
    )  # fmt: skip
    reference = Reference(
        jnp.zeros((units, cohorts)), jnp.zeros((cohorts, behaviors)), jnp.zeros(cohorts)
    )
    pairs = behaviors * (behaviors - 1) // 2
    start = Start(
        reference,
        np.zeros((cohorts, behaviors)),
        np.zeros(pairs),
        settings.initial_scale,
        settings.population,
        settings.dynamics,
    )
    return start.model(shape, seed=0)


def _run(facts: dict[str, Any], tensors: dict[str, np.ndarray], template: Model) -> Run:
    prefix = f"seed {facts['seed']}/"

    def fill(path: Any, leaf: Any) -> Any:
        name = jax.tree_util.keystr(path, simple=True, separator=".")
        value = tensors[prefix + name]
        if value.shape != leaf.shape:
            raise ValueError(f"{name} has shape {value.shape}, not {leaf.shape}")
        return jnp.asarray(value)

    arrays, static = eqx.partition(template, eqx.is_array)
    model = eqx.combine(jax.tree_util.tree_map_with_path(fill, arrays), static)
    return Run(
        seed=facts["seed"],
        start=facts["start"],
        parameters=model,
        best_epoch=facts["best_epoch"],
        best_objective=facts["best_objective"],
        train_objective=tensors[prefix + "train_objective"],
        validation_objective=tensors[prefix + "validation_objective"],
        reason=facts["reason"],
    )


def _panel_tensors(panel: Panel) -> dict[str, np.ndarray]:
    """Counts are kept sparse: most patterns of most cells never occur."""
    places = np.nonzero(panel.patterns.ravel())[0]
    return {
        "panel/places": places,
        "panel/counts": panel.patterns.ravel()[places],
        "panel/size": panel.size,
        "panel/effort": panel.effort,
        "panel/features": panel.features,
    }


def _panel_facts(panel: Panel) -> dict[str, Any]:
    return {
        "shape": panel.patterns.shape,
        "first": str(panel.known_dates[0]),
        "period": panel.period.name,
        "units": panel.units,
        "cohorts": panel.cohorts,
        "behaviors": panel.behaviors,
        "feature_names": panel.feature_names,
        "sized": panel.sized,
        "has_effort": panel.has_effort,
        "columns": asdict(panel.columns),
        "kind": panel.kind,
    }


def _panel(facts: dict[str, Any], tensors: dict[str, np.ndarray]) -> Panel:
    period = period_named(facts["period"])
    patterns = np.zeros(facts["shape"], np.int64)
    patterns.ravel()[tensors["panel/places"]] = tensors["panel/counts"]
    effort = tensors["panel/effort"]
    return Panel(
        patterns=patterns,
        size=tensors["panel/size"],
        effort=effort,
        features=tensors["panel/features"],
        known_dates=period.range(period.parse(facts["first"], "first"), len(effort)),
        units=tuple(facts["units"]),
        cohorts=tuple(facts["cohorts"]),
        behaviors=tuple(facts["behaviors"]),
        feature_names=tuple(facts["feature_names"]),
        period=period,
        sized=facts["sized"],
        has_effort=facts["has_effort"],
        columns=Columns(**facts["columns"]),
        kind=facts["kind"],
    )


def _maker_tensors(maker: FeatureMaker) -> dict[str, np.ndarray]:
    return {
        "features/first_arrivals": maker.first_arrivals,
        "features/first_behaviors": maker.first_behaviors,
        "features/rates": maker.rates,
        "features/known_center": maker.known_scaling.center,
        "features/known_scale": maker.known_scaling.scale,
        "features/summary_center": maker.summary_scaling.center,
        "features/summary_scale": maker.summary_scaling.scale,
    }


def _maker(facts: dict[str, Any], tensors: dict[str, np.ndarray]) -> FeatureMaker:
    return FeatureMaker(
        calendar=facts["calendar"],
        retention=facts["retention"],
        first_arrivals=tensors["features/first_arrivals"],
        first_behaviors=tensors["features/first_behaviors"],
        rates=tensors["features/rates"],
        known_scaling=Scaling(tensors["features/known_center"], tensors["features/known_scale"]),
        summary_scaling=Scaling(
            tensors["features/summary_center"], tensors["features/summary_scale"]
        ),
    )
