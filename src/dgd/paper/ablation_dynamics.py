"""Table ablation-dynamics: what carrying responses from day to day adds."""

import polars as pl

from dgd.paper.models import ROW, Scored, dgd_for

DYNAMICS = {"DGD": "feedback", "Without internal dynamics": "none"}
_FIGURES = {"DGD": (16.47, 22.76), "Without internal dynamics": (34.08, 38.32)}
PAPER = {
    (model, "Random", f"count MAE, {days} days"): value
    for model, values in _FIGURES.items()
    for days, value in zip((1, 3), values, strict=True)
}


def ablation_dynamics(scored: Scored) -> pl.DataFrame:
    """On the paper's random window where its files are there, and on the late one."""
    parts = [pl.DataFrame(schema=ROW)]
    for window in ("Random", "KuaiRand late"):
        if window in scored.windows.kuairand:
            base = dgd_for(window, scored.windows.kuairand[window])
            models = {name: base(dynamics=part) for name, part in DYNAMICS.items()}
            metrics = {"behavior_count_mae": "count MAE"}
            parts.append(scored.compare(window, models, [1, 3], metrics, PAPER))
    return pl.concat(parts)
