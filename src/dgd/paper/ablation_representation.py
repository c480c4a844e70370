"""Table ablation-representation: what learning the distribution adds."""

from itertools import combinations

import polars as pl

from dgd.datasets.kuairand_rows import BEHAVIORS
from dgd.paper.models import ROW, Scored, dgd_for

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
_FIGURES = {
    "DGD": (1.1232, 0.0683, 4.21, 0.393),
    "Fixed Gaussian": (1.2594, 0.0761, 6.36, 0.890),
    "Matched discrete": (1.1339, 0.0685, 4.25, 0.404),
    "Point representation": (1.2443, 0.0734, 5.74, 0.962),
}
PAPER = {
    (model, "Standard", metric): value
    for model, values in _FIGURES.items()
    for metric, value in zip(METRICS.values(), values, strict=True)
}


def ablation_representation(scored: Scored) -> pl.DataFrame:
    """On the paper's standard window where its files are there, and on the late one."""
    parts = [pl.DataFrame(schema=ROW)]
    for window in ("Standard", "KuaiRand late"):
        if window in scored.windows.kuairand:
            base = dgd_for(window, scored.windows.kuairand[window])
            models = {name: base(population=part) for name, part in POPULATIONS.items()}
            parts.append(scored.compare(window, models, [1], METRICS | PAIRS, PAPER))
    return pl.concat(parts)
