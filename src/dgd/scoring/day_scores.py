"""Every score of one forecast, by name."""

from itertools import combinations

import numpy as np
from jaxtyping import Float, Int

from dgd.panel.panel import Panel
from dgd.scoring import behavior_scores, count_scores


def score_days(
    panel: Panel,
    days: Int[np.ndarray, " day"],
    arrivals: Float[np.ndarray, "day unit cohort"],
    patterns: Float[np.ndarray, "day unit cohort pattern"],
    dispersion: Float[np.ndarray, "day unit cohort"] | None = None,
) -> dict[str, float]:
    """Every score of one forecast for `days` of the panel, by name.

    Deviance and CRPS need the `dispersion` of a forecast distribution;
    co-occurrence needs at least two behaviours.
    """
    counts = panel.patterns[days].astype(np.float64)
    recorded = panel.arrivals[days].astype(np.float64)
    by_behavior = behavior_scores.brier(counts, patterns)
    found = {
        "joint_nll": behavior_scores.joint_nll(counts, patterns),
        "mean_brier": behavior_scores.mean_brier(counts, patterns),
        **{f"brier_{b}": float(by_behavior[h]) for h, b in enumerate(panel.behaviors)},
        "rate_mae": behavior_scores.rate_mae(counts, patterns),
        "cohort_rate_mae": behavior_scores.cohort_rate_mae(counts, patterns),
        "behavior_count_mae": behavior_scores.behavior_count_mae(counts, arrivals, patterns),
        "arrival_mae": count_scores.arrival_mae(recorded, arrivals),
        "cell_arrival_mae": count_scores.cell_arrival_mae(recorded, arrivals),
    }
    if len(panel.behaviors) > 1:
        found["pair_mae"] = behavior_scores.pair_mae(counts, patterns)
        named = combinations(panel.behaviors, 2)
        pairs = zip(named, behavior_scores.pair_errors(counts, patterns), strict=True)
        found |= {f"pair_mae_{one}_{other}": float(error) for (one, other), error in pairs}
    if dispersion is not None:
        law = (recorded, arrivals, dispersion)
        found["arrival_deviance"] = count_scores.arrival_deviance(*law)
        found["arrival_crps"] = count_scores.arrival_crps(*law)
    return found
