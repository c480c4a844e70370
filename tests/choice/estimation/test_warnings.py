"""What an estimate cannot be trusted for is said when it is made."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from dgd.choice import ChoiceFit, ChoiceModel, Markets
from dgd.choice.estimation.agreement import agreeing
from dgd.choice.estimation.record import StartMade
from dgd.choice.identification import doubts, odd_prices, unlearnable_columns
from support.drawn_logit import drawn_markets, drawn_table

ALIKE = ChoiceModel(population="point")


def changed(**columns: pl.Expr) -> Markets:
    table = drawn_table(1).with_columns(**columns)
    names = [name for name in ("quality", "twice") if name in table.columns]
    return Markets.from_table(table, attributes=names, market_size=5000)


def test_a_price_that_follows_from_attributes_is_remarked_on():
    markets = changed(price=3.0 + 0.5 * pl.col("quality"), quality=pl.col("quality"))
    assert unlearnable_columns(markets) in (["price"], ["quality"], ["constant"])
    with pytest.warns(UserWarning, match="from the others in these markets"):
        ALIKE.fit(markets)


def test_attributes_that_follow_from_others_are_remarked_on():
    markets = changed(twice=2 * pl.col("quality") + 1)
    assert unlearnable_columns(markets) in (["twice"], ["quality"], ["constant"])
    assert unlearnable_columns(drawn_markets(1)) == []


def test_what_an_absorbed_label_explains_is_remarked_on():
    table = drawn_table(1).with_columns(
        sweet=pl.col("product").is_in(["p1", "p2"]).cast(pl.Float64)
    )
    markets = Markets.from_table(
        table, attributes=["quality", "sweet"], absorb=["product"], market_size=5000
    )
    assert unlearnable_columns(markets) == ["sweet"]


def test_one_absurd_price_is_named():
    row = pl.int_range(pl.len())
    markets = changed(price=pl.when(row == 9).then(950.0).otherwise(pl.col("price")))
    assert odd_prices(markets).tolist() == [[2, 1]]
    with pytest.warns(UserWarning, match=r"price 950 of product p1 in market 2 is far from its"):
        ALIKE.fit(markets)
    assert not len(odd_prices(drawn_markets(1)))


def test_demand_that_slopes_upward_is_said_so():
    table = drawn_table(2, markets=60)
    upward = table.with_columns(price=3.5 - pl.col("price"))
    markets = Markets.from_table(upward, attributes=["quality"], market_size=5000)
    with pytest.warns(UserWarning, match=r"demand slopes upward.*instruments"):
        fit = ALIKE.fit(markets)
    assert fit.record is not None
    assert fit.record.sensitivity < 0
    assert "search: converged" in " ".join(fit.sentences())


def test_weak_instruments_are_said_so():
    noise = np.random.default_rng(0).normal(size=160)
    table = drawn_table(3).with_columns(cost=pl.Series(noise))
    markets = Markets.from_table(
        table, attributes=["quality"], instruments=["cost"], market_size=5000
    )
    with pytest.warns(UserWarning, match=r"instruments cost hardly move price \(F is"):
        ALIKE.fit(markets)


@pytest.fixture(scope="module")
def fit() -> ChoiceFit:
    return ALIKE.fit(drawn_markets(1))


def test_a_search_that_did_not_converge_is_said_so(fit: ChoiceFit):
    assert not doubts(fit)
    assert "search: converged; largest slope" in " ".join(fit.sentences())
    run = replace(fit.runs[0], reason="not converged: the slope did not vanish")
    assert "did not converge" in doubts(replace(fit, runs=(run,)))[0]


def start(behind: float, elasticity: float, left: float) -> StartMade:
    return StartMade(1, 1, 10, behind, 1e-9, True, elasticity, left)


def test_starts_that_are_as_likely_and_disagree_are_said_so(fit: ChoiceFit):
    best, near = start(0.0, -2.0, 0.5), start(0.4, -2.02, 0.51)
    elsewhere, behind = start(0.4, -2.0, 0.7), start(30.0, -4.0, 0.1)
    assert agreeing([best, near, behind])
    assert not agreeing([best, elsewhere])
    assert not agreeing([best, start(1.0, -3.0, 0.5)])
    assert fit.record is not None
    record = replace(fit.record, agree=False, starts=(best, elsewhere))
    assert not doubts(replace(fit, record=record)), "where all are alike types are not looked at"
    unsure = replace(fit, record=replace(record, chosen="types"))
    assert "disagree on substitution" in doubts(unsure)[0]
    assert "DISAGREE" in " ".join(unsure.sentences())
