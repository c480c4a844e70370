"""Backtests: rolling origins, the same origin-endpoint pairs for every forecaster.

Origin o means that counts through day o are known. A horizon of D days scores
the endpoint o + D, for every origin from the day before the first test day on
whose endpoint is still a counted day: seven test days give seven one-day and
five three-day endpoints. Each seed is scored on its own, then scores are averaged.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from dgd.errors import InputError
from dgd.forecasting.protocol import (
    Fitted,
    Forecaster,
    checked_dispersion,
    checked_predictions,
    settings_of,
)
from dgd.model.patterns import behavior_bits
from dgd.panel.panel import Panel
from dgd.scoring import behavior_scores, count_scores
from dgd.tables.frames import from_polars
from dgd.tables.periods import Moment

Endpoint: TypeAlias = tuple[
    Float[np.ndarray, "seed day unit cohort"], Float[np.ndarray, "seed day unit cohort pattern"]
]
"""Arrivals and joint probabilities forecast for one day per origin."""

BacktestProgress: TypeAlias = Callable[[str, int, int, float], None]
"""Told (model, seed, epochs done, best validation objective) now and then."""


@dataclass(frozen=True, eq=False)
class Backtest:
    """Scores of several forecasters on the same days."""

    panel: Panel
    fits: Mapping[str, Fitted]
    """Every forecaster as fitted."""
    scores: pl.DataFrame
    """One row per model, horizon, metric and seed."""
    totals: pl.DataFrame
    """One row per model, horizon, endpoint and series: the day's total, recorded and forecast."""

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """What every forecaster was given or chose on the validation days."""
        return {name: settings_of(fitted) for name, fitted in self.fits.items()}

    def to_frame(self, kind: str | None = None) -> Any:
        """One row per model, horizon and metric.

        `mean` and `sd` are over seeds, each scored on its own; `sd` divides by
        seeds - 1 and is missing where there is one seed. `origins` is the number of
        origin-endpoint pairs, the same for all models.
        """
        keys = ["model", "horizon", "metric"]
        table = self.scores.group_by(keys, maintain_order=True).agg(
            pl.col("score").mean().alias("mean"),
            pl.col("score").std().alias("sd"),
            pl.len().cast(pl.Int64).alias("seeds"),
            pl.col("origins").first(),
        )
        return from_polars(table, kind or self.panel.kind)

    def seeds_to_frame(self, kind: str | None = None) -> Any:
        """One row per model, horizon, metric and seed, seeds numbered in their order from 0."""
        return from_polars(self.scores, kind or self.panel.kind)

    def daily(self, kind: str | None = None) -> Any:
        """One row per model, horizon, endpoint and series, for charts.

        A series is "arrivals" or a behaviour; its total over units and cohorts
        is forecast by the mean over seeds.
        """
        return from_polars(self.totals, kind or self.panel.kind)

    def __repr__(self) -> str:
        horizons = ", ".join(str(h) for h in self.scores["horizon"].unique().sort())
        return f"Backtest({', '.join(self.fits)}; horizons {horizons}; {self.panel!r})"


def backtest(
    panel: Panel,
    forecasters: Mapping[str, Forecaster | Fitted],
    *,
    horizons: Sequence[int] = (1, 3, 7),
    train_end: Moment,
    validation_end: Moment,
    warmup_end: Moment | None = None,
    seeds: Sequence[int] = (1, 2, 3),
    test_start: Moment | None = None,
    progress: BacktestProgress | None = None,
) -> Backtest:
    """Fit every forecaster, predict the test days from rolling origins, and score.

    **Arguments:**

    - `forecasters`: by name; objects with `fit`, or already fitted ones with `predict`
        (see `dgd.forecaster`), your own included.
    - `horizons`: how many days ahead; each is scored at its endpoint.
    - `train_end`, `validation_end`, `warmup_end`: as in `DGD.fit`; the days
        after `validation_end` are only scored.
    - `seeds`: for forecasters that train.
    - `test_start`: the first day to be scored; the day after `validation_end` by default.
    - `progress`: called with (model, seed, epochs done, best validation objective).
    """
    first = _first_test_day(panel, validation_end, test_start)
    pairs = {horizon: _origins(panel, first, horizon) for horizon in _refuse_horizons(horizons)}
    if not forecasters:
        raise InputError("forecasters is empty; name at least one, like {'dgd': dgd.DGD()}.")
    fits, scores, totals = {}, [], []
    for name, forecaster in forecasters.items():
        if isinstance(forecaster, Fitted):
            fitted = forecaster
        elif isinstance(forecaster, Forecaster):
            fitted = forecaster.fit(
                panel,
                train_end=train_end,
                validation_end=validation_end,
                warmup_end=warmup_end,
                seeds=seeds,
                progress=None if progress is None else partial(progress, name),
            )
        else:
            raise _not_a_forecaster(name, forecaster)
        _refuse_foreign(name, fitted, panel, first)
        fits[name] = fitted
        for horizon, origins in pairs.items():
            labels = {"model": name, "horizon": horizon}
            arrivals, patterns = checked_predictions(name, fitted, origins, horizon)
            dispersion = checked_dispersion(name, fitted, origins, arrivals)
            endpoint = (arrivals[:, -1], patterns[:, -1])
            spread = None if dispersion is None else dispersion[:, -1]
            scores.append(_scores(panel, origins + horizon, endpoint, spread, labels))
            totals.append(_totals(panel, origins, horizon, endpoint, name))
    return Backtest(panel, fits, pl.concat(scores), pl.concat(totals))


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
        found["arrival_deviance"] = count_scores.negative_binomial_deviance(*law)
        found["arrival_crps"] = count_scores.negative_binomial_crps(*law)
    return found


def _scores(
    panel: Panel,
    days: Int[np.ndarray, " day"],
    endpoint: Endpoint,
    dispersion: Float[np.ndarray, "seed day unit cohort"] | None,
    labels: Mapping[str, Any],
) -> pl.DataFrame:
    rows = []
    for seed, (arrivals, patterns) in enumerate(zip(*endpoint, strict=True)):
        spread = None if dispersion is None else dispersion[seed]
        found = score_days(panel, days, arrivals, patterns, spread)
        rows += [
            {**labels, "metric": metric, "seed": seed, "score": score, "origins": len(days)}
            for metric, score in found.items()
        ]
    return pl.DataFrame(rows)


def _totals(
    panel: Panel,
    origins: Int[np.ndarray, " origin"],
    horizon: int,
    endpoint: Endpoint,
    name: str,
) -> pl.DataFrame:
    days = origins + horizon
    arrivals, patterns = endpoint
    shown = (arrivals[..., None] * (patterns @ behavior_bits(len(panel.behaviors)))).sum((2, 3))
    forecast = {"arrivals": arrivals.sum((2, 3)).mean(0)}
    recorded = {"arrivals": panel.arrivals[days].sum((1, 2))}
    for h, behavior in enumerate(panel.behaviors):
        forecast[behavior] = shown[..., h].mean(0)
        recorded[behavior] = panel.behavior_counts[days, ..., h].sum((1, 2))
    tables = [
        pl.DataFrame(
            [
                panel.period.series("origin", panel.dates[origins]),
                panel.period.series("date", panel.dates[days]),
                pl.Series("series", [series] * len(days)),
                pl.Series("observed", recorded[series]),
                pl.Series("forecast", forecast[series]),
            ]
        )
        for series in forecast
    ]
    named = [pl.lit(name).alias("model"), pl.lit(horizon, pl.Int64).alias("horizon")]
    return pl.concat(tables).select(*named, pl.all())


def _first_test_day(panel: Panel, validation_end: Moment, test_start: Moment | None) -> int:
    after = panel.place(validation_end, "validation_end") + 1
    first = after if test_start is None else panel.place(test_start, "test_start")
    if first < after:
        raise InputError(
            f"test_start {test_start} is not after validation_end {validation_end}; days on which "
            "choices were made cannot be scored."
        )
    return first


def _origins(panel: Panel, first: int, horizon: int) -> Int[np.ndarray, " origin"]:
    """All origins whose endpoint `horizon` days on is a counted test day."""
    origins = np.arange(first - 1, panel.days - horizon)
    if not len(origins):
        raise InputError(
            f"horizon {horizon} is longer than the {panel.days - first} test "
            f"{panel.period.name}s up to {panel.dates[-1]}; leave it out or test on more."
        )
    return origins


def _refuse_horizons(horizons: Sequence[int]) -> Sequence[int]:
    if not horizons or min(horizons) < 1 or len(set(horizons)) < len(horizons):
        raise InputError(
            f"horizons is {list(horizons)}; give numbers of periods ahead, from 1 on, each once."
        )
    return horizons


def _refuse_foreign(name: str, fitted: object, panel: Panel, first: int) -> None:
    """Refuse what cannot predict, was fitted on other counts, or has seen the test days."""
    if not isinstance(fitted, Fitted):
        raise _not_a_forecaster(name, fitted)
    if fitted.panel is not panel and not np.array_equal(fitted.panel.patterns, panel.patterns):
        raise InputError(
            f'forecaster "{name}" was fitted on another panel, {fitted.panel!r}; hand over one '
            "fitted on this panel, or unfitted."
        )
    if fitted.split.validation_stop > first:
        raise InputError(
            f'forecaster "{name}" was fitted on days up to '
            f"{panel.dates[fitted.split.validation_stop - 1]}, but scoring begins on "
            f"{panel.dates[first]}; start the test later or hand over an earlier fit."
        )


def _not_a_forecaster(name: str, found: object) -> InputError:
    return InputError(
        f'forecaster "{name}" is a {type(found).__name__} without fit, or without panel, split '
        "and predict once fitted; see dgd.forecaster for what it needs."
    )
