"""The same parameters and nodes in PyBLP, on markets it simulates: the same demand."""

import warnings
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from dgd.choice import ChoiceDemand, Demand, Markets
from dgd.runtime import computing
from support.random_choice import random_demand

pyblp = pytest.importorskip("pyblp", reason="PyBLP is not installed")

MARKETS, PRODUCTS = 8, 4
COEFFICIENTS = "1 + quality + style + prices"


@pytest.fixture(scope="module")
def model() -> ChoiceDemand:
    with computing():
        demand = random_demand(2, cohorts=1, nodes=7)
        # Steep enough for firms to have an equilibrium price.
        return eqx.tree_at(lambda m: m.utility.price_intercept, demand, jnp.asarray(2.5))


@pytest.fixture(scope="module")
def simulated(model: ChoiceDemand) -> Any:
    """Equilibrium prices and shares that PyBLP finds for firms facing this demand."""
    rng = np.random.default_rng(11)
    products = pd.DataFrame(
        {
            "market_ids": np.repeat(np.arange(MARKETS), PRODUCTS),
            "firm_ids": np.tile([0, 0, 1, 2], MARKETS),
            "quality": rng.normal(size=MARKETS * PRODUCTS),
            "style": rng.normal(size=MARKETS * PRODUCTS),
        }
    )
    with computing():
        points, log_weights = model.population.support()
        tastes = np.asarray(model.tastes(points))[0]
        sensitivity = np.asarray(model.price_sensitivity(points))[0]
        weights = np.exp(np.asarray(log_weights))[0]
    people = pd.DataFrame(
        {
            "market_ids": np.repeat(np.arange(MARKETS), len(weights)),
            "weights": np.tile(weights, MARKETS),
            **{f"taste{a}": np.tile(tastes[:, a], MARKETS) for a in range(3)},
            "mind": np.tile(-sensitivity, MARKETS),
            # PyBLP's own taste shocks, which sigma = 0 leaves without effect.
            **{f"nodes{index}": np.zeros(MARKETS * len(weights)) for index in range(4)},
        }
    )
    pyblp.options.verbose = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulation = pyblp.Simulation(
            product_formulations=(
                pyblp.Formulation(COEFFICIENTS),
                pyblp.Formulation(COEFFICIENTS),
            ),
            product_data=products,
            beta=np.zeros(4),
            sigma=np.zeros((4, 4)),
            pi=np.eye(4),
            agent_formulation=pyblp.Formulation("0 + taste0 + taste1 + taste2 + mind"),
            agent_data=people,
            xi=np.zeros(len(products)),
            omega=np.zeros(len(products)),
        )
        return simulation.replace_endogenous(costs=np.full((len(products), 1), 0.6))


@pytest.fixture(scope="module")
def demand(model: ChoiceDemand, simulated: Any) -> Demand:
    data = simulated.product_data
    table = pd.DataFrame(
        {
            "market": data.market_ids.ravel(),
            "product": np.tile(np.arange(PRODUCTS), MARKETS),
            "price": data.prices.ravel(),
            "quality": data.quality.ravel(),
            "style": data.style.ravel(),
        }
    )
    markets = Markets.from_table(table, attributes=["quality", "style"], count=None)
    return Demand((model,), markets)


def test_shares_are_pyblps(demand: Demand, simulated: Any):
    theirs = simulated.product_data.shares.reshape(MARKETS, PRODUCTS)
    assert theirs.min() > 1e-3
    assert np.abs(demand.shares.products - theirs).max() < 1e-8


def test_price_derivatives_are_pyblps(demand: Demand, simulated: Any):
    theirs = simulated.compute_demand_jacobians().reshape(MARKETS, PRODUCTS, PRODUCTS)
    assert np.abs(demand.price_derivatives.products - theirs).max() < 1e-8


def test_elasticities_are_pyblps(demand: Demand, simulated: Any):
    theirs = simulated.compute_elasticities()
    ours = demand.elasticities_table()["elasticity"].to_numpy()
    assert np.abs(ours - theirs.ravel()).max() < 1e-8


def test_diversion_ratios_are_pyblps(demand: Demand, simulated: Any):
    """PyBLP gives diversion to the outside option on the diagonal."""
    theirs = simulated.compute_diversion_ratios().reshape(MARKETS, PRODUCTS, PRODUCTS)
    table = demand.diversion_table().rows_by_key(["market", "product", "to"])
    for m, j, k in np.ndindex(theirs.shape):
        ours = table[m, j, None if j == k else k][0][0]
        assert abs(ours - theirs[m, j, k]) < 1e-8


def test_consumer_surplus_is_pyblps(demand: Demand, simulated: Any):
    theirs = simulated.compute_consumer_surpluses().ravel()
    assert np.allclose(demand.surplus, theirs, rtol=1e-8, atol=0)
