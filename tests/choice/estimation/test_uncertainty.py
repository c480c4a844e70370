"""Standard errors and ranges: what counts would say if markets were drawn again."""

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.choice import ChoiceFit, ChoiceModel
from support.drawn_logit import drawn_markets
from support.endogenous_markets import endogenous_markets
from support.refusals import refused

ALIKE = ChoiceModel(population="point")


@pytest.fixture(scope="module")
def fit() -> ChoiceFit:
    return ALIKE.fit(drawn_markets(1, scatter=0.6))


def own_elasticity(fit: ChoiceFit, level: float = 90) -> pl.DataFrame:
    return fit.elasticities(level=level).filter(pl.col("product") == pl.col("price of"))


def test_standard_errors_are_those_of_markets_drawn_anew(fit: ChoiceFit):
    again = fit.bootstrapped(draws=400, seed=3)
    sandwich, resampled = (each.coefficients()["standard error"] for each in (fit, again))
    np.testing.assert_allclose(sandwich, resampled, rtol=0.2)


@pytest.mark.slow
def test_standard_errors_are_how_far_estimates_scatter_over_worlds():
    fits = [ALIKE.fit(drawn_markets(seed, scatter=0.6)) for seed in range(60)]
    tables = [fit.coefficients() for fit in fits]
    found = np.array([table["estimate"].to_numpy() for table in tables])
    said = np.array([table["standard error"].to_numpy() for table in tables])
    np.testing.assert_allclose(said.mean(0), found.std(0, ddof=1), rtol=0.3)


def test_more_scatter_than_chance_widens_ranges():
    """Ten times the people in every market tell hardly more where markets themselves scatter."""
    few, many = (
        ALIKE.fit(drawn_markets(1, size=size, scatter=0.6)).coefficients()["standard error"]
        for size in (5_000, 50_000)
    )
    np.testing.assert_allclose(few, many, rtol=0.3)
    calm = ALIKE.fit(drawn_markets(1, size=50_000)).coefficients()["standard error"]
    assert (calm.to_numpy() < 0.3 * many.to_numpy()).all()


def test_every_answer_has_its_range(fit: ChoiceFit):
    fit = fit.bootstrapped(draws=20)
    for table, measure in (
        (fit.predict(level=90), "share"),
        (fit.consumer_surplus(level=90), "surplus"),
        (fit.demand_curve("p0", [1.0, 2.0], level=90), "count"),
        (fit.best_prices(["p0"], level=90), "best price"),
    ):
        low, high = table[f"{measure} low"], table[f"{measure} high"]
        assert (low <= high).all()
        assert ((low <= table[measure]) & (table[measure] <= high)).mean() > 0.8
    for table, measure in ((fit.elasticities(level=90), "elasticity"),
                           (fit.diversion(level=90), "diversion")):  # fmt: skip
        assert ((table["low"] < table[measure]) & (table[measure] < table["high"])).mean() > 0.9
    changed = fit.compare(fit.markets.with_scaled_prices(1.1), level=90)
    for table in (changed.total(), changed.products(), changed.markets()):
        assert (table["low"].drop_nulls() <= table["high"].drop_nulls()).all()
    total = changed.total().filter(pl.col("measure") == "sold")
    assert total["low"].item() < total["difference"].item() < total["high"].item() < 0


def test_wider_levels_have_wider_ranges(fit: ChoiceFit):
    few = fit.bootstrapped(draws=40)
    half, most = (own_elasticity(few, level) for level in (50, 95))
    assert ((most["high"] - most["low"]) > (half["high"] - half["low"])).all()
    with refused("level is 100", "percentage between 0 and 100"):
        fit.elasticities(level=100)


def test_ranges_are_kept_by_files(fit: ChoiceFit, tmp_path):
    again = fit.bootstrapped(draws=20)
    again.save(tmp_path / "fit.dgd")
    loaded = dgd.load(tmp_path / "fit.dgd")
    assert loaded.coefficients().equals(again.coefficients())
    assert not again.coefficients().equals(fit.coefficients())


def test_prices_that_follow_unseen_quality_need_instruments():
    markets, truth = endogenous_markets(0, 200, 0.9)
    controlled = ALIKE.fit(markets)
    taken = ChoiceModel(population="point", quality="none").fit(markets)
    own = own_elasticity(controlled)["elasticity"].mean()
    assert abs(own - truth.own_elasticity) < 0.05 * abs(truth.own_elasticity)
    assert own_elasticity(taken)["elasticity"].mean() > 0.7 * truth.own_elasticity
    assert controlled.record is not None
    assert controlled.record.first_stage_f > 100
    residual = controlled.coefficients().filter(pl.col("coefficient") == "price residual")
    assert residual["low"].item() > 0


def test_the_first_stages_share_of_doubt_is_counted():
    """Errors of the control function are those of a bootstrap that draws the first stage anew."""
    markets, _ = endogenous_markets(1, 80, 0.9)
    fit = ALIKE.fit(markets)
    again = fit.bootstrapped(draws=300, seed=1)
    sandwich, resampled = (each.coefficients()["standard error"] for each in (fit, again))
    np.testing.assert_allclose(sandwich, resampled, rtol=0.25)


def test_quality_stays_with_its_offer_when_prices_change():
    markets, _ = endogenous_markets(0, 60, 0.9)
    fit = ALIKE.fit(markets)
    same = fit.predict(markets.with_scaled_prices(1.0))
    np.testing.assert_allclose(same["share"], fit.predict()["share"], rtol=1e-12)
