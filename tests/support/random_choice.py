"""Random valid choice models and markets, for tests that must hold for all of them."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import polars as pl

from dgd.choice import ChoiceDemand, ChoiceFit, ChoiceSettings, Markets, Scales, Utility
from dgd.learning.runs import Run
from dgd.model import GaussianMixture
from dgd.model.population.named import POPULATIONS
from dgd.runtime import computing

ATTRIBUTES = ["quality", "style"]
COHORTS = ("new", "old")
SIZES = {"new": 2.0, "old": 5.0}


def offers_table(seed: int = 0) -> pl.DataFrame:
    """Five markets of two to four products in no order; one product is not available in one."""
    rng = np.random.default_rng(seed)
    sets = {"north": "abc", "south": "abcd", "east": "bd", "west": "acd", "center": "abcd"}
    rows = [
        (
            market,
            product,
            float(rng.uniform(0.5, 3.0)),
            0 if (market, product) == ("south", "b") else 1,
            *(float(x) for x in rng.normal(size=2)),
            0 if (market, product) == ("south", "b") else int(rng.integers(5, 60)),
            500,
        )
        for market, products in sets.items()
        for product in products
    ]
    names = ["market", "product", "price", "available", *ATTRIBUTES, "count", "visitors"]
    return pl.DataFrame(rows, schema=names, orient="row")


def make(table: Any = None, **options: Any) -> Markets:
    given = {"attributes": ATTRIBUTES, "available": "available", "market_size": "visitors"}
    return Markets.from_table(offers_table() if table is None else table, **{**given, **options})


def random_demand(
    seed: int, population: str = "gaussian", cohorts: int = 2, nodes: int = 5
) -> ChoiceDemand:
    """Everything at random, on a scale of its own; inside `computing`."""
    rng = np.random.default_rng(seed)

    def draw(*shape: int, scale: float = 0.6) -> jnp.ndarray:
        return jnp.asarray(scale * rng.normal(size=shape))

    mixture = GaussianMixture(
        logits=draw(cohorts, 2),
        means=draw(cohorts, 2, 2),
        raw_diagonal=draw(cohorts, 2, 2),
        below_diagonal=draw(cohorts, 2, 1),
        initial_scale=0.5,
        nodes=nodes,
    )
    utility = Utility(draw(3), draw(3, 2), jnp.asarray(0.7), draw(2))
    scales = Scales(jnp.asarray([0.0, 0.3, -0.2]), jnp.asarray([1.0, 1.7, 0.6]), jnp.asarray(1.9))
    return ChoiceDemand(POPULATIONS[population](mixture), utility, scales)


def random_fit(markets: Markets, seeds: tuple[int, ...] = (1, 2)) -> ChoiceFit:
    """A fit that was never trained: one random model per seed."""
    with computing():
        runs = tuple(
            Run(
                seed=seed,
                start="random",
                parameters=random_demand(seed, cohorts=len(markets.cohorts)),
                best_epoch=1,
                best_objective=1.0,
                train_objective=np.array([1.2, 1.1]),
                validation_objective=np.array([1.1, 1.0]),
                reason="all epochs done",
            )
            for seed in seeds
        )
    return ChoiceFit(ChoiceSettings(nodes=5), markets, markets.markets, runs)
