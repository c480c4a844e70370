"""Costs are those at which nobody would rather ask another price."""

import warnings

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.firms.conduct import Firms
from dgd.choice.firms.costs import implied_costs
from dgd.choice.fitted_offers import FittedOffers
from dgd.runtime import computing
from support.random_choice import random_demand
from support.refusals import refused
from support.small_firms import elastic_demand, firm_markets, profits_of, small_firms

SINGLE = {"a": 1, "b": 2, "c": 3, "d": 4}


def alike(demand: ChoiceDemand) -> ChoiceDemand:
    """Everyone has the same tastes: a plain logit."""
    with computing():
        return eqx.tree_at(
            lambda m: (m.utility.attribute_loading, m.utility.price_loading),
            demand,
            (0 * demand.utility.attribute_loading, 0 * demand.utility.price_loading),
        )


def plain_firms(owners: dict[str, int] | None = None) -> tuple[Firms, float]:
    """Firms facing a plain logit, and what a unit of money takes from everyone's utility."""
    markets, demand = firm_markets(owners), alike(elastic_demand(4))
    with computing():
        points, _ = demand.population.support()
        sensitivity = float(demand.price_sensitivity(points)[0, 0])
    return Firms((demand,), FittedOffers.plain(markets), markets), sensitivity


def test_markups_of_a_logit_with_single_products_have_their_closed_form():
    r"""p - c = 1 / (alpha (1 - s))."""
    firms, sensitivity = plain_firms(SINGLE)
    table = firms.costs()
    expected = 1 / (sensitivity * (1 - table["share"].to_numpy()))
    assert np.allclose(table["markup"], expected, rtol=1e-11, atol=0)


def test_markups_of_a_logit_are_the_same_for_all_products_of_a_firm():
    r"""p - c = 1 / (alpha (1 - the firm's share of the market))."""
    firms, sensitivity = plain_firms()
    table = firms.costs().with_columns(
        firms_share=pl.col("share").sum().over(["market", "firm"]),
    )
    expected = 1 / (sensitivity * (1 - table["firms_share"].to_numpy()))
    assert np.allclose(table["markup"], expected, rtol=1e-11, atol=0)


def test_no_firm_gains_by_other_prices_at_implied_costs():
    """The slope of every firm's profit in each of its prices, by central differences."""
    firms = small_firms()
    markets, owners = firms.markets, firms.owners
    cost = implied_costs(firms.demand, owners)
    step = 1e-4
    for m, j in np.argwhere(markets.available):
        firm = owners.labels[owners.code[m, j]]
        shift = np.zeros_like(markets.price)
        shift[m, j] = step
        up, down = (profits_of(firms, firm, markets.price + s, cost)[m] for s in (shift, -shift))
        sold = markets.size[m] * firms.demand.shares.products[m, j]
        assert abs(up - down) / (2 * step) < 1e-5 * sold


def test_the_table_has_a_row_for_every_offer_and_adds_up():
    table = small_firms().costs()
    assert table.columns == [
        *("market", "product", "firm", "price", "share", "cost", "markup", "lerner")
    ]
    assert table.height == 15
    assert table.filter(market="south")["product"].to_list() == ["a", "c", "d"]
    assert np.allclose(table["price"] - table["cost"], table["markup"])
    assert np.allclose(table["lerner"], table["markup"] / table["price"])
    assert (table["markup"] > 0).all()


def test_costs_of_rare_products_are_as_exact_as_others():
    """A price so high that next to nobody pays it: p - c of a logit is then 1 / alpha."""
    firms, sensitivity = plain_firms(SINGLE)
    far = 60 / sensitivity
    markets = firms.markets.with_prices({"a": far})
    table = Firms(firms.parameters, firms.fitted, markets).costs().filter(product="a")
    assert (table["share"] < 1e-20).all()
    assert np.allclose(table["markup"], 1 / sensitivity, rtol=1e-9, atol=0)


def test_a_product_that_nobody_buys_is_refused():
    markets = firm_markets().with_prices({"a": 1e6})
    with refused("product a in market north", "share of 0", "price 1e+06"):
        small_firms(markets).costs()


def test_costs_below_zero_are_warned_of():
    markets = firm_markets()
    with computing():
        careless = random_demand(1)
        careless = eqx.tree_at(lambda m: m.utility.price_intercept, careless, jnp.asarray(-1.0))
    firms = Firms((careless,), FittedOffers.plain(markets), markets)
    with pytest.warns(UserWarning, match="product a in market north is -.*and 14 more.*elastic"):
        table = firms.costs()
    assert (table["cost"] < 0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        firms.equilibrium(dict.fromkeys("abcd", 0.5))


def test_labels_and_frames_come_back_as_they_were():
    table = small_firms(firm_markets(SINGLE)).costs("pandas")
    assert table["firm"].tolist()[:3] == [1, 2, 3]
    markets = firm_markets()
    rows = markets.to_frame("pandas").assign(product=lambda t: [ord(p) for p in t["product"]])
    numbered = type(markets).from_table(
        rows.rename(columns={"market": "town", "product": "item", "price": "asked"}),
        attributes=["quality", "style"],
        market="town",
        product="item",
        price="asked",
        available="available",
        market_size=500,
        sizes={"new": 2.0, "old": 5.0},
        firm="item",
    )
    table = small_firms(numbered).costs()
    assert list(table.columns[:4]) == ["town", "item", "asked", "share"]
    assert table["item"].tolist()[:3] == [97, 98, 99]


def test_columns_named_as_results_are_refused():
    markets = firm_markets()
    rows = markets.to_frame().rename({"firm": "markup"})
    named = type(markets).from_table(
        rows, attributes=["quality", "style"], available="available", market_size=500,
        firm="markup",
    )  # fmt: skip
    with refused('"markup"', "rename it"):
        small_firms(named)
