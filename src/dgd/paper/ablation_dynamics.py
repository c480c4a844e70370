"""Table ablation-dynamics: what carrying responses from day to day adds."""

import polars as pl

from dgd.paper.models import Scored
from dgd.paper.presets import LATE, preset_that_forecasts
from dgd.paper.rows import table_of

DYNAMICS = {"DGD": "feedback", "Without internal dynamics": "none"}
_FIGURES = {"DGD": (16.47, 22.76), "Without internal dynamics": (34.08, 38.32)}
PAPER = {
    (f"{model}, paper preset", "Random", f"count MAE, {days} days"): value
    for model, values in _FIGURES.items()
    for days, value in zip((1, 3), values, strict=True)
}


def ablation_dynamics(scored: Scored) -> pl.DataFrame:
    """On the paper's random window where its files are there, and on the late one."""
    parts = [table_of([])]
    for window in ("Random", LATE):
        if window in scored.windows.kuairand:
            base = preset_that_forecasts(window, scored.windows.kuairand[window])
            models = {base.named(name): base.model(dynamics=p) for name, p in DYNAMICS.items()}
            metrics = {"behavior_count_mae": "count MAE"}
            parts.append(scored.compare(window, models, [1, 3], metrics, PAPER))
    return pl.concat(parts)
