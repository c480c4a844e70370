"""A contest: complete rows, the same figures as a backtest, only horizons that can be scored."""

import sys
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.arena import totals_alone
from dgd.arena.contest import HORIZONS, ROW, Contest
from dgd.arena.contestants import DEFAULT, SIMPLE, TRAINED
from dgd.arena.metrics import METRICS


def quiet(_: str) -> None:
    """No progress."""


class Constant:
    """StatsForecast's way of forecasting, with the mean of the last week."""

    def __init__(self, season_length: int) -> None:
        self.season_length = season_length

    def forecast(self, y: np.ndarray, h: int) -> dict[str, np.ndarray]:
        return {"mean": np.full(h, y[-self.season_length :].mean())}


def test_rows_are_complete_and_the_longest_horizon_is_left_out(rows, told) -> None:
    """Five test days are too few for seven days ahead."""
    assert dict(rows.schema) == ROW
    assert 7 in HORIZONS
    names = [DEFAULT, "without feedback", *TRAINED, *SIMPLE]
    wanted = {(model, h, metric) for model in names for h in (1, 3) for metric in METRICS}
    assert set(rows.select("model", "horizon", "metric").iter_rows()) == wanted
    assert rows.height == len(wanted)
    assert rows["set"].unique().to_list() == ["small"]
    assert rows["mean"].is_finite().all()
    assert rows.filter(model=DEFAULT)["sd"].is_not_null().all()
    assert rows.filter(pl.col("model").is_in(list(SIMPLE)))["sd"].is_null().all()
    assert [line.split(" on ")[0].split(" ", 1)[1] for line in told] == names


def test_figures_are_those_of_a_backtest(rows, dataset) -> None:
    ends = Contest("small", dataset, quiet).ends
    models = {name: SIMPLE[name]() for name in ("last-day history", "weekday history")}
    scored = dgd.backtest(dataset.panel, models, horizons=(1, 3), **ends, paths=0)
    names = ["model", "horizon", "metric", "mean", "sd"]
    wanted = scored.to_frame("polars").filter(pl.col("metric").is_in(list(METRICS)))
    found = rows.filter(pl.col("model").is_in(list(models)))
    assert found.select(names).rows() == wanted.select(names).rows()


def test_totals_alone_are_scored_from_the_origins_of_a_backtest(dataset, monkeypatch) -> None:
    """Against a forecast by hand: the mean of the week before each origin."""
    monkeypatch.setattr(totals_alone, "ProcessPoolExecutor", InThisProcess)
    models = SimpleNamespace(**dict.fromkeys(totals_alone.NAMES, Constant))
    monkeypatch.setitem(sys.modules, "statsforecast", SimpleNamespace(models=models))
    held = Contest("small", dataset, quiet)
    scored = totals_alone.scores(dataset.panel, held.split, (1, 3))
    found = {(name, horizon, metric): score for name, horizon, metric, score in scored}
    assert len(found) == len(totals_alone.NAMES) * 2 * 2
    series = totals_alone.daily_series(dataset.panel)
    for horizon in (1, 3):
        days = range(34 + horizon, 40)
        errors = np.array(
            [
                np.abs(series[day - horizon - 6 : day - horizon + 1].mean(0) - series[day])
                for day in days
            ]
        )
        for name in totals_alone.NAMES:
            counts, arrivals = errors[:, :-1].mean(), errors[:, -1].mean()
            assert found[name, horizon, "behavior_count_mae"] == pytest.approx(counts)
            assert found[name, horizon, "arrival_mae"] == pytest.approx(arrivals)


def test_a_total_below_zero_is_forecast_as_none(monkeypatch) -> None:
    monkeypatch.setitem(
        sys.modules, "statsforecast", SimpleNamespace(models=SimpleNamespace(AutoETS=Constant))
    )
    assert totals_alone.refitted(2, "AutoETS", np.full(9, -1.0)).tolist() == [0.0, 0.0]


class InThisProcess:
    """A pool without processes."""

    def __init__(self, *_: object) -> None: ...

    def __enter__(self) -> "InThisProcess":
        return self

    def __exit__(self, *_: object) -> None: ...

    def map(self, function, *arguments, chunksize: int):
        return map(function, *arguments)
