"""Demand that moves against a plain loop over periods, and what holds whatever the parameters."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest

from dgd.choice import ChoiceDemand, Offers, price_derivatives, shares
from dgd.choice.demand import Demand, surplus_at_nodes
from dgd.runtime import computing
from support.moving_choice import (
    PERIODS,
    random_moving,
    walked_by_hand,
    weekly,
    weekly_table,
    with_history,
)

FUTURE = pl.col("week") > PERIODS[2]


def found(model: ChoiceDemand, offers: Offers) -> np.ndarray:
    parts = shares(model, offers)
    return np.c_[parts.products, parts.outside]


@pytest.mark.parametrize("seed", [1, 2])
def test_shares_after_recorded_periods_equal_a_loop_over_them(seed: int):
    markets = weekly()
    with computing():
        model = random_moving(seed)
        by_hand = walked_by_hand(model, markets, markets)
        assert np.allclose(found(model, with_history(markets)), by_hand, rtol=0, atol=1e-10)
        assert not np.allclose(found(model, Offers.of(markets)), by_hand, atol=1e-3)


def test_periods_after_the_recorded_ones_are_led_to_by_expected_purchases():
    table = weekly_table()
    recorded, later = weekly(table.filter(~FUTURE)), weekly(table.filter(FUTURE))
    with computing():
        model = random_moving(3)
        by_hand = walked_by_hand(model, later, recorded)
        offers = with_history(later, recorded)
        assert np.allclose(found(model, offers), by_hand, rtol=0, atol=1e-10)
        counted = found(model, with_history(weekly(table)).at(jnp.arange(6)))
        last = slice(0, 3)
        assert not np.allclose(found(model, offers)[last], counted[last], atol=1e-6)


def test_markets_asked_for_where_nothing_was_recorded_are_expected_in_the_midst_of_time():
    table = weekly_table()
    gap = (pl.col("city") == "north") & (pl.col("week") == PERIODS[1])
    recorded, everything = weekly(table.filter(~gap)), weekly(table)
    with computing():
        model = random_moving(4)
        by_hand = walked_by_hand(model, everything, recorded)
        offers = with_history(everything, recorded)
        assert np.allclose(found(model, offers), by_hand, rtol=0, atol=1e-10)


def test_a_place_the_fit_did_not_know_starts_as_all_places_are_in_the_mean():
    table = weekly_table()
    moved_away = pl.when(pl.col("city") == "east").then(pl.lit("west")).otherwise("city")
    later = weekly(table.filter(FUTURE).with_columns(moved_away.alias("city")))
    recorded = weekly(table.filter(~FUTURE))
    with computing():
        model = random_moving(5)
        by_hand = walked_by_hand(model, later, recorded)
        assert np.allclose(found(model, with_history(later, recorded)), by_hand, atol=1e-10)


def test_a_period_moves_those_after_it_and_no_other():
    table = weekly_table()
    here = (pl.col("week") == PERIODS[2]) & (pl.col("city") == "north")
    sold = pl.when(here).then(pl.col("count") * 2).otherwise("count")
    with computing():
        model = random_moving(6)
        before, after = (
            found(model, with_history(weekly(part)))
            for part in (table, table.with_columns(sold.alias("count")))
        )
    markets = weekly()
    week = np.array(markets.marks["week"].labels)[markets.marks["week"].of_market]
    city = np.array(markets.marks["city"].labels)[markets.marks["city"].of_market]
    moved = np.abs(before - after).max(1) > 1e-9
    assert (moved == ((week > PERIODS[2]) & (city == "north"))).all()


def test_expected_purchases_take_over_where_they_are_asked_to():
    markets = weekly()
    with computing():
        model = random_moving(7)
        expected = found(model, with_history(markets, since=PERIODS[2]))
        recorded = weekly(weekly_table().filter(pl.col("week") < PERIODS[2]))
        by_hand = walked_by_hand(model, markets, recorded)
        assert np.allclose(expected, by_hand, rtol=0, atol=1e-10)


def test_effects_of_zero_and_no_history_are_demand_that_stands_still():
    markets = weekly()
    with computing():
        model = random_moving(8)
        still = ChoiceDemand(model.population, model.utility, model.scales)
        wanted = found(still, Offers.of(markets))
        assert np.array_equal(found(model, Offers.of(markets)), wanted)
        effects = lambda m: (  # noqa: E731
            m.place_effect,
            *(held.coefficients for part in m.carried for held in part.held()),
        )
        at_rest = eqx.tree_at(effects, model, replace_fn=jnp.zeros_like)
        assert np.allclose(found(at_rest, with_history(markets)), wanted, rtol=0, atol=1e-13)


def test_derivatives_by_price_are_those_of_automatic_differentiation():
    with computing():
        model, offers = random_moving(9), with_history(weekly())
        slopes = price_derivatives(model, offers)

        def moved(price: jnp.ndarray) -> jnp.ndarray:
            return model.shares(offers._replace(price=price)).products

        whole = jax.jit(jax.jacobian(moved))(offers.price)
        own = np.einsum("mjmk->mjk", np.asarray(whole))
    assert np.allclose(slopes.products, own, rtol=0, atol=1e-12)


def test_surplus_falls_by_what_a_price_takes_from_those_who_buy():
    with computing():
        model, offers = random_moving(10), with_history(weekly())

        def surplus(price: jnp.ndarray) -> jnp.ndarray:
            return model.surplus_at_nodes(offers._replace(price=price)).sum()

        slope = jax.jit(jax.grad(surplus))(offers.price)
        assert np.allclose(slope, -found(model, offers)[:, :-1], rtol=0, atol=1e-12)
        assert surplus_at_nodes(model, offers).shape == (len(offers.weight), 2, 50)


def test_tables_of_demand_are_made_as_for_demand_that_stands_still():
    markets = weekly()
    with computing():
        demand = Demand((random_moving(1), random_moving(2)), markets, with_history(markets))
    assert demand.shares_table()["share"].sum() == pytest.approx(len(markets.markets))
    assert np.isfinite(demand.elasticities_table()["elasticity"].to_numpy()).all()
    kept = demand.diversion_table().group_by("market", "product").agg(pl.col("diversion").sum())
    assert np.allclose(kept["diversion"], 1.0)


def test_what_was_measured_beforehand_is_not_trained():
    with computing():
        model = random_moving(1)
        free = model.trainable()
    assert not any(jax.tree.leaves((free.usual, free.scales)))
    assert all(jax.tree.leaves((free.carried, free.utility, free.population, free.place_effect)))
