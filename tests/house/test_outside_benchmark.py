"""The outside opponents: fair to them, and the same scores for dgd as its own backtest."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest

pytest.importorskip(
    "statsforecast", reason="StatsForecast is not installed; the extra `outside` brings it"
)
pytest.importorskip(
    "gluonts.torch", reason="GluonTS with PyTorch is not installed; the extra `outside` brings it"
)

import dgd
import outside
from dgd.datasets import Dataset, Window

CHOICES = {
    "SeasonalNaive": "last week",
    "Weekday mean": "2 weeks",
    "AutoETS": "since warm-up",
    "AutoARIMA": "since training",
    "GluonTS DeepAR": "width 16, since warm-up",
}


@pytest.fixture(scope="module")
def pool():
    with ThreadPoolExecutor(1) as threads:
        yield threads


@pytest.fixture(scope="module")
def dataset(drawn):
    """Forty simulated days: 7 to warm up, 21 to train, 7 to validate, 5 to test."""
    window = Window(*(drawn.panel.dates[day] for day in (0, 6, 27, 34, 39)))
    panel = replace(drawn.panel, has_effort=False)
    return Dataset(panel, window, pl.DataFrame(), {}, 0.85)


@pytest.fixture(scope="module")
def totals(dataset):
    return outside.Totals.of(dataset)


@pytest.mark.parametrize(("name", "setting"), CHOICES.items())
def test_no_opponent_sees_days_after_its_origin(name, setting, totals, pool, monkeypatch):
    monkeypatch.setitem(outside.TRAINER, "max_epochs", 1)
    monkeypatch.setattr(outside, "SEEDS", (1,))
    method = outside.opponents()[name][setting]
    origin = np.array([totals.split.validation_stop])
    unknown = np.arange(len(totals.values))[:, None] > origin
    other = replace(totals, values=np.where(unknown, 1000.0, totals.values))
    ours, theirs = (method(pool, t, totals.split.validation_stop, origin) for t in (totals, other))
    assert ours.shape == (1, 1, outside.STEPS, len(totals.series))
    assert np.isfinite(ours).all()
    np.testing.assert_array_equal(ours, theirs)


def test_settings_are_chosen_without_test_days(totals, pool):
    seen = []

    def constant(level, _, known, trained, origins):
        seen.append((len(known.values), trained, origins.max()))
        return np.full((1, len(origins), outside.STEPS, len(known.series)), level)

    good = totals.values[28:35, :-1].mean()
    candidates = {"good": partial(constant, good), "bad": partial(constant, 10 * good)}
    chosen, validation = outside.choose(pool, totals, candidates)
    assert chosen == "good"
    assert validation["good"] == pytest.approx(np.abs(totals.values[28:35, :-1] - good).mean())
    assert seen == [(35, 28, 33)] * 2


def test_errors_are_those_of_a_case_by_hand(totals):
    small = replace(totals, values=np.array([[0.0, 1.0], [2.0, 3.0], [5.0, 8.0]]))
    forecast = np.zeros((1, 2, outside.STEPS, 2))
    forecast[0, 0, 0], forecast[0, 1, 0], forecast[0, 0, 1] = (3, 3), (-4, 9), (6, 6)
    found = [outside.errors(small, np.array([0, 1]), forecast, h).tolist() for h in (1, 2)]
    assert found == [[[[1, 0], [5, 1]]], [[[1, 2]]]]


def test_dgd_scores_equal_those_of_its_backtest(dataset, totals, pool, monkeypatch):
    monkeypatch.setattr(outside, "HORIZONS", (1, 3))
    monkeypatch.setattr(outside, "STEPS", 3)
    model, window = dgd.DGD(epochs=5), dataset.window
    fitted = outside.fit_on(dataset, model)
    monkeypatch.setattr(outside, "fit_on", lambda *_: fitted)
    models = {"dgd": {"-": partial(outside.learned, model, dataset)}}
    rows = outside.rows_of("simulated", totals, pool, models)
    table = dgd.backtest(
        dataset.panel,
        {"dgd": fitted},
        horizons=(1, 3),
        warmup_end=window.warmup_end,
        train_end=window.train_end,
        validation_end=window.validation_end,
        seeds=outside.SEEDS,
    ).to_frame("polars")
    for row in rows:
        for ours, metric in (("count_mae", "behavior_count_mae"), ("arrival_mae", "arrival_mae")):
            theirs = table.row(
                by_predicate=(pl.col("horizon") == row["horizon"]) & (pl.col("metric") == metric),
                named=True,
            )
            assert row[ours] == pytest.approx(theirs["mean"])
            assert row["origins"] == theirs["origins"]
