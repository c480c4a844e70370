"""Table dynamics-recovery: is the truth behind a known dynamic generator found again?

Both models are fitted in two forms. With history summaries as features the model
without dynamics reads the drift off the recent past; without them only what is
carried from day to day can follow it. The paper does not say which form is its own.
"""

import numpy as np
import polars as pl

from dgd.estimator import DGD
from dgd.model.bits import behavior_bits
from dgd.paper.controlled_world import DISPERSION, NODES, controlled_world
from dgd.paper.models import Scored
from dgd.paper.rows import Row, table_of
from dgd.simulation.draw import simulate
from dgd.simulation.world import World

SEEDS = (20260912, 20260913, 20260914)
TRAIN, VALIDATION, TEST = 20, 8, 12
MODELS = {"DGD": "feedback", "Without dynamics": "none"}
FORMS = {
    "controlled dynamics, no summaries": "none",
    "controlled dynamics, history summaries": "history",
}
METRICS = ("joint KL", "marginal MAE")
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
    for form, summaries in FORMS.items():
        for name, dynamics in MODELS.items():
            scored.progress(f"fitting {name} to the {form}")
            model = controlled_model(dynamics, summaries)
            scored.made_with.keep(name, form, model.as_dict())
            scores = np.array([recover(world, model, seed) for seed in SEEDS])
            for metric, found in zip(METRICS, scores.T, strict=True):
                rows.append(Row.over_seeds(name, form, metric, list(found), PAPER[name, metric]))
    return table_of(rows)


def controlled_model(dynamics: str, summaries: str) -> DGD:
    """The paper's preset with what its appendix says of this experiment."""
    return DGD.paper(
        nodes=NODES,
        dispersion=DISPERSION,
        epochs=150,
        patience=25,
        calendar="none",
        dynamics=dynamics,
        summaries=summaries,
    )


def recover(world: World, model: DGD, seed: int) -> tuple[float, float]:
    """Joint KL from the truth and marginal error on the test days, one day ahead."""
    drawn = simulate(world, TRAIN + VALIDATION + TEST, seed)
    dates = drawn.panel.dates
    fit = model.fit(
        drawn.panel,
        train_end=dates[TRAIN - 1],
        validation_end=dates[TRAIN + VALIDATION - 1],
        seeds=[seed],
        progress=False,
    )
    days = np.arange(TRAIN + VALIDATION, len(dates))
    found, true = fit.predict(days - 1, 1).patterns[0, 0], drawn.patterns[days]
    divergence = (true * np.log(true / found)).sum(-1).mean()
    marginal = np.abs((true - found) @ behavior_bits(len(world.behaviors))).mean()
    return float(divergence), float(marginal)
