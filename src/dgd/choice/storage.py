"""Choice model files: everything demand analysis needs in one file."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.markets import Markets
from dgd.choice.offer_table import OfferColumns
from dgd.choice.scales import Scales
from dgd.choice.settings import ChoiceSettings
from dgd.choice.starting import ChoiceStart
from dgd.files.tensors import (
    CHOICE_FIT,
    incomplete,
    read_run,
    read_tensors,
    run_facts,
    run_tensors,
    write_tensors,
)
from dgd.runtime import computing

if TYPE_CHECKING:
    from dgd.choice.fit import ChoiceFit

GRIDS = ("product", "price", "available", "attributes", "count", "size", "cohort_size")
LABELS = ("markets", "products", "attribute_names", "cohorts")


def save(fit: "ChoiceFit", path: str | Path) -> None:
    """Write `fit` to `path` atomically."""
    markets = fit.markets
    tensors = {f"markets/{name}": getattr(markets, name) for name in GRIDS}
    about = {
        "settings": fit.settings.as_dict(),
        "markets": {
            **{name: getattr(markets, name) for name in LABELS},
            "columns": asdict(markets.columns),
            "kind": markets.kind,
        },
        "training": fit.training,
        "runs": run_facts(fit.runs),
    }
    write_tensors(path, CHOICE_FIT, about, {**tensors, **run_tensors(fit.runs)})


def load(path: str | Path) -> "ChoiceFit":
    """Read a file written by `ChoiceFit.save`; predictions are the same as before saving."""
    from dgd.choice.fit import ChoiceFit

    path = Path(path)
    about, tensors = read_tensors(path, CHOICE_FIT)
    try:
        markets = _markets(about["markets"], tensors)
        settings = ChoiceSettings(**about["settings"])
        with computing():
            template = _template(settings, markets)
            runs = tuple(read_run(facts, tensors, template) for facts in about["runs"])
        return ChoiceFit(settings, markets, tuple(about["training"]), runs)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise incomplete(path, error) from error


def _markets(facts: dict[str, Any], tensors: dict[str, np.ndarray]) -> Markets:
    grids: dict[str, Any] = {name: tensors[f"markets/{name}"] for name in GRIDS}
    labels: dict[str, Any] = {name: tuple(facts[name]) for name in LABELS}
    columns = OfferColumns(**facts["columns"])
    return Markets(**grids, **labels, columns=columns, kind=facts["kind"])


def _template(settings: ChoiceSettings, markets: Markets) -> ChoiceDemand:
    """A model of the right shape, to be filled from the file."""
    attributes = len(markets.attribute_names)
    start = ChoiceStart(Scales.plain(attributes), np.zeros(attributes), 1.0)
    return start.model(
        np.random.default_rng(0),
        cohorts=len(markets.cohorts),
        components=settings.components,
        dim=settings.dim,
        nodes=settings.nodes,
        scale=settings.initial_scale,
        population=settings.population,
    )
