"""A fit with feedback is a fit like any other: asked, saved, and told what it carries."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.choice import ChoiceFit, ChoiceModel, moving_world, simulate_moving_markets
from support.logit_markets import logit_markets
from support.refusals import refused


@pytest.fixture(scope="module")
def fit() -> ChoiceFit:
    markets = simulate_moving_markets(moving_world(), 3, 16, seed=4).markets
    quick = ChoiceModel(dynamics="feedback", components=1, dim=1, nodes=3, starts=1, epochs=30)
    return quick.fit(markets, seeds=[1])


def test_later_periods_decided_and_the_gain_is_told(fit: ChoiceFit):
    assert len(fit.training) == 3 * 12
    assert fit.without_feedback is not None
    assert fit.runs[0].best_objective <= fit.without_feedback[0]
    assert "feedback: lowers the loss" in fit.sentences()[0]
    table = fit.tables()["Carried from period to period"]
    assert table["state"].to_list() == ["memory", "fatigue", "shift"]
    assert table["retention"].is_between(0, 1).all()


def test_every_question_is_answered_and_files_keep_it(fit: ChoiceFit, tmp_path):
    fit.save(tmp_path / "fit.dgd")
    again = dgd.load(tmp_path / "fit.dgd")
    for table in ("predict", "elasticities", "diversion", "tastes_over_time"):
        assert getattr(again, table)().equals(getattr(fit, table)())
    assert again.without_feedback == fit.without_feedback
    shares = fit.predict().group_by("market").agg(pl.col("share").sum())
    np.testing.assert_allclose(shares["share"], 1.0)


def test_tastes_move_and_price_derivatives_are_those_of_the_moved(fit: ChoiceFit):
    """Raising a price by a little moves shares as the derivatives of the market say."""
    table = fit.tastes_over_time()
    assert table["price sensitivity"].n_unique() > len(fit.markets.markets) / 2
    last = fit.markets.select(fit.markets.markets[-1:])
    step = 1e-6
    dearer = replace(last, price=last.price + step * (np.arange(last.price.shape[1]) == 0))
    apart = (fit.demand(dearer).shares.products - fit.demand(last).shares.products) / step
    slopes = fit.demand(last).price_derivatives.products[..., 0]
    np.testing.assert_allclose(apart, slopes, rtol=1e-3, atol=1e-7)


def test_fits_without_feedback_have_no_tastes_over_time():
    static = ChoiceModel(population="point").fit(logit_markets())
    with refused('dynamics="none"', 'dynamics="feedback"'):
        static.tastes_over_time()
    with refused("other markets", "fraction"):
        markets = simulate_moving_markets(moving_world(), 2, 6, seed=1).markets
        ChoiceModel(dynamics="feedback").fit(markets, validation=markets)
