"""Table dynamics-recovery: is the truth behind a known dynamic generator found again?"""

import numpy as np
import polars as pl

from dgd.estimator import DGD
from dgd.model.patterns import behavior_bits
from dgd.paper.controlled_world import DISPERSION, NODES, controlled_world
from dgd.paper.models import ROW, Scored
from dgd.simulation.draw import simulate
from dgd.simulation.world import World

SEEDS = (20260912, 20260913, 20260914)
TRAIN, VALIDATION, TEST = 20, 8, 12
MODELS = {"DGD": "feedback", "Without dynamics": "none"}
PAPER = {
    ("DGD", "joint KL"): 0.0340,
    ("DGD", "marginal MAE"): 0.0519,
    ("Without dynamics", "joint KL"): 0.2577,
    ("Without dynamics", "marginal MAE"): 0.1661,
}


def dynamics_recovery(scored: Scored) -> pl.DataFrame:
    """Each seed draws its own counts and starts its own fit; scores are against the truth."""
    world = controlled_world()
    rows = []
    for model, dynamics in MODELS.items():
        scored.progress(f"fitting {model} to the controlled world")
        scores = np.array([recover(world, dynamics, seed) for seed in SEEDS])
        for index, metric in enumerate(("joint KL", "marginal MAE")):
            found = scores[:, index]
            figures = (float(found.mean()), float(found.std(ddof=1)), PAPER[model, metric])
            rows.append((model, "controlled dynamics", metric, *figures))
    return pl.DataFrame(rows, schema=ROW, orient="row")


def recover(world: World, dynamics: str, seed: int) -> tuple[float, float]:
    """Joint KL from the truth and marginal error on the test days, one day ahead."""
    drawn = simulate(world, TRAIN + VALIDATION + TEST, seed)
    dates = drawn.panel.dates
    model = DGD.paper(
        nodes=NODES,
        dispersion=DISPERSION,
        epochs=150,
        patience=25,
        calendar="none",
        dynamics=dynamics,
    )
    fit = model.fit(
        drawn.panel,
        train_end=dates[TRAIN - 1],
        validation_end=dates[TRAIN + VALIDATION - 1],
        seeds=[seed],
    )
    days = np.arange(TRAIN + VALIDATION, len(dates))
    found, true = fit.predict(days - 1, 1).patterns[0, 0], drawn.patterns[days]
    divergence = (true * np.log(true / found)).sum(-1).mean()
    marginal = np.abs((true - found) @ behavior_bits(len(world.behaviors))).mean()
    return float(divergence), float(marginal)
