"""Whether people differ is decided by markets that were held out, and found where they do."""

import equinox as eqx
import jax
import numpy as np
import polars as pl
import pytest

from dgd.choice import (
    ChoiceFit,
    ChoiceModel,
    Demand,
    gaussian_world,
    simulate_markets,
)
from dgd.choice.estimation.enough_nodes import finer, with_nodes
from dgd.choice.estimation.evidence import ChoiceEvidence
from dgd.choice.estimation.folds import held_out_folds
from dgd.choice.offers import Offers
from dgd.runtime import computing
from support.drawn_logit import drawn_markets
from support.random_choice import make, offers_table, random_demand


def test_where_people_are_alike_no_types_are_reported():
    fit = ChoiceModel(starts=1, nodes=5).fit(drawn_markets(2), seeds=[1])
    assert fit.alike
    assert fit.record is not None
    assert fit.record.chosen == "alike"
    assert "Types of choosers" not in fit.tables()
    assert fit.record.candidates_table()["chosen"].to_list() == [True, False]
    alike = ChoiceModel(population="point").fit(drawn_markets(2))
    np.testing.assert_allclose(fit.predict()["share"], alike.predict()["share"], rtol=1e-8)


@pytest.fixture(scope="module")
def drawn():
    return simulate_markets(gaussian_world(), 40, seed=9)


@pytest.fixture(scope="module")
def fit(drawn) -> ChoiceFit:
    known = drawn.markets.select(drawn.markets.markets[:28])
    return ChoiceModel(starts=1).fit(known, seeds=[1, 2])


def test_where_people_differ_types_are_earned_and_markets_never_seen_are_met(fit, drawn):
    assert not fit.alike
    assert fit.record.gain > fit.record.gain_error > 0
    test = drawn.markets.select(drawn.markets.markets[28:])
    found = fit.demand(test).shares
    true = np.c_[drawn.products[28:], drawn.outside[28:]]
    predicted = np.c_[found.products, found.outside]
    divergence = (true * np.log(true / predicted)).sum(1).mean()
    assert divergence < 0.002


def test_every_search_ends_where_the_slope_vanishes(fit: ChoiceFit):
    table = fit.summary()
    assert table.height == 2
    assert table["converged"].all()
    assert table["largest slope"].max() <= fit.record.tolerance
    assert fit.runs[0].reason == "converged"


def test_more_nodes_say_the_same(fit: ChoiceFit):
    demand, markets = fit.parameters[0], fit.markets
    with computing():
        finely = with_nodes(demand, finer(fit.settings.nodes))
        few, many = (Demand((one,), markets).elasticities_table() for one in (demand, finely))
    own = pl.col("product") == pl.col("price of")
    means = [table.filter(own)["elasticity"].mean() for table in (few, many)]
    assert abs(means[0] - means[1]) < 0.01 * abs(means[1])


def test_a_household_keeps_its_tastes_from_choice_to_choice():
    """The likelihood of repeated choices is an average over tastes of products over choices."""
    table = offers_table().with_columns(
        household=pl.col("market").is_in(["north", "south"]).cast(pl.Int64)
    )
    markets = make(table, household="household")
    with computing():
        demand = random_demand(4, cohorts=1)
        offers = Offers.of(markets)
        found = np.asarray(ChoiceEvidence.of(markets, offers).log_likelihoods(demand))
        points, weight = demand.weighted_nodes(offers)
        choice = demand.choice(offers, points)
    expected = []
    for number in (1, 0):
        own = [m for m, label in enumerate(markets.markets)
               if (label in ("north", "south")) == bool(number)]  # fmt: skip
        total = np.zeros(points.shape[1])
        for m in own:
            for j in np.flatnonzero(markets.available[m]):
                total += markets.count[m, j] * np.log(np.asarray(choice.products[m, j, 0]))
            total += markets.outside[m] * np.log(np.asarray(choice.outside[m, 0]))
        expected.append(np.logaddexp.reduce(total + np.log(np.asarray(weight[own[0], 0]))))
    assert len(found) == 2
    np.testing.assert_allclose(sorted(found), sorted(expected), rtol=1e-10)


def test_second_derivatives_are_finite_where_products_are_not_available():
    markets = make()
    with computing():
        demand = random_demand(3, cohorts=1)
        evidence = ChoiceEvidence.of(markets, Offers.of(markets))

        def loss(intercept):
            moved = eqx.tree_at(lambda d: d.utility.price_intercept, demand, intercept)
            return evidence.log_likelihoods(moved).sum()

        bend = jax.hessian(loss)(demand.utility.price_intercept)
    assert np.isfinite(bend)


def test_a_household_is_held_out_as_a_whole():
    table = offers_table().with_columns(
        household=pl.col("market").is_in(["north", "south"]).cast(pl.Int64)
    )
    folds = held_out_folds(make(table, household="household"), 0.5)
    assert [fold.tolist() for fold in folds] in (
        [[True, False], [False, True]],
        [[False, True], [True, False]],
    )
    assert len(held_out_folds(make(), 0.25)) == 4
    assert np.sum(held_out_folds(make(), 0.25), axis=0).tolist() == [1] * 5
