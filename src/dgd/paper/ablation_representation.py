"""Table ablation-representation: what learning the distribution adds."""

from itertools import combinations
from typing import Any

import polars as pl

from dgd.datasets.kuairand_rows import BEHAVIORS
from dgd.estimator import DGD
from dgd.paper.models import Scored
from dgd.paper.presets import LATE, Preset, paper_preset, preset_that_trains
from dgd.paper.rows import table_of

METRICS = {
    "joint_nll": "joint NLL",
    "mean_brier": "mean Brier",
    "cohort_rate_mae": "cohort MAE (pp)",
    "pair_mae": "pair MAE (pp)",
}
PAIRS = {
    f"pair_mae_{one}_{other}": f"pair MAE {one} + {other} (pp)"
    for one, other in combinations(BEHAVIORS.values(), 2)
}
"""Every pair by itself: 21 of the seven behaviours."""
POPULATIONS = {
    "DGD": "gaussian",
    "Fixed Gaussian": "fixed",
    "Matched discrete": "discrete",
    "Point representation": "point",
}
ELSEWHERE: tuple[dict[str, Any], ...] = (
    {"epochs": 1500, "patience": 1500},
    {"start": "training"},
)
"""What the late window is trained with besides: far beyond the paper's 300 epochs, which stop
some variants early and the others before they are done, and from the training days."""
_FIGURES = {
    "DGD": (1.1232, 0.0683, 4.21, 0.393),
    "Fixed Gaussian": (1.2594, 0.0761, 6.36, 0.890),
    "Matched discrete": (1.1339, 0.0685, 4.25, 0.404),
    "Point representation": (1.2443, 0.0734, 5.74, 0.962),
}
PAPER = {
    (f"{model}, paper preset", "Standard", metric): value
    for model, values in _FIGURES.items()
    for metric, value in zip(METRICS.values(), values, strict=True)
}


def ablation_representation(scored: Scored) -> pl.DataFrame:
    """On the paper's standard window where its files are there, and on the late one."""
    parts = [table_of([])]
    for window in ("Standard", LATE):
        if window in scored.windows.kuairand:
            dataset = scored.windows.kuairand[window]
            models = _variants(preset_that_trains(window, dataset))
            parts.append(scored.compare(window, models, [1], METRICS | PAIRS, PAPER))
    if LATE in scored.windows.kuairand:
        for changed in ELSEWHERE:
            base = paper_preset(LATE, scored.windows.kuairand[LATE], calendar="auto", **changed)
            parts.append(scored.compare(LATE, _variants(base), [1], METRICS, PAPER))
    return pl.concat(parts)


def _variants(base: Preset) -> dict[str, DGD]:
    return {base.named(name): base.model(population=part) for name, part in POPULATIONS.items()}
