"""How often 90% ranges hold the truth, over data sets that were simulated from it.

    python benchmarks/choice_coverage.py --simulations 200 --typed 40 --json choice-coverage.json

Three kinds of markets:

- alike: a logit whose shares scatter far more than chance (Dirichlet), as those of real markets do;
- instruments: the same, where sellers ask more for what is better in ways no column holds; a cost
  moves prices and nothing else, and its residual stands beside the attributes;
- types: `gaussian_world`, people of two Gaussian types, by the likelihood of types.

Of each fit: the mean price sensitivity (`coefficients`), the mean own-price elasticity and the mean
diversion to outside over all offers (ranges over `draws`), by the sandwich and, on fewer data sets,
by the bootstrap. Between 85 and 95 of a hundred ranges should hold the truth.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import polars as pl

from dgd.choice import (
    ChoiceFit,
    ChoiceModel,
    Demand,
    Markets,
    gaussian_world,
    simulate_markets,
)
from dgd.files.atomic import write_atomically
from dgd.runtime import computing

LEVEL = 90
BAR = (0.85, 0.95)
MARKETS, PRODUCTS, OPPORTUNITIES = 60, 4, 2_000
TASTES, SENSITIVITY = np.array([1.5, 0.6]), 1.5
CONCENTRATION = 100.0
"""Of the Dirichlet: a market's shares are as sure as those of so many people."""
UNSEEN = 0.6
"""What a standard deviation of unseen quality adds to utility."""
FIGURES = ("price sensitivity", "own elasticity", "diversion to outside")
BOOTSTRAP_DRAWS = 100
TYPED_MARKETS = 40


class Truth(NamedTuple):
    """Markets, and the figures they were made with."""

    markets: Markets
    figures: Sequence[float]


def logit_markets(instrumented: bool, seed: int) -> Truth:
    """A logit with a constant, comfort and price; what sellers alone see follows price or not."""
    rng = np.random.default_rng([seed, instrumented])
    shape = (MARKETS, PRODUCTS)
    comfort, cost, seen = (rng.normal(size=shape) for _ in range(3))
    price = 2.0 + 0.3 * cost + 0.3 * seen
    quality = UNSEEN * seen if instrumented else np.zeros(shape)
    odds = np.exp(TASTES[0] + TASTES[1] * comfort - SENSITIVITY * price + quality)
    chance = odds / (1.0 + odds.sum(1, keepdims=True))
    outside = 1.0 - chance.sum(1, keepdims=True)
    scattered = rng.standard_gamma(CONCENTRATION * np.c_[chance, outside])
    scattered /= scattered.sum(1, keepdims=True)
    counts = rng.multinomial(OPPORTUNITIES, scattered)[:, :-1]
    table = pl.DataFrame(
        {
            "market": np.repeat(np.arange(MARKETS), PRODUCTS),
            "product": np.tile(np.arange(PRODUCTS), MARKETS),
            "price": price.ravel(),
            "comfort": comfort.ravel(),
            "cost": cost.ravel(),
            "count": counts.ravel(),
        }
    )
    markets = Markets.from_table(
        table,
        attributes=["comfort"],
        market_size=OPPORTUNITIES,
        instruments=["cost"] if instrumented else [],
    )
    elasticity = -SENSITIVITY * price * (1.0 - chance)
    leaving = outside / (1.0 - chance)
    return Truth(markets, (SENSITIVITY, float(elasticity.mean()), float(leaving.mean())))


def typed_markets(seed: int) -> Truth:
    world = gaussian_world()
    markets = simulate_markets(world, TYPED_MARKETS, seed=seed).markets
    with computing():
        points, log_weight = world.model.population.support()
        sensitivity = jnp.exp(log_weight) * world.model.price_sensitivity(points)
        mean = float(sensitivity.sum())
    return Truth(markets, (mean, *substitution(Demand((world.model,), markets))))


def substitution(found: Demand) -> tuple[float, float]:
    """Own-price elasticity and diversion to outside, plain means over offers."""
    own = np.einsum("mjj->mj", np.asarray(found.price_derivatives.products))
    share, left = np.asarray(found.shares.products), -found.price_derivatives.outside / own
    return float((own * found.markets.price / share).mean()), float(left.mean())


def held(fit: ChoiceFit, truth: Truth) -> list[bool]:
    """Whether the range of each figure holds the truth."""
    row = fit.coefficients(level=LEVEL, kind="polars").row(0, named=True)
    told = fit.figure(substitution, kind="polars", level=LEVEL)
    low, high = (np.r_[row[end], told[end].to_numpy()] for end in ("low", "high"))
    return [bool(ok) for ok in (low <= truth.figures) & (truth.figures <= high)]


def simulated(kind: str, bootstrapped: int, seed: int) -> dict[str, list[bool]]:
    """One data set: which ranges held the truth, by each way to make them."""
    warnings.simplefilter("ignore")
    if kind == "types":
        truth, model = typed_markets(seed), ChoiceModel(types="kept", starts=1)
    else:
        truth = logit_markets(kind == "instruments", seed)
        model = ChoiceModel(population="point")
    fit = model.fit(truth.markets, seeds=[1], progress=False)
    found = {"sandwich": held(fit, truth)}
    if seed <= bootstrapped:
        found["bootstrap"] = held(fit.bootstrapped(BOOTSTRAP_DRAWS, seed=seed), truth)
    return found


def rows(kind: str, found: Iterable[dict[str, list[bool]]]) -> list[dict[str, Any]]:
    """The part of ranges that hold the truth, for every way to make them."""
    made = list(found)
    table = []
    for way in ("sandwich", "bootstrap"):
        told = np.array([one[way] for one in made if way in one])
        if len(told):
            parts = dict(zip(FIGURES, told.mean(0).tolist(), strict=True))
            table.append({"markets": kind, "ranges": way, "data sets": len(told), **parts})
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--typed", type=int, default=40, help="data sets with types")
    parser.add_argument("--bootstrapped", type=int, default=100, help="data sets also resampled")
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    given = parser.parse_args()
    kinds: list[tuple[str, int, int]] = [
        ("alike", given.simulations, given.bootstrapped),
        ("instruments", given.simulations, given.bootstrapped),
        ("types", given.typed, 0),
    ]
    table: list[dict[str, Any]] = []
    with ProcessPoolExecutor(given.processes, mp_context=get_context("spawn")) as pool:
        for kind, number, bootstrapped in kinds:
            begin = time.perf_counter()
            one: Callable[[int], dict[str, list[bool]]] = partial(simulated, kind, bootstrapped)
            table += rows(kind, pool.map(one, range(1, number + 1)))
            print(f"{kind}: {number} data sets, {time.perf_counter() - begin:.0f} s", flush=True)
    with pl.Config(tbl_cols=20, tbl_width_chars=120, float_precision=3):
        print(f"Part of {LEVEL}% ranges that hold the truth (bar: {BAR[0]:.0%} to {BAR[1]:.0%}):")
        print(pl.DataFrame(table))
    if given.json is not None:
        write_atomically(given.json.absolute(), json.dumps(table, indent=1).encode())


if __name__ == "__main__":
    main()
