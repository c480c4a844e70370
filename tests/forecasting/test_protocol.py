"""Everything that forecasts keeps one protocol: fit on a panel, predict from origins."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dgd
from dgd.baselines import (
    GRU,
    DeepAR,
    HistoryFit,
    LastDayHistory,
    SmoothedHistory,
    TrainingHistory,
    WeekdayHistory,
)
from dgd.forecasting.protocol import Fitted, Forecaster, checked_predictions, settings_of
from dgd.scoring.backtesting import backtest
from support.variants import VARIANTS

FORECASTERS: dict[str, Any] = {
    "dgd": dgd.DGD(epochs=5),
    "training-history": TrainingHistory(),
    "last-day": LastDayHistory(),
    "smoothed-history": SmoothedHistory(),
    "weekday-history": WeekdayHistory(),
    "deepar-joint": DeepAR(epochs=3, widths=(4,), histories=16),
    "gru-full": GRU(epochs=3, projection="full"),
    "gru-restricted": GRU(epochs=3, projection="restricted"),
    **{name: dgd.DGD(epochs=5, **changed) for name, changed in VARIANTS.items()},
}
ORIGINS = np.array([34, 35, 36])
HORIZON = 3


@pytest.fixture(scope="module", params=FORECASTERS)
def fitted(
    request: pytest.FixtureRequest,
    drawn: dgd.Simulated,
    fit: dgd.Fit,
    variant_fit: Callable[[str], dgd.Fit],
) -> Fitted:
    """Each forecaster on the same panel; fits of DGD are those all tests share."""
    if request.param == "dgd":
        return fit
    if request.param in VARIANTS:
        return variant_fit(request.param)
    dates = drawn.panel.dates
    return FORECASTERS[request.param].fit(
        drawn.panel, train_end=dates[27], validation_end=dates[34], seeds=(1, 2), progress=None
    )


@pytest.mark.parametrize("name", FORECASTERS)
def test_forecasters_can_be_fitted(name: str) -> None:
    assert isinstance(FORECASTERS[name], Forecaster)
    assert not isinstance(FORECASTERS[name], Fitted)


def test_predictions_keep_the_protocol(fitted: Fitted, drawn: dgd.Simulated) -> None:
    assert isinstance(fitted, Fitted)
    assert fitted.panel is drawn.panel
    assert (fitted.split.train_stop, fitted.split.validation_stop) == (28, 35)
    arrivals, patterns = checked_predictions("this", fitted, ORIGINS, HORIZON)
    seeds = 1 if isinstance(fitted, HistoryFit) else 2
    assert arrivals.shape == (seeds, HORIZON, 3, 2, 3)
    assert patterns.shape == (*arrivals.shape, 8)
    assert (arrivals >= 0).all()
    assert (patterns > 0).all()
    np.testing.assert_allclose(patterns.sum(-1), 1, atol=1e-12)


def test_settings_can_be_read(fitted: Fitted) -> None:
    settings = settings_of(fitted)
    assert settings
    assert all(isinstance(value, str | int | float | tuple) for value in settings.values())


def test_origins_do_not_depend_on_each_other(fitted: Fitted) -> None:
    together = fitted.predict(ORIGINS, HORIZON)
    backwards = fitted.predict(ORIGINS[::-1], HORIZON)
    for one, other in zip(together, backwards, strict=True):
        np.testing.assert_allclose(one, other[:, :, ::-1], rtol=1e-9)


def test_dgd_enters_a_backtest_with_its_dispersion(fit: dgd.Fit, drawn: dgd.Simulated) -> None:
    dates = drawn.panel.dates
    result = backtest(
        drawn.panel,
        {"dgd": fit, "training": TrainingHistory()},
        horizons=[3],
        train_end=dates[27],
        validation_end=dates[34],
    )
    table = result.to_frame("polars")
    of_dgd, of_history = (table.filter(model=name) for name in ("dgd", "training"))
    assert set(of_dgd["seeds"]) == {2}
    assert set(of_dgd["metric"]) - set(of_history["metric"]) == {"arrival_crps", "arrival_deviance"}
    assert of_dgd["mean"].is_finite().all()
    assert result.settings["dgd"]["dispersion"] == fit.settings.dispersion
