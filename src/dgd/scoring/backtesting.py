"""Backtests: rolling origins, the same origin-endpoint pairs for every forecaster.

Origin o means that counts through day o are known. A horizon of D days scores
the endpoint o + D, for every origin from the day before the first test day on
whose endpoint is still a counted day: seven test days give seven one-day and
five three-day endpoints. Each seed is scored on its own, then scores are averaged.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from jaxtyping import Int

from dgd.errors import InputError
from dgd.forecasting.calibration import checked_levels
from dgd.forecasting.predictive import Predictive
from dgd.forecasting.protocol import Fitted, Forecaster, checked_prediction, settings_of
from dgd.forecasting.totals import daily_totals
from dgd.learning.bars import Board
from dgd.learning.loop import Progress
from dgd.learning.progress import board_of, refuse_progress, silent
from dgd.learning.seeds import checked_seeds
from dgd.panel.panel import Panel
from dgd.scoring.comparison import compare_with_best, compare_with_each, model_in_question
from dgd.scoring.day_scores import score_days
from dgd.scoring.origin_scores import score_origins
from dgd.scoring.range_scores import score_ranges
from dgd.scoring.shown import shown_ranges, shown_scores
from dgd.scoring.verdict import verdict_on
from dgd.tables.frames import from_polars
from dgd.tables.html import html_summary
from dgd.tables.periods import Moment

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
    by_origin: pl.DataFrame
    """One row per model, horizon, metric and endpoint: the day's score, the mean over seeds."""
    by_level: pl.DataFrame
    """One row per model, horizon, series and level: what drawn ranges of daily totals cover."""

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """What every forecaster was given or chose on the validation days."""
        return {name: settings_of(fitted) for name, fitted in self.fits.items()}

    @property
    def diverged(self) -> dict[str, tuple[int, ...]]:
        """The seeds whose training diverged, of every forecaster that has such seeds."""
        found = {name: getattr(fitted, "diverged", ()) for name, fitted in self.fits.items()}
        return {name: seeds for name, seeds in found.items() if seeds}

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

    def origins_to_frame(self, kind: str | None = None) -> Any:
        """One row per model, horizon, metric and endpoint, for the scores that are compared.

        `score` is the mean over seeds, `weight` what the day counts in the score of all days:
        its recorded events in the joint NLL, 1 in errors of counts.
        """
        return from_polars(self.by_origin, kind or self.panel.kind)

    def ranges(self, kind: str | None = None) -> Any:
        """One row per model, horizon, series and level, for every forecaster that can draw counts.

        `coverage` and `width` are of intervals of the daily total, missing where a forecaster
        refuses the level; `crps` and `energy`, the score of all series at once, are of its whole
        distribution. All but coverage are in counts, lower being better.
        """
        return from_polars(self.by_level, kind or self.panel.kind)

    def comparison(self, kind: str | None = None) -> Any:
        """One row per horizon and metric: the model named "dgd", or the first, against the best
        of the others, picked with hindsight.

        `difference` is the model's score minus the opponent's, paired over origins; `low` and
        `high` are its 95% interval and missing, like `p_value`, where origins are too few.
        """
        return from_polars(compare_with_best(self.by_origin), kind or self.panel.kind)

    def opponents(self, kind: str | None = None) -> Any:
        """One row per horizon, metric and opponent, with the columns of `comparison`."""
        return from_polars(compare_with_each(self.by_origin), kind or self.panel.kind)

    @property
    def model(self) -> str:
        """The one in question: named "dgd", or the first."""
        return model_in_question(list(self.fits))

    def verdict(self) -> tuple[str, ...]:
        """Who won, in a sentence per horizon and metric, and whether that is more than chance."""
        compared = compare_with_best(self.by_origin)
        return verdict_on(compared, len(self.fits) - 1, self.panel.period.name)

    def shown(self) -> dict[str, pl.DataFrame]:
        """Scores and what ranges cover as people read them, by their titles; of ranges nothing
        where none were drawn."""
        tables = {"Scores, lower is better": shown_scores(self.to_frame("polars"))}
        if self.by_level.height:
            tables["Ranges of daily totals"] = shown_ranges(self.by_level)
        return tables

    def payload(self) -> dict[str, Any]:
        """Scores, who won, settings and daily totals as plain values."""
        return {
            "scores": self.to_frame("polars").to_dicts(),
            "ranges": self.ranges("polars").to_dicts(),
            "comparison": self.comparison("polars").to_dicts(),
            "opponents": self.opponents("polars").to_dicts(),
            "verdict": list(self.verdict()),
            "settings": self.settings,
            "daily": self.daily("polars").to_dicts(),
        }

    def __repr__(self) -> str:
        horizons = ", ".join(str(h) for h in self.scores["horizon"].unique().sort())
        return f"Backtest({', '.join(self.fits)}; horizons {horizons}; {self.panel!r})"

    def _repr_html_(self) -> str:
        return html_summary(repr(self), self.verdict(), self.shown())


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
    levels: Sequence[float] = (80, 95),
    paths: int = 400,
    progress: BacktestProgress | Board | bool | None = None,
) -> Backtest:
    """Fit every forecaster, predict the test days from rolling origins, and score.

    Args:
        forecasters: by name; objects with `fit`, or already fitted ones with `predict`
            (see `dgd.forecasting`), your own included.
        horizons: how many days ahead; each is scored at its endpoint.
        train_end, validation_end, warmup_end: as in `DGD.fit`; the days
            after `validation_end` are only scored.
        seeds: for forecasters that train.
        test_start: the first day to be scored; the day after `validation_end` by default.
        levels: of the intervals that are scored, in per cent.
        paths: how many futures are drawn at each origin to score ranges; none with 0.
        progress: bars of every forecaster that trains, where standard error is a terminal or in
            a notebook; on a board that is drawn already; none with False; or a function to be
            called with (model, seed, epochs done, best validation objective).
    """
    refuse_progress(progress)
    if paths < 0:
        raise InputError(f"paths is {paths}; draw some futures to score ranges, or none with 0.")
    first = _first_test_day(panel, validation_end, test_start)
    pairs = {horizon: _origins(panel, first, horizon) for horizon in _refuse_horizons(horizons)}
    if not forecasters:
        raise InputError("forecasters is empty; name at least one, like {'dgd': dgd.DGD()}.")
    fits: dict[str, Fitted] = {}
    parts: tuple[list[pl.DataFrame], ...] = ([], [], [], [])
    levels = checked_levels(levels)
    ends = {"train_end": train_end, "validation_end": validation_end, "warmup_end": warmup_end}
    with board_of(progress) as board:
        for name, forecaster in forecasters.items():
            with _heard(progress, board, name, forecaster, seeds) as tell:
                fitted = _fitted(name, forecaster, panel, **ends, seeds=seeds, progress=tell)
            _refuse_foreign(name, fitted, panel, first)
            fits[name] = fitted
            for horizon, origins in pairs.items():
                predicted = checked_prediction(name, fitted, origins, horizon)
                labels = [pl.lit(name).alias("model"), pl.lit(horizon, pl.Int64).alias("horizon")]
                found = (
                    _scores(panel, origins + horizon, predicted.at(-1)),
                    daily_totals(panel, origins, horizon, predicted),
                    score_origins(panel, origins, horizon, predicted),
                    score_ranges(panel, origins, horizon, predicted, levels, paths),
                )
                for part, rows in zip(parts, found, strict=True):
                    part.append(rows.select(*labels, pl.all()))
    return Backtest(panel, fits, *(pl.concat(part) for part in parts))


@contextmanager
def _heard(
    progress: BacktestProgress | Board | bool | None,
    board: Board,
    name: str,
    forecaster: object,
    seeds: Sequence[int],
) -> Iterator[Progress]:
    """What a forecaster tells while it is fitted; your own may take no other thing than a
    function, so one is handed over where nothing is drawn, too."""
    epochs = getattr(forecaster, "epochs", None)
    if callable(progress):
        yield partial(progress, name)
    elif isinstance(forecaster, Fitted) or not isinstance(epochs, int):
        yield silent
    else:
        with board.training(checked_seeds(seeds), epochs, name) as tell:
            yield tell


def _fitted(name: str, forecaster: Forecaster | Fitted, panel: Panel, **options: Any) -> Fitted:
    if isinstance(forecaster, Fitted):
        return forecaster
    if isinstance(forecaster, Forecaster):
        return forecaster.fit(panel, **options)
    raise _not_a_forecaster(name, forecaster)


def _scores(panel: Panel, days: Int[np.ndarray, " day"], predicted: Predictive) -> pl.DataFrame:
    """Every seed's scores of a forecast with one step."""
    rows = []
    for seed in range(len(predicted.arrivals)):
        arrivals, patterns = predicted.arrivals[seed, 0], predicted.patterns[seed, 0]
        dispersion = predicted.dispersion
        spread = dispersion[seed, 0] if isinstance(dispersion, np.ndarray) else None
        found = score_days(panel, days, arrivals, patterns, spread)
        rows += [
            {"metric": metric, "seed": seed, "score": score, "origins": len(days)}
            for metric, score in found.items()
        ]
    return pl.DataFrame(rows)


def _first_test_day(panel: Panel, validation_end: Moment, test_start: Moment | None) -> int:
    after = panel.index(validation_end, "validation_end") + 1
    first = after if test_start is None else panel.index(test_start, "test_start")
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
        "and predict once fitted; see dgd.forecasting for what it needs."
    )
