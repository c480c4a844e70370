"""How should what the parameters do not know enter a forecast? Measured coverage and cost.

    python benchmarks/parameters.py --worlds 8 --json FILE

Worlds with parameters of their own are drawn and fitted, and the days after each fit are drawn
with parameters from

- one seed: the trained parameters alone;
- seeds: those of three training seeds in turn, an ensemble;
- Laplace: 32 draws around them (`fit.parameter_draws`);
- pathfinder: 32 draws of blackjax's pathfinder, where it is installed, on the same likelihood;
- day blocks: eight fits to training weeks drawn with replacement.

Intervals are the central ones of the paths, not calibrated, of arrivals and behaviours of all
cells together; paths scatter as days did around past forecasts. Seconds are what the parameters
cost beyond one seed's fit.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from dgd.estimator import DGD
from dgd.fit import Fit
from dgd.forecasting.asked import counted_series
from dgd.forecasting.calibration import shown_interval
from dgd.learning.laplace import expectations
from dgd.learning.objective import Objective
from dgd.model import multinomial, negative_binomial
from dgd.model.crowd import Crowd
from dgd.model.days import Outcomes, Prediction
from dgd.panel.panel import Panel
from dgd.panel.sequences import recorded_days
from dgd.runtime import computing
from dgd.simulation.draw import simulate
from dgd.simulation.example import example_world

TRAIN, VALIDATION, TEST = 70, 14, 21
HORIZONS = (1, 7)
LEVELS = (80, 95)
DRAWS, REFITS, PATHS, EPOCHS, WEEK = 32, 8, 240, 200, 7


@dataclass(frozen=True, kw_only=True)
class Weighed(Objective):
    """The objective with training days counted as often as they were drawn."""

    weights: tuple[float, ...]
    """Of every day before the test days; one for validation days, which are not drawn."""

    def daily(
        self,
        prediction: Prediction,
        outcomes: Outcomes,
        log_likelihood: Float[Array, "date unit cohort"],
    ) -> Float[Array, " date"]:
        losses = super().daily(prediction, outcomes, log_likelihood)
        return losses * jnp.asarray(self.weights[-len(losses) :])


class Reweighed(DGD):
    """The model trained on weeks drawn with replacement."""

    weights: tuple[float, ...] = ()

    @property
    def objective(self) -> Objective:
        return Weighed(**vars(super().objective), weights=self.weights)


def day_blocks(fit: Fit, panel: Panel, ends: dict[str, Any]) -> list[Crowd]:
    rng, there_are = np.random.default_rng(0), TRAIN // WEEK
    found: list[Crowd] = []
    for seed in range(REFITS):
        weeks = np.bincount(rng.integers(there_are, size=there_are), minlength=there_are)
        model = Reweighed(**fit.settings.as_dict())
        weights = [*np.repeat(weeks, WEEK).astype(float).tolist(), *[1.0] * VALIDATION]
        object.__setattr__(model, "weights", tuple(weights))
        found += model.fit(panel, **ends, seeds=[100 + seed]).crowds
    return found


def pathfinder(fit: Fit, *_: object) -> list[Crowd]:
    import blackjax

    crowd = fit.crowds[0]
    free, fixed = eqx.partition(crowd, crowd.trainable())
    center, unravel = ravel_pytree(free)
    days = (fit.split.first, fit.split.train_stop)
    inputs, outcomes = recorded_days(fit.panel, fit.features, *days, fit.settings.dispersion)
    dispersion = jnp.full_like(outcomes.arrivals, fit.settings.dispersion)

    def log_density(parameters: Array) -> Array:
        whole = eqx.combine(unravel(parameters), fixed)
        arrivals, patterns = expectations(whole, inputs, outcomes)
        counts = negative_binomial.log_kernel(outcomes.arrivals, arrivals, dispersion).sum()
        shown = multinomial.log_likelihood(patterns, outcomes.patterns).sum()
        return counts + shown - 8.0 * ((parameters - center) ** 2).sum()

    key = jax.random.key(0)
    state, _info = blackjax.vi.pathfinder.approximate(key, log_density, center, maxiter=60)
    drawn, _density = blackjax.vi.pathfinder.sample(key, state, DRAWS)
    return [eqx.combine(unravel(one), fixed) for one in drawn]


METHODS: dict[str, Callable[..., Sequence[Crowd]]] = {
    "one seed": lambda fit, *_: fit.crowds[:1],
    "seeds": lambda fit, *_: fit.crowds,
    "Laplace": lambda fit, *_: fit.parameter_draws(DRAWS),
    "day blocks": day_blocks,
}
if find_spec("blackjax") is not None:
    METHODS["pathfinder"] = pathfinder


def rows_of(number: int) -> list[dict[str, Any]]:
    panel = simulate(
        example_world(seed=2000 + number), TRAIN + VALIDATION + TEST, seed=number
    ).panel
    ends: dict[str, Any] = {
        "train_end": panel.dates[TRAIN - 1],
        "validation_end": panel.dates[TRAIN + VALIDATION - 1],
    }
    model = DGD(epochs=EPOCHS)
    begin = time.perf_counter()
    fit = model.fit(panel, **ends, seeds=[1, 2, 3])
    of_a_seed = (time.perf_counter() - begin) / 3
    rows = []
    for method, make in METHODS.items():
        begin = time.perf_counter()
        with computing():
            crowds = make(fit, panel, ends)
        seconds = 2 * of_a_seed if method == "seeds" else time.perf_counter() - begin
        rows += [
            {
                "world": number,
                "parameters": method,
                "horizon": horizon,
                "level": level,
                "coverage": coverage,
                "seconds": seconds,
            }
            for horizon, level, coverage in covered(fit, crowds)
        ]
    return rows


def covered(fit: Fit, crowds: Sequence[Crowd]) -> list[tuple[int, int, float]]:
    """Horizon, level and coverage of uncalibrated intervals on the days after the fit."""
    panel, last = fit.panel, max(HORIZONS)
    held: dict[tuple[int, int], list[float]] = {}
    for origin in range(fit.split.validation_stop - 1, panel.days - last, 2):
        with computing():
            future = fit.ahead(panel, np.array([origin]), last)
        drawn = fit.draw_futures([future], origin, panel, PATHS, origin, crowds)[0]
        totals = counted_series(drawn).sum((2, 3)).astype(np.float64)
        happened = counted_series(panel.patterns[origin + 1 : origin + last + 1]).sum((1, 2))
        for horizon in HORIZONS:
            for level in LEVELS:
                low, high = shown_interval(totals[:, horizon - 1], level / 100)
                day = happened[horizon - 1]
                held.setdefault((horizon, level), []).append(
                    float(np.mean((low <= day) & (day <= high)))
                )
    return [(*key, float(np.mean(found))) for key, found in held.items()]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--worlds", type=int, default=8)
    asked.add_argument("--json", type=Path)
    given = asked.parse_args()
    rows: list[dict[str, Any]] = []
    for number in range(given.worlds):
        rows += rows_of(number)
        print(f"world {number} done", flush=True)
    shown = (
        pl.DataFrame(rows)
        .group_by("parameters", "horizon", "level", maintain_order=True)
        .agg((pl.col("coverage").mean() * 100).round(1), pl.col("seconds").mean().round(1))
        .pivot(["level", "horizon"], index=["parameters", "seconds"], values="coverage")
    )
    with pl.Config(tbl_rows=100, tbl_cols=20, tbl_width_chars=140, tbl_hide_dataframe_shape=True):
        print(shown)
    if given.json is not None:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
