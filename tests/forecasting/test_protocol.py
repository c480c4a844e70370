"""Everything that forecasts keeps one protocol: fit on a panel, predict from origins, draw."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dgd
from dgd.baselines import (
    GRU,
    DeepAR,
    HistoryFit,
    LastDayHistory,
    SlowHistory,
    SmoothedHistory,
    TrainingHistory,
    WeekdayHistory,
)
from dgd.forecasting.protocol import checked_prediction, settings_of
from support.untrained import untrained
from support.variants import VARIANTS

HISTORIES: dict[str, Any] = {
    "training-history": TrainingHistory(),
    "last-day": LastDayHistory(),
    "smoothed-history": SmoothedHistory(),
    "slow-history": SlowHistory(),
    "weekday-history": WeekdayHistory(),
}
TRAINED: dict[str, Any] = {
    "deepar-joint": DeepAR(widths=(2,), histories=64),
    "gru-full": GRU(projection="full"),
    "gru-restricted": GRU(projection="restricted"),
    **{name: dgd.DGD(start="warmup", **changed) for name, changed in VARIANTS.items()},
}
FORECASTERS = {"dgd": dgd.DGD(epochs=5), **HISTORIES, **TRAINED}
QUICK = {*FORECASTERS} - {*VARIANTS} | {"separated readout", "events"}
EACH = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in FORECASTERS
]
ORIGINS = np.array([33, 34, 35, 36])
HORIZON = 3
PATHS = 400


@pytest.fixture(scope="module", params=EACH)
def fitted(request: pytest.FixtureRequest, drawn: dgd.Simulated, fit: dgd.Fit) -> dgd.Fitted:
    """Each forecaster on the same panel; but for DGD, parameters are those before training."""
    if request.param == "dgd":
        return fit
    if request.param in TRAINED:
        return untrained(TRAINED[request.param], drawn.panel)
    dates = drawn.panel.dates
    return HISTORIES[request.param].fit(
        drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=(1, 2), progress=None
    )


@pytest.fixture(scope="module")
def predicted(fitted: dgd.Fitted) -> dgd.Predictive:
    return checked_prediction("this", fitted, ORIGINS, HORIZON)


@pytest.fixture(scope="module")
def paths(predicted: dgd.Predictive) -> np.ndarray:
    return predicted.sample(np.random.default_rng(1), PATHS)


@pytest.mark.parametrize("name", FORECASTERS)
def test_forecasters_can_be_fitted(name: str) -> None:
    assert isinstance(FORECASTERS[name], dgd.Forecaster)
    assert not isinstance(FORECASTERS[name], dgd.Fitted)


def test_predictions_keep_the_protocol(
    fitted: dgd.Fitted, predicted: dgd.Predictive, drawn: dgd.Simulated
) -> None:
    assert isinstance(fitted, dgd.Fitted)
    assert fitted.panel is drawn.panel
    assert (fitted.split.train_stop, fitted.split.validation_stop) == (28, 35)
    arrivals, patterns = predicted.arrivals, predicted.patterns
    seeds = 1 if isinstance(fitted, HistoryFit) else 2
    assert arrivals.shape == (seeds, HORIZON, 4, 2, 3)
    assert patterns.shape == (*arrivals.shape, 8)
    assert predicted.horizon == HORIZON
    assert (arrivals >= 0).all()
    assert (patterns > 0).all()
    np.testing.assert_allclose(patterns.sum(-1), 1, atol=1e-12)
    assert (np.asarray(predicted.dispersion) > 0).all()


def test_settings_can_be_read(fitted: dgd.Fitted) -> None:
    settings = settings_of(fitted)
    assert settings
    assert all(isinstance(value, str | int | float | tuple) for value in settings.values())


def test_origins_do_not_depend_on_each_other(fitted: dgd.Fitted, predicted: dgd.Predictive) -> None:
    backwards = fitted.predict(ORIGINS[::-1], HORIZON)
    for name in ("arrivals", "patterns"):
        turned = getattr(backwards, name)[:, :, ::-1]
        np.testing.assert_allclose(getattr(predicted, name), turned, rtol=1e-11)


def test_drawn_paths_are_whole_numbers_of_every_pattern(
    predicted: dgd.Predictive, paths: np.ndarray
) -> None:
    assert paths.shape == (PATHS, *predicted.patterns.shape[1:])
    assert np.issubdtype(paths.dtype, np.integer)
    assert (paths >= 0).all()


def test_the_same_generator_draws_the_same_paths(
    predicted: dgd.Predictive, paths: np.ndarray
) -> None:
    again, other = (predicted.sample(np.random.default_rng(seed), PATHS) for seed in (1, 2))
    np.testing.assert_array_equal(again, paths)
    assert not np.array_equal(other, paths)


def test_paths_of_a_day_scatter_around_its_forecast(
    fitted: dgd.Fitted, predicted: dgd.Predictive, paths: np.ndarray
) -> None:
    """Counts and patterns of the first day, each seed's paths against its own prediction."""
    dispersion = np.broadcast_to(np.asarray(predicted.dispersion), predicted.arrivals.shape)
    seeds = len(predicted.arrivals)
    for seed in range(seeds):
        own = paths[seed::seeds, 0]
        mean, r = predicted.arrivals[seed, 0], dispersion[seed, 0]
        error = np.sqrt((mean + mean**2 / r) / len(own))
        assert (np.abs(own.sum(-1).mean(0) - mean) <= 5 * error).all()
        parts = mean[..., None] * predicted.patterns[seed, 0]
        spread = (parts + parts**2 / r[..., None]).sum((0, 1, 2))
        apart = own.mean(0).sum((0, 1, 2)) - parts.sum((0, 1, 2))
        # Patterns of a cell rise and fall together, so their sum may scatter a little more.
        assert (np.abs(apart) <= 6 * np.sqrt(spread / len(own))).all()


def test_nothing_is_drawn_where_effort_is_zero(fit: dgd.Fit) -> None:
    effort = fit.panel.effort.copy()
    effort[36, 0], effort[37, :, 1] = 0.0, 0.0
    closed = fit.predict(ORIGINS, HORIZON, replace(fit.panel, effort=effort))
    paths = closed.sample(np.random.default_rng(1), PATHS)
    for index, origin in enumerate(ORIGINS):
        for step in range(HORIZON):
            shut = effort[origin + 1 + step] == 0
            assert not paths[:, step, index][:, shut].any()
            assert paths[:, step, index][:, ~shut].any((0, -1)).all()


def test_dgd_enters_a_backtest_beside_an_opponent(fit: dgd.Fit, drawn: dgd.Simulated) -> None:
    dates = drawn.panel.dates
    result = dgd.backtest(
        drawn.panel,
        {"dgd": fit, "training": TrainingHistory()},
        horizons=[2],
        train_end=dates[27],
        validation_end=dates[34],
    )
    table = result.to_frame("polars")
    of_dgd, of_history = (table.filter(model=name) for name in ("dgd", "training"))
    assert set(of_dgd["seeds"]) == {2}
    assert {"arrival_crps", "arrival_deviance"} <= set(of_dgd["metric"])
    assert set(of_dgd["metric"]) == set(of_history["metric"])
    assert of_dgd["mean"].is_finite().all()
    assert result.settings["dgd"]["dispersion"] == fit.settings.dispersion
