"""Markets of firms that PyBLP simulates: the same demand, and its own equilibrium prices."""

import warnings
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pandas as pd

from dgd.choice import ChoiceDemand
from dgd.runtime import computing
from support.random_choice import random_demand

COEFFICIENTS = "1 + quality + style + prices"


def steep_demand(seed: int, nodes: int = 7) -> ChoiceDemand:
    """Random demand, steep enough for firms to have an equilibrium price."""
    with computing():
        demand = random_demand(seed, cohorts=1, nodes=nodes)
        return eqx.tree_at(lambda m: m.utility.price_intercept, demand, jnp.asarray(2.5))


def pyblp_people(models: Sequence[ChoiceDemand], markets: Sequence[Any]) -> pd.DataFrame:
    """The nodes of all models as people of every market, each model with the same weight."""
    tastes, minds, weights = [], [], []
    with computing():
        for model in models:
            points, log_weights = model.population.support()
            tastes.append(np.asarray(model.tastes(points))[0])
            minds.append(-np.asarray(model.price_sensitivity(points))[0])
            weights.append(np.exp(np.asarray(log_weights))[0] / len(models))
    coefficients = np.c_[np.concatenate(tastes), np.concatenate(minds)]
    weight, count = np.concatenate(weights), len(markets)
    return pd.DataFrame(
        {
            "market_ids": np.repeat(markets, len(weight)),
            "weights": np.tile(weight, count),
            **{f"taste{a}": np.tile(coefficients[:, a], count) for a in range(3)},
            "mind": np.tile(coefficients[:, 3], count),
            # PyBLP's own taste shocks, which sigma = 0 leaves without effect.
            **{f"nodes{index}": np.zeros(count * len(weight)) for index in range(4)},
        }
    )


def pyblp_equilibrium(
    pyblp: Any, products: pd.DataFrame, people: pd.DataFrame, costs: np.ndarray
) -> Any:
    """Prices and shares that PyBLP finds for the firms of `products`."""
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
        return simulation.replace_endogenous(costs=costs[:, None])
