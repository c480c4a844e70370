"""Appendix F: the numbers behind learning from counts, checked on fitted models."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from dgd.datasets import Dataset
from dgd.diagnostics import check_nodes, counts_against_events, tilting_table
from dgd.diagnostics.gradients import gradient_check
from dgd.estimator import DGD
from dgd.fit import Fit
from dgd.paper.models import RETAIL_EPOCHS, ROW, SEEDS, Scored, dgd_for

NODES = (7, 25, 61)
TILTING = dict(zip(NODES, (9.65e-4, 1.01e-5, 4.36e-8), strict=True))
QUADRATURE_ALL, QUADRATURE_DGD, QUADRATURE_RETAIL = 0.001747, 0.000251, 1.62e-5
GRADIENT_DIFFERENCE = 5.55e-17

RETAIL_VARIANTS = {
    "DGD": {},
    "Fixed Gaussian": {"population": "fixed"},
    "Without internal dynamics": {"dynamics": "none"},
}
KUAIRAND_VARIANTS = {
    **RETAIL_VARIANTS,
    "Separated readout": {"readout": "separated"},
    "DGD trained on events": {"supervision": "events"},
}
DISTRIBUTION = ("population.logits", "population.means", "population.raw_diagonal")
FEEDBACK = "feedback."
UNIT_GAIN = "feedback.environment.raw_unit_gain"


class Row(NamedTuple):
    """One line of the table; the figure is the largest over all models and seeds it names."""

    model: str
    window: str
    metric: str
    mean: float
    sd: float | None
    paper: float | None


def numerical(scored: Scored) -> pl.DataFrame:
    """Counts against events, gradients, tilting and quadrature, ours beside the paper's."""
    rows: list[Row] = []
    retail_changes = []
    for window, dataset in scored.windows.retail.items():
        base = _retail_base(dataset)
        fits = _fitted(scored, window, dataset, base, RETAIL_VARIANTS)
        rows += [*_of_counts(fits["DGD"], window), *_of_gradients(fits["DGD"], window)]
        rows += _of_tilting("DGD", fits["DGD"], window)
        retail_changes += [_change(fit) for fit in fits.values()]
    if retail_changes:
        name = f"{len(retail_changes) * len(SEEDS)} Gaussian models"
        rows.append(_quadrature(name, "Retail", max(retail_changes), QUADRATURE_RETAIL))
    for window, dataset in scored.windows.by_hour.items():
        fits = _fitted(scored, window, dataset, dgd_for(window, dataset), KUAIRAND_VARIANTS)
        rows += [*_of_counts(fits["DGD"], window), *_of_gradients(fits["DGD"], window)]
        rows += _of_tilting("DGD trained on events", fits["DGD trained on events"], window)
        name = f"{len(fits) * len(SEEDS)} Gaussian models"
        largest = max(_change(fit) for fit in fits.values())
        rows.append(_quadrature(name, window, largest, QUADRATURE_ALL))
        rows.append(_quadrature("DGD", window, _change(fits["DGD"]), QUADRATURE_DGD))
    return pl.DataFrame(rows, schema=ROW, orient="row")


def _retail_base(dataset: Dataset) -> Callable[..., DGD]:
    def base(**changed: str) -> DGD:
        return DGD.paper(
            epochs=RETAIL_EPOCHS, summary_retention=dataset.summary_retention, **changed
        )

    return base


def _fitted(
    scored: Scored,
    window: str,
    dataset: Dataset,
    base: Callable[..., DGD],
    variants: Mapping[str, Mapping[str, str]],
) -> dict[str, Fit]:
    fits = {}
    for name, changed in variants.items():
        scored.progress(f"fitting {name} on {window}")
        fits[name] = base(**changed).fit(
            dataset.panel,
            warmup_end=dataset.window.warmup_end,
            train_end=dataset.window.train_end,
            validation_end=dataset.window.validation_end,
            seeds=SEEDS,
        )
    return fits


def _of_counts(fit: Fit, window: str) -> Iterator[Row]:
    for (form,), table in counts_against_events(fit).group_by("events", maintain_order=True):
        for what, paper in (("objective", 0.0), ("gradient", GRADIENT_DIFFERENCE)):
            largest = float(table[f"{what} difference"].to_numpy().max())
            yield Row("DGD", window, f"events {form} against counts, {what}", largest, None, paper)


def _of_gradients(fit: Fit, window: str) -> Iterator[Row]:
    """The paper says that they agree and do not vanish, and prints no figure."""
    table = gradient_check(fit)
    shape = table.filter(pl.col("array").is_in(DISTRIBUTION))
    off = float(shape["difference"].to_numpy().max())
    yield Row("DGD", window, "autodiff against central differences", off, None, None)
    dynamics = table.filter(pl.col("array").str.starts_with(FEEDBACK))
    if len(fit.panel.units) == 1:  # a single unit cannot depart from the common environment
        dynamics = dynamics.filter(pl.col("array") != UNIT_GAIN)
    least = float(dynamics["largest gradient"].to_numpy().min())
    yield Row("DGD", window, "smallest gradient of feedback", least, None, None)


def _of_tilting(model: str, fit: Fit, window: str) -> Iterator[Row]:
    table = tilting_table(fit, NODES)
    for nodes in NODES:
        found = table.filter(pl.col("nodes") == nodes)["NLL difference"].to_numpy().max()
        metric = f"tilted NLL difference, {nodes} nodes"
        yield Row(model, window, metric, float(found), None, TILTING[nodes])


def _change(fit: Fit) -> float:
    """The largest change of any seed's test NLL from 7 to 25 nodes."""
    return float(np.abs(check_nodes(fit, [25]).table["NLL change"].to_numpy()).max())


def _quadrature(model: str, window: str, change: float, paper: float) -> Row:
    return Row(model, window, "NLL change, 7 to 25 nodes", change, None, paper)
