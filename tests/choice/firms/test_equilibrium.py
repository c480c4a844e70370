"""Equilibrium prices: nobody gains by leaving them, whoever else may move."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from dgd.choice.firms.conduct import Firms
from dgd.choice.firms.equilibrium import equilibrium_prices
from dgd.choice.firms.markup_equation import slopes
from dgd.choice.firms.repriced import Repriced
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.offers import Offers
from dgd.runtime import computing
from support.refusals import refused
from support.small_firms import captive_markets, profits_of, small_firms

COSTS = {"a": 0.6, "b": 0.4, "c": 0.5, "d": 0.7}


@pytest.fixture(scope="module")
def firms() -> Firms:
    return small_firms()


def nobody_gains(firms: Firms, found: Repriced, movers: list[str]) -> None:
    """Small and large moves of each firm's prices all lose in every market it sells in."""
    rng = np.random.default_rng(5)
    markets, owners = found.markets, found.owners
    for firm in movers:
        own = (owners.code == owners.labels.index(firm)) & markets.available
        there = own.any(1)
        now = profits_of(firms, firm, markets.price, found.cost, owners)
        for size in (0.003, 0.03, 0.3):
            for _ in range(6):
                factor = np.exp(np.where(own, size * rng.normal(size=own.shape), 0.0))
                moved = profits_of(firms, firm, markets.price * factor, found.cost, owners)
                assert (moved < now)[there].all(), (firm, size)


def test_no_firm_gains_by_leaving_an_equilibrium(firms: Firms):
    found = firms.equilibrium(COSTS)
    assert np.abs(found.markets.price - firms.markets.price)[firms.markets.available].max() > 0.1
    nobody_gains(firms, found, ["red", "blue", "gray"])


def test_no_firm_gains_by_leaving_the_prices_after_a_merger(firms: Firms):
    found = firms.merger({"blue": "red"}, COSTS)
    nobody_gains(firms, found, ["red", "gray"])


def test_lambda_and_gamma_are_the_parts_of_the_derivative(firms: Firms):
    """Written out at the nodes of one model."""
    model = firms.parameters[0]
    with computing():
        offers = Offers.of(firms.markets)
        found = slopes((model,), offers)
        points, weight = model.weighted_nodes(offers)
        at = np.asarray(model.choice(offers, points).products)
        moved = np.asarray(weight) * np.asarray(model.price_sensitivity(points))[None]
    assert np.allclose(found.own, np.einsum("mgi,mjgi->mj", moved, at), rtol=1e-10, atol=1e-13)
    joint = np.einsum("mgi,mjgi,mkgi->mjk", moved, at, at)
    assert np.allclose(found.joint, joint, rtol=1e-10, atol=1e-13)


def test_firms_face_the_average_over_seeds(firms: Firms):
    with computing():
        found = slopes(firms.parameters, Offers.of(firms.markets))
        derivative = found.joint - found.own[..., None] * jnp.eye(found.own.shape[1])[None]
    assert np.allclose(found.shares, firms.demand.shares.products, atol=1e-13)
    assert np.allclose(derivative, firms.demand.price_derivatives.products, atol=1e-13)


def best_by_search(firms: Firms, firm: str, cost: np.ndarray) -> np.ndarray:
    """The firm's prices that a search for the largest profit in all markets finds."""
    own = (firms.owners.code == firms.owners.labels.index(firm)) & firms.markets.available

    def asked(price: np.ndarray) -> np.ndarray:
        grid = firms.markets.price.copy()
        grid[own] = price
        return grid

    def lost(price: np.ndarray) -> float:
        return -float(profits_of(firms, firm, asked(price), cost).sum())

    options = {"xatol": 1e-8, "fatol": 1e-11, "maxfev": 3000}
    with computing():
        found = minimize(lost, firms.markets.price[own], method="Nelder-Mead", options=options)
    assert found.success
    return asked(found.x)


def test_optimal_prices_are_those_that_a_search_for_profit_finds(firms: Firms):
    """In a market with two of the firm's products and in one that has one of them."""
    some = replace(firms, markets=firms.markets.select(["north", "south"]))
    found = some.optimal_prices("red", COSTS)
    available = some.markets.available
    searched = best_by_search(some, "red", found.cost)
    assert np.abs(searched - some.markets.price)[available].max() > 0.1
    assert np.abs(found.markets.price - searched)[available].max() < 1e-5


def test_rivals_stay_without_reaction_and_move_with_it(firms: Firms):
    markets = firms.markets
    own = firms.owners.code == firms.owners.labels.index("red")
    rivals = markets.available & ~own
    alone = firms.optimal_prices("red", COSTS).markets.price
    assert np.array_equal(alone[rivals], markets.price[rivals])
    assert (alone[own & markets.available] != markets.price[own & markets.available]).all()
    answered = firms.optimal_prices("red", COSTS, reaction=True).markets.price
    assert (answered[rivals] != markets.price[rivals]).all()
    together = firms.equilibrium(COSTS).markets.price
    assert np.array_equal(answered[markets.available], together[markets.available])


def test_a_merger_without_reaction_moves_the_merged_firms_alone(firms: Firms):
    found = firms.merger({"blue": "red"}, reaction=False)
    price, before = found.markets.price, firms.markets.price
    gray = firms.markets.available & (firms.owners.code == firms.owners.labels.index("gray"))
    assert np.array_equal(price[gray], before[gray])
    assert (price >= before - 1e-9)[firms.markets.available].all()
    nobody_gains(firms, found, ["red"])


def test_nothing_moves_at_implied_costs(firms: Firms):
    for found in (firms.equilibrium(), firms.optimal_prices("red")):
        moved = np.abs(found.markets.price - firms.markets.price)[firms.markets.available]
        assert moved.max() < 1e-9


def test_equilibrium_prices_give_back_the_costs_they_were_found_from(firms: Firms):
    there = replace(firms, markets=firms.equilibrium(COSTS).markets)
    for row in there.costs().iter_rows(named=True):
        assert row["cost"] == pytest.approx(COSTS[row["product"]], abs=1e-8)


def test_quality_that_no_column_holds_counts(firms: Firms):
    rng = np.random.default_rng(8)
    markets = firms.markets
    fitted = FittedOffers(
        markets, np.where(markets.listed, rng.normal(size=markets.price.shape), 0)
    )
    better = replace(firms, fitted=fitted)
    found = better.equilibrium(COSTS)
    plain = firms.equilibrium(COSTS).markets.price
    assert np.abs(found.markets.price - plain)[markets.available].max() > 0.01
    nobody_gains(better, found, ["red", "blue", "gray"])


def test_a_market_is_solved_for_itself(firms: Firms):
    """Its prices do not depend on the other markets, nor on where steps begin."""
    all_of_them = firms.equilibrium(COSTS).markets
    one = firms.markets.select(["south"])
    alone = replace(firms, markets=one).equilibrium(COSTS).markets
    south = all_of_them.select(["south"])
    assert np.allclose(alone.price[one.available], south.price[one.available], rtol=1e-9)
    elsewhere = replace(firms, markets=one.with_scaled_prices(2.5)).equilibrium(COSTS).markets
    assert np.allclose(elsewhere.price[one.available], south.price[one.available], rtol=1e-9)


def test_what_costs_more_than_anyone_would_pay_is_not_sold_below_cost(firms: Firms):
    found = firms.equilibrium({**COSTS, "a": 1e5})
    price = found.prices().filter(product="a")["new price"].to_numpy()
    assert (price >= 1e5).all()


def test_markets_that_are_not_solved_are_named(firms: Firms):
    markets = firms.markets
    cost = np.where(markets.available, 0.5, np.nan)
    with computing():
        offers = firms.fitted.of(markets)
        worthless = offers._replace(quality=offers.quality.at[1].set(jnp.nan))
    with refused("market north, south, east", "after 2 steps", "markets.select"):
        equilibrium_prices(
            firms.parameters, markets, offers, firms.owners, cost, markets.available, steps=2
        )
    with refused("in market south,", "nan of the price"):
        equilibrium_prices(
            firms.parameters, markets, worthless, firms.owners, cost, markets.available
        )


def test_firms_compete_without_an_outside_option():
    single = {"a": "red", "b": "green", "c": "blue", "d": "gray"}
    firms = small_firms(captive_markets(single))
    nobody_gains(firms, firms.equilibrium(COSTS), list(single.values()))
