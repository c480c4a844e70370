"""What drawn ranges are scored by: coverage, width, CRPS and energy, for everyone who draws."""

import numpy as np
import polars as pl
import pytest
import scoringrules

import dgd
from dgd.baselines import LastDayHistory, TrainingHistory
from dgd.forecasting.calibration import Promise
from dgd.forecasting.predictive import Predictive
from dgd.scoring.range_scores import SCHEMA, drawn_totals, score_ranges

DAYS = np.arange(20, 36)


def predictive(panel: dgd.Panel, dispersion: float | None, factor: float = 1.0) -> Predictive:
    """Each day's own counts as its forecast, times a factor."""
    counts = panel.patterns[DAYS + 1].astype(float) + 1e-3
    arrivals = factor * counts.sum(-1)
    patterns = counts / counts.sum(-1, keepdims=True)
    return Predictive(arrivals[None, None], patterns[None, None], dispersion)


def scored(
    panel: dgd.Panel, predicted: Predictive, levels: tuple[float, ...] = (50, 95)
) -> pl.DataFrame:
    return score_ranges(panel, DAYS, 1, predicted, levels, 300)


def test_a_forecast_around_the_truth_covers_and_a_far_one_does_not(drawn: dgd.Simulated) -> None:
    near = scored(drawn.panel, predictive(drawn.panel, np.inf))
    far = scored(drawn.panel, predictive(drawn.panel, np.inf, factor=3.0))
    assert (near["coverage"] == 1).all()
    assert far.filter(series="arrivals")["coverage"].to_list() == [0.0, 0.0]
    assert (far["crps"] > near["crps"]).all()
    assert far["energy"][0] > near["energy"][0]
    assert set(near["series"]) == {"arrivals", "click", "like", "share"}
    assert (near["origins"] == len(DAYS)).all()


def test_more_dispersion_is_wider(drawn: dgd.Simulated) -> None:
    calm, wild = (scored(drawn.panel, predictive(drawn.panel, r)) for r in (np.inf, 1.0))
    assert (wild["width"] > calm["width"]).all()


def test_crps_is_the_mean_of_the_pairwise_formula(drawn: dgd.Simulated) -> None:
    predicted = predictive(drawn.panel, 5.0)
    totals = drawn_totals(predicted, np.random.default_rng(0), 300)[..., 0]
    happened = drawn.panel.arrivals[DAYS + 1].sum((1, 2)).astype(float)
    away = np.abs(totals - happened).mean(0)
    apart = np.abs(totals[:, None] - totals[None]).mean((0, 1))
    found = scored(drawn.panel, predicted).filter(series="arrivals")["crps"][0]
    assert found == pytest.approx((away - apart / 2).mean(), rel=1e-9)
    assert scoringrules.crps_ensemble(3.0, np.array([1.0, 5.0])) == pytest.approx(1.0)


def test_what_cannot_be_drawn_is_not_scored(drawn: dgd.Simulated) -> None:
    silent = scored(drawn.panel, predictive(drawn.panel, None))
    assert silent.is_empty()
    assert dict(silent.schema) == SCHEMA


def test_a_promise_says_what_is_shown_and_a_refusal_shows_nothing(drawn: dgd.Simulated) -> None:
    def promise(_asked: object, _group: object, level: float, _horizon: int) -> Promise:
        return Promise(level, 1, 9, 0.99 if level < 90 else None, None, None)

    plain = predictive(drawn.panel, 5.0)
    kept = Predictive(plain.arrivals, plain.patterns, plain.dispersion, promise=promise)
    shown, own = scored(drawn.panel, kept), scored(drawn.panel, plain)
    narrow = pl.col("level") == 50
    assert (shown.filter(narrow)["width"] > own.filter(narrow)["width"]).all()
    assert shown.filter(~narrow)["coverage"].is_null().all()
    assert shown["crps"].to_list() == own["crps"].to_list()


def test_draws_are_cut_to_fit_into_memory(
    drawn: dgd.Simulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    predicted = predictive(drawn.panel, 5.0)
    monkeypatch.setattr("dgd.scoring.range_scores.MOST_AT_ONCE", predicted.patterns[0].size * 7)
    assert drawn_totals(predicted, np.random.default_rng(0), 30).shape == (30, len(DAYS), 4)


def test_backtests_report_ranges_of_everyone_who_draws(drawn: dgd.Simulated) -> None:
    dates = drawn.panel.dates
    result = dgd.backtest(
        drawn.panel,
        {"training": TrainingHistory(), "last": LastDayHistory()},
        horizons=[1, 3],
        train_end=dates[27],
        validation_end=dates[34],
        levels=[80],
        paths=100,
    )
    table = result.ranges()
    assert table.height == 2 * 2 * 4
    assert table["coverage"].is_between(0, 1).all()
    assert result.payload()["ranges"] == table.to_dicts()
