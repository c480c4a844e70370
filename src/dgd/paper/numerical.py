"""Appendix F: the numbers behind learning from counts, checked on fitted models."""

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from dgd.datasets import Dataset
from dgd.diagnostics import check_nodes, counts_against_events, tilting_table
from dgd.diagnostics.gradients import gradient_check
from dgd.fit import Fit
from dgd.paper.models import SEEDS, Scored
from dgd.paper.presets import Preset, paper_preset, preset_that_forecasts
from dgd.paper.rows import Row, table_of

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


def numerical(scored: Scored) -> pl.DataFrame:
    """Counts against events, gradients, tilting and quadrature, ours beside the paper's.

    A figure is the largest over all models and seeds that its row names.
    """
    rows: list[Row] = []
    retail_changes = []
    for window, dataset in scored.windows.retail.items():
        base = paper_preset(window, dataset)
        fits = _fitted(scored, window, dataset, base, RETAIL_VARIANTS)
        label = base.named("DGD")
        rows += [
            *_of_counts(label, fits["DGD"], window),
            *_of_gradients(label, fits["DGD"], window),
        ]
        rows += _of_tilting(label, fits["DGD"], window)
        retail_changes += [_change(fit) for fit in fits.values()]
    if retail_changes:
        name = f"{len(retail_changes) * len(SEEDS)} Gaussian models, paper preset"
        rows.append(_quadrature(name, "Retail", max(retail_changes), QUADRATURE_RETAIL))
    for window, dataset in scored.windows.by_hour.items():
        base = preset_that_forecasts(window, dataset)
        fits = _fitted(scored, window, dataset, base, KUAIRAND_VARIANTS)
        label, told = base.named("DGD"), "DGD trained on events"
        rows += [
            *_of_counts(label, fits["DGD"], window),
            *_of_gradients(label, fits["DGD"], window),
        ]
        rows += _of_tilting(base.named(told), fits[told], window)
        name = base.named(f"{len(fits) * len(SEEDS)} Gaussian models")
        largest = max(_change(fit) for fit in fits.values())
        rows.append(_quadrature(name, window, largest, QUADRATURE_ALL))
        rows.append(_quadrature(label, window, _change(fits["DGD"]), QUADRATURE_DGD))
    return table_of(rows)


def _fitted(
    scored: Scored,
    window: str,
    dataset: Dataset,
    base: Preset,
    variants: Mapping[str, Mapping[str, str]],
) -> dict[str, Fit]:
    fits = {}
    for name, changed in variants.items():
        scored.progress(f"fitting {name} on {window}")
        fits[name] = base.model(**changed).fit(
            dataset.panel,
            warmup_end=dataset.window.warmup_end,
            train_end=dataset.window.train_end,
            validation_end=dataset.window.validation_end,
            seeds=SEEDS,
            progress=False,
        )
        scored.made_with.keep_fit(base.named(name), window, fits[name])
    return fits


def _of_counts(label: str, fit: Fit, window: str) -> Iterator[Row]:
    for (form,), table in counts_against_events(fit).group_by("events", maintain_order=True):
        for what, paper in (("objective", 0.0), ("gradient", GRADIENT_DIFFERENCE)):
            largest = float(table[f"{what} difference"].to_numpy().max())
            metric = f"events {form} against counts, {what}"
            yield Row(label, window, metric, largest, None, paper)


def _of_gradients(label: str, fit: Fit, window: str) -> Iterator[Row]:
    """The paper says that they agree and do not vanish, and prints no figure."""
    table = gradient_check(fit)
    shape = table.filter(pl.col("array").is_in(DISTRIBUTION))
    off = float(shape["difference"].to_numpy().max())
    yield Row(label, window, "autodiff against central differences", off)
    dynamics = table.filter(pl.col("array").str.starts_with(FEEDBACK))
    if len(fit.panel.units) == 1:  # a single unit cannot depart from the common environment
        dynamics = dynamics.filter(pl.col("array") != UNIT_GAIN)
    least = float(dynamics["largest gradient"].to_numpy().min())
    yield Row(label, window, "smallest gradient of feedback", least)


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
