r"""Scores of what a forecaster draws: whether its ranges of daily totals cover, how wide they are,
and how good its distribution is as a whole.

Of each origin the day `horizon` days on is drawn many times, and its total over units and
cohorts compared with what was recorded, for arrivals and for every behaviour:

- coverage: the share of days on which an interval of a level holds what was recorded;
- width: of those intervals, on average;
- CRPS: :math:`E|X - y| - E|X - X'|/2`, in counts, like an absolute error;
- energy score: the same for all series at once, :math:`E\|X - y\| - E\|X - X'\|/2`.

A forecaster that has calibrated itself at past origins shows the intervals it promises; others
show the central ones of their paths. A level that it refuses has neither coverage nor width.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
import scoringrules
from jaxtyping import Float, Int

from dgd.forecasting.asked import Asked, counted_series
from dgd.forecasting.calibration import shown_interval
from dgd.forecasting.predictive import Predictive
from dgd.panel.panel import Panel

MOST_AT_ONCE = 8_000_000
"""Counts of patterns that are drawn at once; more paths come in several draws."""
SEED = 0

SCHEMA = {
    "series": pl.String,
    "level": pl.Float64,
    "coverage": pl.Float64,
    "width": pl.Float64,
    "crps": pl.Float64,
    "energy": pl.Float64,
    "origins": pl.Int64,
}


def score_ranges(
    panel: Panel,
    origins: Int[np.ndarray, " origin"],
    horizon: int,
    predicted: Predictive,
    levels: Sequence[float],
    paths: int,
) -> pl.DataFrame:
    """One row per series and level; no rows where nothing can be drawn or asked for."""
    if not paths or not predicted.can_sample:
        return pl.DataFrame(schema=SCHEMA)
    asked = Asked.of_days(panel)
    drawn = drawn_totals(predicted, np.random.default_rng(SEED), paths)
    recorded = counted_series(panel.patterns[origins + horizon]).sum((1, 2)).astype(np.float64)
    crps = scoringrules.crps_ensemble(recorded, drawn, m_axis=0, estimator="qd").mean(0)
    energy = float(scoringrules.es_ensemble(recorded, np.moveaxis(drawn, 0, 1)).mean())
    rows = []
    for group in asked.groups():
        for level in levels:
            shown: float | None = level / 100
            if predicted.promise is not None:
                shown = predicted.promise(asked, group, level, horizon).path_level
            for number in group:
                held = _held(drawn[..., number], recorded[:, number], shown)
                about = (float(crps[number]), energy, len(origins))
                rows.append((asked.series[number], float(level), *held, *about))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def drawn_totals(
    predicted: Predictive, rng: np.random.Generator, paths: int
) -> Float[np.ndarray, "path origin counted"]:
    """Totals of the last step: arrivals, then behaviours."""
    parts = list(_draws(predicted, rng, paths))
    return np.concatenate(parts).astype(np.float64)


def _draws(
    predicted: Predictive, rng: np.random.Generator, paths: int
) -> Iterator[Int[np.ndarray, "path origin counted"]]:
    """Paths in draws that fit into memory, each with as many of every seed."""
    seeds = len(predicted.arrivals)
    each = max(MOST_AT_ONCE // predicted.patterns[0].size, 1)
    each = max(each // seeds, 1) * seeds
    while paths > 0:
        drawn = predicted.sample(rng, min(each, paths))[:, -1]
        yield counted_series(drawn).sum((2, 3))
        paths -= each


def _held(
    drawn: Float[np.ndarray, "path origin"],
    recorded: Float[np.ndarray, " origin"],
    shown: float | None,
) -> tuple[float | None, float | None]:
    """Coverage and mean width of the intervals that show so much of the paths."""
    if shown is None:
        return None, None
    low, high = shown_interval(drawn, shown)
    return float(((low <= recorded) & (recorded <= high)).mean()), float((high - low).mean())
