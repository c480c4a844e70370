"""Table behavior-nll: joint behavioural NLL of all models."""

import polars as pl

from dgd.paper.models import Scored

_FIGURES = {
    "DGD, paper preset": (1.1232, 0.7591, 1.7357, 1.7555),
    "DeepAR-joint, paper preset": (1.3466, 0.7899, 1.8819, 1.8305),
    "Full-projection GRU, calendar weekday": (1.2290, 0.7970, None, None),
    "Restricted-projection GRU, calendar weekday": (1.2307, 0.7972, None, None),
}
_WINDOWS = ("Standard", "Random", "Retail 2010", "Retail 2011")
PAPER = {
    (model, window, "joint NLL"): value
    for model, values in _FIGURES.items()
    for window, value in zip(_WINDOWS, values, strict=True)
    if value is not None
}


def behavior_nll(scored: Scored) -> pl.DataFrame:
    metrics = {"joint_nll": "joint NLL"}
    return pl.concat([scored.rows(window, metrics, PAPER) for window in scored.windows.all])
