"""Shares, derivatives and surplus against sums written out by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad_vec
from scipy.special import softmax

from dgd.choice import ChoiceDemand, Offers, Scales, price_derivatives, shares
from dgd.choice.demand import Demand
from dgd.model.population.named import POPULATIONS
from dgd.runtime import computing
from support.compiled import support_of
from support.random_choice import SIZES, make, random_demand


def by_hand(model: ChoiceDemand, markets) -> np.ndarray:
    """Shares of every slot and of nothing, node by node, in the user's own units."""
    support = support_of(model.population)
    utility, scales, support = jax.tree.map(np.asarray, (model.utility, model.scales, support))
    found = np.zeros((len(markets.markets), markets.price.shape[1] + 1))
    for m in range(len(markets.markets)):
        part = markets.cohort_size[m] / markets.cohort_size[m].sum()
        for g in range(len(part)):
            for i in range(support.points.shape[1]):
                u = support.points[g, i]
                weight = part[g] * np.exp(support.log_weights[g, i])
                logit = utility.price_intercept + utility.price_loading @ u
                worths = [0.0]
                slots = np.flatnonzero(markets.available[m])
                for j in slots:
                    x = (markets.attributes[m, j] - scales.center) / scales.spread
                    worth = x @ (utility.attribute_effect + utility.attribute_loading @ u)
                    cost = markets.price[m, j] / scales.price * np.log1p(np.exp(logit))
                    worths.append(float(worth - cost))
                chance = softmax(worths)
                found[m, -1] += weight * chance[0]
                found[m, slots] += weight * chance[1:]
    return found


@pytest.mark.parametrize("population", list(POPULATIONS))
def test_shares_equal_the_sum_written_out(population: str):
    markets = make(sizes=SIZES)
    with computing():
        model = random_demand(3, population)
        expected = by_hand(model, markets)
        found = shares(model, Offers.of(markets))
    assert np.allclose(np.c_[found.products, found.outside], expected, rtol=0, atol=1e-14)


def test_shares_sum_to_one_and_nobody_buys_what_is_not_there():
    markets = make(sizes=SIZES)
    for seed in range(5):
        with computing():
            found = shares(random_demand(seed), Offers.of(markets))
            products, outside = np.asarray(found.products), np.asarray(found.outside)
        assert np.allclose(products.sum(1) + outside, 1.0, atol=1e-14)
        assert (products[~markets.available] == 0.0).all()
        assert (products[markets.available] > 0.0).all()


def test_extreme_utilities_stay_finite():
    markets = make(sizes=SIZES)
    with computing():
        model, offers = random_demand(1), Offers.of(markets)
        for price in (-1e5, 1e5):
            offers = offers._replace(price=jnp.asarray(np.full(markets.price.shape, price)))
            products, outside = map(np.asarray, shares(model, offers))
            slopes = price_derivatives(model, offers)
            assert np.allclose(products.sum(1) + outside, 1.0)
            assert np.isfinite(np.asarray(slopes.products)).all()


def test_price_derivatives_equal_automatic_differentiation():
    markets = make(sizes=SIZES)
    with computing():
        model, offers = random_demand(4), Offers.of(markets)

        def flat(price):
            return tuple(model.shares(offers._replace(price=price)))

        products, outside = jax.jit(jax.jacfwd(flat))(offers.price)
        found = price_derivatives(model, offers)
    assert np.allclose(np.einsum("mjmk->mjk", products), found.products, rtol=0, atol=1e-14)
    assert np.allclose(np.einsum("mmk->mk", outside), found.outside, rtol=0, atol=1e-14)


def test_elasticities_and_diversion_equal_finite_differences():
    markets = make(sizes=SIZES)
    with computing():
        demand = Demand((random_demand(4), random_demand(5)), markets)
    before, step = demand.shares, 1e-5
    elasticity = demand.elasticities_table().rows_by_key(["market", "product", "price of"])
    diversion = demand.diversion_table().rows_by_key(["market", "product", "to"])
    assert len(elasticity) == (markets.available.sum(1) ** 2).sum()
    for k, product in enumerate(markets.products):
        up, down = (
            Demand(demand.parameters, markets.with_scaled_prices({product: 1 + side * step})).shares
            for side in (1, -1)
        )
        for m, market in enumerate(markets.markets):
            slots = {
                markets.products[markets.product[m, j]]: j
                for j in np.flatnonzero(markets.listed[m])
            }
            open_to = [p for p, j in slots.items() if markets.available[m, j]]
            if product not in open_to:
                assert (market, product, product) not in elasticity
                continue
            moved = (up.products[m] - down.products[m]) / (2 * step)
            left = (up.outside[m] - down.outside[m]) / (2 * step)
            for other in open_to:
                expected = moved[slots[other]] / before.products[m, slots[other]]
                found = elasticity[market, other, product][0][0]
                assert np.isclose(found, expected, atol=1e-8), (market, other, product, k)
                if other != product:
                    ratio = -moved[slots[other]] / moved[slots[product]]
                    assert np.isclose(diversion[market, product, other][0][0], ratio, atol=1e-8)
            ratio = -left / moved[slots[product]]
            assert np.isclose(diversion[market, product, "outside"][0][0], ratio, atol=1e-8)


def test_the_buyers_a_product_loses_all_go_somewhere():
    with computing():
        demand = Demand((random_demand(4), random_demand(5)), make(sizes=SIZES))
    table = demand.diversion_table().group_by("market", "product")
    assert np.allclose(table.agg(pl.col("diversion").sum())["diversion"], 1.0, atol=1e-12)


def test_the_surplus_a_price_takes_is_the_area_under_demand():
    markets = make(sizes=SIZES)
    with computing():
        models = (random_demand(4), random_demand(5))

    def demand(price: float) -> Demand:
        return Demand(models, markets.with_prices({"a": price}))

    slot = np.array([list(row).index(0) if 0 in row else -1 for row in markets.product])
    rows = np.arange(len(slot))
    area, _ = quad_vec(
        lambda p: np.where(slot >= 0, demand(p).shares.products[rows, slot], 0.0), 0.5, 2.5
    )
    assert np.allclose(demand(2.5).surplus - demand(0.5).surplus, -area, atol=1e-9)


@eqx.filter_jit
def everything_said(model, offers, points):
    """All that a demand reports: shares, tastes, sensitivities, surplus."""
    return (
        model.shares(offers).products,
        model.tastes(points),
        model.price_sensitivity(points),
        model.surplus_at_nodes(offers),
    )


def test_scales_change_neither_shares_nor_what_is_reported():
    """The same model on plain scales: equal shares, tastes, sensitivities and surplus."""
    markets = make(sizes=SIZES)
    with computing():
        scaled = random_demand(6)
        points = support_of(scaled.population).points
        tastes = scaled.scales.tastes(scaled.utility.attribute_loading.T[None])[0].T
        effect = scaled.scales.tastes(scaled.utility.attribute_effect[None, None])[0, 0]
        utility = eqx.tree_at(
            lambda r: (r.attribute_effect, r.attribute_loading),
            scaled.utility,
            (effect, tastes),
        )
        scales = Scales.plain(3)._replace(price=scaled.scales.price)
        plain = ChoiceDemand(scaled.population, utility, scales)
        both = (everything_said(model, Offers.of(markets), points) for model in (scaled, plain))
        for before, after in zip(*both, strict=True):
            assert np.allclose(before, after, atol=1e-12)


def test_two_gaussians_in_two_dimensions_have_eleven_effective_parameters():
    with computing():
        population = random_demand(0, cohorts=3).population
    numbers = sum(x.size for x in jax.tree.leaves(population))
    # Shares are a softmax: one logit of each cohort is free to choose.
    assert numbers - 3 == 3 * 11
