"""Demand of dgd beside PyBLP, and estimation beside xlogit, in one run.

    python benchmarks/choice.py --json choice.json

Shares and gradients. Markets of the same shape, with the same parameters and nodes, in both:
shares with all price derivatives, as each package's user asks for them; and shares with
their gradient by parameters, which for PyBLP is the inner part of its estimation without the
making of its market objects, four parameters, and for dgd the likelihood's gradient by all
parameters of population and utility.

Estimation. The same mixed logit on the same markets and the same draws, until converged, each
by its own rule: xlogit as it comes, from a logit of its own, dgd's gradients in SciPy's
BFGS, from no tastes at all. The likelihood has one maximum, and log-likelihoods are of the
counts. The last row is `ChoiceModel` with one start, its compilation included.

Instruments. The logit of Nevo's cereals with an effect per brand and twenty instruments, by PyBLP
and by dgd, from the table to the estimate.

Rounds alternate between the packages and each is reported by its median.
"""

import argparse
import json
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import equinox as eqx
import numpy as np

from choice_estimation import estimation, seconds
from choice_instruments import with_instruments
from dgd.choice import (
    ChoiceDemand,
    ChoiceWorld,
    Demand,
    Markets,
    Offers,
    gaussian_world,
    simulate_markets,
)
from dgd.choice.objective import Sales, choice_loss
from dgd.runtime import computing

NODES = 7
DRAWS = (256, 1024)
ESTIMATED = 40


@dataclass(frozen=True)
class Shape:
    markets: int
    products: int


SHAPES = {"paper": Shape(20, 3), "cereal": Shape(94, 24), "automobile": Shape(20, 110)}


def alternate(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int) -> dict[str, float]:
    """Median milliseconds of both, taking turns, after one run each."""
    ours(), theirs()
    times = [(seconds(ours), seconds(theirs)) for _ in range(rounds)]
    mine, other = (1e3 * float(np.median(column)) for column in zip(*times, strict=True))
    return {"dgd_ms": mine, "pyblp_ms": other, "ratio": other / mine}


def drawn_markets(shape: Shape) -> tuple[ChoiceDemand, Markets]:
    world = gaussian_world()
    products = tuple(f"product {index}" for index in range(shape.products))
    model = replace(world.model, population=world.model.population.with_nodes(NODES))
    drawn = simulate_markets(ChoiceWorld(model, products), shape.markets, seed=1)
    return model, drawn.markets


def pyblp_results(model: ChoiceDemand, markets: Markets) -> Any:
    """PyBLP's results with the tastes of every node as its demographics."""
    import pandas as pd
    import pyblp

    pyblp.options.verbose = False
    rows = markets.rows()
    with computing():
        points, log_weights = model.population.support()
        tastes = np.asarray(model.tastes(points))[0]
        sensitivity = np.asarray(model.price_sensitivity(points))[0]
        weights = np.exp(np.asarray(log_weights))[0]
    number = len(markets.markets)
    products = pd.DataFrame(
        {
            "market_ids": rows["market"].to_numpy(),
            "firm_ids": 0,
            "prices": rows["price"].to_numpy(),
            "quality": rows["quality"].to_numpy(),
            "style": rows["style"].to_numpy(),
            "shares": Demand((model,), markets).shares.products.ravel(),
        }
    )
    people = pd.DataFrame(
        {
            "market_ids": np.repeat(np.array(markets.markets), len(weights)),
            "weights": np.tile(weights, number),
            **{f"taste{a}": np.tile(tastes[:, a], number) for a in range(3)},
            "mind": np.tile(-sensitivity, number),
            **{f"nodes{index}": np.zeros(number * len(weights)) for index in range(4)},
        }
    )
    tastes_of = "1 + quality + style + prices"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulation = pyblp.Simulation(
            product_formulations=(pyblp.Formulation(tastes_of), pyblp.Formulation(tastes_of)),
            product_data=products,
            beta=np.zeros(4),
            sigma=np.zeros((4, 4)),
            pi=np.eye(4),
            agent_formulation=pyblp.Formulation("0 + taste0 + taste1 + taste2 + mind"),
            agent_data=people,
            xi=np.zeros(len(products)),
            omega=np.zeros(len(products)),
        )
        return simulation.replace_endogenous(
            costs=np.zeros((len(products), 1)),
            prices=products["prices"],
            iteration=pyblp.Iteration("return"),
        )


def pyblp_by_parameters(results: Any) -> Callable[[], Any]:
    """Shares and their derivatives by PyBLP's parameters, its market objects made beforehand."""
    from pyblp.markets.market import Market

    parts = (results._parameters, results._sigma, results._pi, results._rho)
    made = [
        Market(
            results.simulation,
            market,
            *parts,
            results._beta,
            results._gamma,
            results._delta,
            results._data_override,
        )
        for market in results.simulation.unique_market_ids
    ]

    def work() -> Any:
        found = []
        for market in made:
            probabilities, conditionals = market.compute_probabilities()
            tangents, _ = market.compute_probabilities_by_parameter_tangent_mapping(
                probabilities, conditionals
            )
            jacobian = market.compute_shares_by_theta_jacobian(tangents)
            found.append((probabilities @ market.agents.weights, jacobian))
        return found

    return work


def shares_and_gradients(shape: Shape, rounds: int) -> dict[str, dict[str, float]]:
    model, markets = drawn_markets(shape)
    results = pyblp_results(model, markets)
    difference = np.abs(
        Demand((model,), markets).price_derivatives.products.reshape(-1, shape.products)
        - results.compute_demand_jacobians()
    ).max()
    assert difference < 1e-8, difference

    def our_prices() -> Any:
        demand = Demand((model,), markets)
        return demand.shares, demand.price_derivatives

    def their_prices() -> Any:
        return results.compute_shares(), results.compute_demand_jacobians()

    with computing():
        offers, sales = Offers.of(markets), Sales.of(markets)
        compiled = eqx.filter_jit(eqx.filter_value_and_grad(choice_loss))

        def our_parameters() -> Any:
            return compiled(model, offers, sales)[0].block_until_ready()

        by_parameters = alternate(our_parameters, pyblp_by_parameters(results), rounds)
    return {
        "shares and price derivatives": alternate(our_prices, their_prices, rounds),
        "shares and parameter gradient": by_parameters,
    }


def show(title: str, rows: Mapping[str, Mapping[str, float]]) -> None:
    print(f"\n{title}")
    for name, values in rows.items():
        cells = "".join(f"{key:>16} {value:>14,.2f}" for key, value in values.items())
        print(f"  {name:<32}{cells}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    parser.add_argument("--rounds", type=int, default=9)
    chosen = parser.parse_args()
    # Compiled anew, so that the first run of dgd is one.
    os.environ["DGD_CACHE"] = "off"
    figures = {}
    for name, shape in SHAPES.items():
        title = f"{name}: {shape.markets} markets of {shape.products} products"
        figures[title] = shares_and_gradients(shape, chosen.rounds)
    for draws in DRAWS:
        title = f"mixed logit: {ESTIMATED} markets of 3 products, {draws} draws"
        figures[title] = estimation(ESTIMATED, draws, chosen.rounds)
    figures["logit with instruments: 94 markets of 24 cereals"] = with_instruments(chosen.rounds)
    for title, rows in figures.items():
        show(title, rows)
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
