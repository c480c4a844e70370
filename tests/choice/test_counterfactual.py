"""Changed markets say what was changed, and comparisons add up."""

import warnings
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pytest

from dgd.choice import ChoiceFit, Markets
from dgd.learning.runs import Run
from dgd.runtime import computing
from support.random_choice import SIZES, make, offers_table, random_fit
from support.refusals import refused


@pytest.fixture(scope="module")
def markets() -> Markets:
    return make(sizes=SIZES)


@pytest.fixture(scope="module")
def fit(markets: Markets) -> ChoiceFit:
    return random_fit(markets)


def values(markets: Markets, column: str) -> dict[tuple[str, str], float]:
    rows = markets.rows().select("market", "product", column).iter_rows()
    return {(market, product): value for market, product, value in rows}


def test_new_prices_stand_only_where_they_were_asked_for(markets: Markets):
    before = values(markets, "price")
    after = values(markets.with_prices({"a": 9.0}), "price")
    assert after == {key: 9.0 if key[1] == "a" else price for key, price in before.items()}
    one = pd.DataFrame({"market": ["west"], "product": ["a"], "price": [9.0]})
    after = values(markets.with_prices(one), "price")
    assert after == {**before, ("west", "a"): 9.0}
    after = values(markets.with_scaled_prices(1.1), "price")
    assert after == pytest.approx({key: 1.1 * price for key, price in before.items()})


def test_changed_markets_have_no_sales_but_the_same_people(markets: Markets):
    after = markets.with_scaled_prices({"b": 2.0})
    assert not after.counted
    assert np.array_equal(after.size, markets.size)
    assert np.array_equal(after.cohort_size, markets.cohort_size)
    assert after.markets == markets.markets


def test_attributes_change_one_at_a_time(markets: Markets):
    after = markets.with_attributes({"a": {"style": 4.0}, "b": {"quality": -1.0}})
    style, quality = values(markets, "style"), values(markets, "quality")
    assert values(after, "style") == {k: 4.0 if k[1] == "a" else v for k, v in style.items()}
    assert values(after, "quality") == {k: -1.0 if k[1] == "b" else v for k, v in quality.items()}
    table = pl.DataFrame({"product": ["a"], "market": ["north"], "style": [4]})
    assert values(markets.with_attributes(table), "style") == {**style, ("north", "a"): 4.0}


def test_a_dropped_product_is_bought_by_nobody(fit: ChoiceFit, markets: Markets):
    after = markets.without_products(["a", "c"], in_markets=["north", "west"])
    shares = fit.predict(after).rows_by_key(["market", "product"])
    gone = {("north", "a"), ("north", "c"), ("west", "a"), ("west", "c"), ("south", "b")}
    for key, row in shares.items():
        assert (row[0][1] == 0.0) == (key in gone), key


def test_a_new_product_takes_from_all_others(fit: ChoiceFit, markets: Markets):
    new = pl.DataFrame({"product": ["e"], "price": [1.0], "quality": [0.5], "style": [0.0]})
    table = fit.compare(markets.with_products(new)).products()
    shares = table.filter(pl.col("measure") == "share")
    added = shares.filter(pl.col("product") == "e")
    assert added.height == 5
    assert (added["base"] == 0.0).all()
    others = shares.filter((pl.col("product") != "e") & (pl.col("base") > 0))
    assert (others["difference"] < 0).all()
    total = shares.group_by("market").agg(pl.col("difference").sum())
    assert np.allclose(total["difference"], 0.0, atol=1e-12)


def test_a_product_that_was_away_can_come_back(markets: Markets):
    back = pl.DataFrame(
        {"market": ["south"], "product": ["b"], "price": [1.5], "quality": [0.1], "style": [0.2]}
    )
    after = markets.with_products(back)
    assert after.available.sum() == markets.available.sum() + 1
    assert after.listed.sum() == markets.listed.sum()


def test_tables_of_a_comparison_agree_with_each_other(fit: ChoiceFit, markets: Markets):
    compared = fit.compare(markets.with_scaled_prices({"a": 1.2}))
    products, by_market, total = compared.products(), compared.markets(), compared.total()
    for side in ("base", "changed", "difference"):
        revenue = products.filter(pl.col("measure") == "revenue")[side].sum()
        assert revenue == pytest.approx(
            by_market.filter(pl.col("measure") == "revenue")[side].sum()
        )
        assert revenue == pytest.approx(total.filter(pl.col("measure") == "revenue")[side].item())
        sold = products.filter((pl.col("measure") == "count") & (pl.col("product") != "outside"))
        assert sold[side].sum() == pytest.approx(
            total.filter(pl.col("measure") == "sold")[side].item()
        )
    surplus = by_market.filter(pl.col("measure") == "surplus")["difference"]
    assert (surplus.filter(by_market["market"].unique(maintain_order=True) != "east") < 0).all()
    assert surplus[2] == pytest.approx(0.0)  # "a" is not sold in the east


def test_frames_come_in_the_kind_handed_over(markets: Markets):
    fit = random_fit(make(offers_table().to_pandas(), sizes=SIZES))
    changed = fit.markets.with_prices({"a": 1.0})
    compared = fit.compare(changed)
    for table in (fit.predict(), fit.elasticities(), fit.segments(), compared.total()):
        assert isinstance(table, pd.DataFrame)
    assert isinstance(fit.predict(changed, kind="polars"), pl.DataFrame)


def test_a_demand_curve_falls_and_agrees_with_prediction(fit: ChoiceFit, markets: Markets):
    prices = [0.5, 1.0, 2.0, 3.0]
    curve = fit.demand_curve("a", prices)
    assert curve["price"].to_list() == prices
    assert (np.diff(curve["count"]) < 0).all()
    there = fit.predict(markets.with_prices({"a": 2.0})).filter(pl.col("product") == "a")
    assert curve["count"][2] == pytest.approx(there["count"].sum())
    assert curve["revenue"][2] == pytest.approx(2.0 * there["count"].sum())


def test_prices_far_outside_the_training_range_are_remarked_on(fit: ChoiceFit, markets: Markets):
    low, high = fit.price_range
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit.predict(markets.with_prices({"a": high + 0.4 * (high - low)}))
    far = markets.with_prices({"a": 20.0})
    words = f"price 20 of product a in market north.*{low:g} to {high:g}.*extrapolated"
    for ask in (fit.predict, fit.elasticities, fit.diversion, fit.compare):
        with pytest.warns(UserWarning, match=words):
            ask(far)
    with pytest.warns(UserWarning, match="price 20"):
        fit.demand_curve("a", [1.0, 20.0])


def test_surplus_of_people_who_hardly_mind_prices_is_remarked_on(fit: ChoiceFit, markets: Markets):
    def torn_apart(run: Run) -> Run:
        loading = jnp.asarray(np.array([9.0, 0.0]))
        model = eqx.tree_at(lambda m: m.utility.price_loading, run.parameters, loading)
        return replace(run, parameters=model)

    with computing():
        torn = replace(fit, runs=tuple(torn_apart(run) for run in fit.runs))
    with pytest.warns(UserWarning, match="mind prices less than a tenth"):
        torn.consumer_surplus()
    with pytest.warns(UserWarning, match="mind prices less than a tenth"):
        torn.compare(markets.without_products(["a"])).total()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torn.compare(markets.with_scaled_prices(1.1)).total()


def test_segments_are_the_choosers_summed_up(fit: ChoiceFit):
    choosers, segments = fit.choosers(), fit.segments()
    assert choosers.height == 2 * 2 * 2 * 25
    assert segments.height == 2 * 2 * 2
    shares = segments.group_by("seed", "cohort").agg(pl.col("share").sum())
    assert np.allclose(shares["share"], 1.0)
    one = segments.row(3, named=True)
    part = choosers.filter(
        (pl.col("seed") == one["seed"])
        & (pl.col("cohort") == one["cohort"])
        & (pl.col("type") == one["type"])
    )
    assert part.height == 25
    weight = part["weight"].to_numpy()
    for column in ("price sensitivity", "taste for constant", "taste for style"):
        assert one[column] == pytest.approx(np.average(part[column], weights=weight))
    assert (choosers["price sensitivity"] > 0).all()


OFFER = {"product": ["e"], "price": [1.0], "quality": [0.5], "style": [0.0]}


@pytest.mark.parametrize(
    ("change", "given", "words"),
    [
        ("with_prices", {"z": 1.0}, ["prices row 1", "product", '"z"', "not in the markets"]),
        ("with_prices", {"a": float("nan")}, ["prices row 1", "price", "nan"]),
        ("with_prices", {"a": -1.0}, ["product a", "-1", "negative"]),
        ("with_prices", {}, ["prices has no rows"]),
        ("with_prices", pl.DataFrame({"product": ["a"]}), ['prices has no column "price"']),
        ("with_scaled_prices", 0.0, ["factors row 1", "not positive"]),
        ("with_attributes", {"a": {"size": 1.0}}, ['"size"', "quality, style"]),
        ("with_attributes", {"a": {"style": float("inf")}}, ["attributes row 1", "style", "inf"]),
        ("without_products", ["z"], ["'z'", "not in the markets"]),
        ("without_products", "a", ['["a"]']),
        ("without_products", ["a", "b", "c", "d"], ["market north", "no available product"]),
        ("with_products", pl.DataFrame({"product": ["e"]}), ['no column "price"']),
        (
            "with_products",
            pl.DataFrame({**OFFER, "product": ["c"]}),
            ["product c", "market north", "already on offer"],
        ),
        (
            "with_products",
            pl.DataFrame({**OFFER, "market": ["moon"]}),
            ["offers row 1", "moon", "not in the markets"],
        ),
        ("with_products", pl.DataFrame({**OFFER, "price": [None]}), ["product e", "missing"]),
    ],
    ids=str,
)
def test_impossible_changes_are_refused(
    markets: Markets, change: str, given: Any, words: list[str]
):
    with refused(*words):
        getattr(markets, change)(given)


def test_other_markets_are_refused(fit: ChoiceFit, markets: Markets):
    with refused("cohorts", "new", "make both the same way"):
        fit.predict(make())
    with refused("west, north", "north, south, east and 2 more", "same markets"):
        fit.compare(markets.select(["west", "north"]))
    with refused("prices is empty"):
        fit.demand_curve("a", [])
