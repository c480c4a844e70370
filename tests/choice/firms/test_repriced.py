"""What is told about new prices, and which costs may be given."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dgd.choice import Demand
from dgd.choice.firms.conduct import Firms
from support.refusals import refused
from support.small_firms import small_firms


@pytest.fixture(scope="module")
def firms() -> Firms:
    return small_firms()


def test_prices_are_told_offer_by_offer(firms: Firms):
    found = firms.merger({"blue": "red"})
    table = found.prices()
    assert table.columns == [
        *("market", "product", "firm", "cost", "base price", "new price", "difference percent")
    ]
    assert table.height == 15
    assert set(table["firm"]) == {"red", "gray"}
    assert table["cost"].to_list() == firms.costs()["cost"].to_list()
    change = 100 * (table["new price"] / table["base price"] - 1)
    assert np.allclose(table["difference percent"], change, atol=1e-9)
    new = found.markets.price[found.markets.available]
    assert table["new price"].to_list() == new.tolist()
    assert isinstance(found.prices("pandas"), pd.DataFrame)


def test_a_merger_of_rivals_raises_prices_and_joint_profit(firms: Firms):
    found = firms.merger(["red", "blue"])
    merged = found.prices().filter(firm="red")
    both = merged.filter(pl.col("firm").len().over("market") > 1)
    assert (both["difference percent"] > -1e-9).all()
    profits = found.profits()
    assert profits["firm"].to_list() == ["red", "gray"]
    assert (profits["difference"] > 0).all()


def test_profits_are_margins_times_what_is_sold(firms: Firms):
    found = firms.merger({"blue": "red"})
    sold = Demand(firms.parameters, found.markets).shares_table().drop_nulls("price")
    rows = found.prices().join(sold, on=["market", "product"], how="left")
    earned = rows.with_columns(
        profit=(pl.col("new price") - pl.col("cost")) * pl.col("count")
    ).group_by("firm", maintain_order=True)
    by_hand = dict(earned.agg(pl.col("profit").sum()).iter_rows())
    for row in found.profits().iter_rows(named=True):
        assert row["changed"] == pytest.approx(by_hand[row["firm"]], rel=1e-12)
        assert row["difference"] == pytest.approx(row["changed"] - row["base"])


def test_new_prices_are_markets_that_can_be_compared(firms: Firms):
    found = firms.merger({"blue": "red"})
    assert not found.markets.counted
    assert found.markets.count.sum() == 0
    assert firms.markets.counted
    total = found.comparison().total().rows_by_key("measure", unique=True)
    assert total["surplus"][2] < 0
    assert "Repriced(5 markets, 15 offers" in repr(found)
    assert "Profits" in found._repr_html_()
    assert len(found.payload()["prices"]) == 15


def test_costs_that_are_not_given_are_implied(firms: Firms):
    implied = firms.costs()
    cost = firms.equilibrium({"a": 0.25}).prices()
    assert (cost.filter(product="a")["cost"] == 0.25).all()
    others = pl.col("product") != "a"
    assert cost.filter(others)["cost"].to_list() == implied.filter(others)["cost"].to_list()


def test_the_table_of_costs_can_be_changed_and_handed_back(firms: Firms):
    """Costs that a merger saves in one market."""
    saved = pl.when(pl.col("market") == "north").then(0.9).otherwise(1.0) * pl.col("cost")
    table = firms.costs().with_columns(saved.alias("cost"))
    found = firms.merger({"blue": "red"}, table)
    assert found.prices()["cost"].to_list() == table["cost"].to_list()
    pandas = firms.merger({"blue": "red"}, table.to_pandas())
    assert pandas.prices()["new price"].to_list() == found.prices()["new price"].to_list()
    dearer = firms.merger({"blue": "red"}).prices().filter(market="north", firm="red")
    assert (
        found.prices().filter(market="north", firm="red")["new price"] < dearer["new price"]
    ).all()


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ({"z": 1.0}, ["costs row 1", '"z"', "not in the markets"]),
        ({"a": float("nan")}, ["costs row 1", "product a", "nan"]),
        ({"a": "much"}, ["costs row 1", "much"]),
        ({}, ["costs has no rows"]),
        (pl.DataFrame({"product": ["a"]}), ['costs has no column "cost"']),
        (pl.DataFrame({"cost": [1.0]}), ['costs has no column "product"']),
        (pl.DataFrame({"product": ["a", "a"], "cost": [1.0, 2.0]}), ["rows 1 and 2", "a cost"]),
        (
            pl.DataFrame({"market": ["moon"], "product": ["a"], "cost": [1.0]}),
            ["costs row 1", "moon", "not in the markets"],
        ),
    ],
    ids=str,
)
def test_impossible_costs_are_refused(firms: Firms, costs, words):
    with refused(*words):
        firms.equilibrium(costs)


def test_unknown_firms_have_no_best_prices(firms: Firms):
    with refused("'pink'", "correct the label"):
        firms.optimal_prices("pink")
    markets = firms.markets.without_products(["d"])
    gone = Firms(firms.parameters, firms.fitted, markets)
    with refused("firm 'gray'", "no product on offer"):
        gone.optimal_prices("gray")
