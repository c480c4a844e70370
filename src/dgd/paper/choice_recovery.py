"""Table choice-recovery: are choices predicted under attributes and prices never seen?"""

import numpy as np
import polars as pl

from dgd.choice import (
    ChoiceModel,
    ChoiceWorld,
    Demand,
    discrete_world,
    gaussian_world,
    simulate_markets,
)
from dgd.paper.models import ROW, Scored

SEEDS = (20260912, 20260913, 20260914)
TRAIN, VALIDATION, TEST = 20, 8, 40
MODELS = {
    "Learned Gaussian": "gaussian",
    "Fixed Gaussian": "fixed",
    "Point representation": "point",
}
WORLDS = {"Gaussian generator": gaussian_world, "discrete generator": discrete_world}
PAPER = {
    ("Learned Gaussian", "Gaussian generator"): 0.001207,
    ("Learned Gaussian", "discrete generator"): 0.002542,
    ("Fixed Gaussian", "Gaussian generator"): 0.001994,
    ("Fixed Gaussian", "discrete generator"): 0.020016,
    ("Point representation", "Gaussian generator"): 0.059223,
    ("Point representation", "discrete generator"): 0.063599,
}


def choice_recovery(scored: Scored) -> pl.DataFrame:
    """Each seed draws its own markets and starts its own fit; scores are against the truth."""
    rows = []
    for generator, world in WORLDS.items():
        for model, population in MODELS.items():
            scored.progress(f"fitting {model} to the {generator}")
            found = np.array([recover(world(), population, seed) for seed in SEEDS])
            figures = (float(found.mean()), float(found.std(ddof=1)), PAPER[model, generator])
            rows.append((model, generator, "choice KL", *figures))
    return pl.DataFrame(rows, schema=ROW, orient="row")


def recover(world: ChoiceWorld, population: str, seed: int) -> float:
    r"""Mean over the test markets of the divergence of prediction from truth.

    .. math:: KL = \sum_{b \in A \cup \{0\}} s_b \log(s_b / \hat s_b)
    """
    drawn = simulate_markets(world, TRAIN + VALIDATION + TEST, seed)
    labels = drawn.markets.markets
    fit = ChoiceModel(population=population).fit(
        drawn.markets.select(labels[: TRAIN + VALIDATION]),
        validation=labels[TRAIN : TRAIN + VALIDATION],
        seeds=[seed],
    )
    test = drawn.markets.select(labels[-TEST:])
    found = Demand(fit.parameters, test).shares
    true = np.c_[drawn.products[-TEST:], drawn.outside[-TEST:]]
    predicted = np.c_[found.products, found.outside]
    return float((true * np.log(true / predicted)).sum(1).mean())
