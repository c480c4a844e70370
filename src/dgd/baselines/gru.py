"""GRU predictors: a gated recurrent unit in the place of DGD's population and feedback.

The full projection learns how every behaviour follows the hidden state; the
restricted one ties the first behaviour to the first hidden coordinate. Counts
have DGD's negative-binomial likelihood, and objective, training loop and
forecasts are DGD's too: summaries and sizes stay as they stood at the origin,
calendar and effort advance, and expected counts are fed back.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dgd.baselines.deepar_network import CellInputs
from dgd.baselines.gru_network import (
    PROJECTIONS,
    Days,
    GRUNetwork,
    TrainingData,
    counted,
    expected_path,
    losses,
)
from dgd.baselines.joint_history import refuse_origins
from dgd.learning.loop import Optimizer, Run, train
from dgd.learning.objective import Objective
from dgd.learning.seeds import checked_seeds, warn_of_divergence
from dgd.learning.setting_checks import refuse_below_one, refuse_unknown
from dgd.learning.starts import reference_rates, start_from_training
from dgd.model.days import Inputs, Outcomes
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.sequences import days_ahead, recorded_days
from dgd.panel.split import Split
from dgd.runtime import computing
from dgd.tables.periods import Moment


@dataclass(frozen=True, kw_only=True)
class GRU:
    """A GRU predictor, ready to be fitted.

    **Arguments:**

    - `projection`: "full" or "restricted".
    - `width`: of the hidden state. On the KuaiRand shape (5 units, 9 cohorts, 7 behaviours,
        no weekdays) width 5 gives the full projection 569 trainable parameters and the
        restricted one 564; the paper's has 565 and says no more of its shape.
    - `epochs`, `learning_rate`, `clip_norm`, `patience`: of Adam and early stopping.
    - `count_weight`, `expected_weight`, `penalty_weight`, `dispersion`: as in `dgd.DGD`.
    - `calendar`, `summary_retention`: of the covariates, as in `dgd.DGD`.
    """

    projection: str = "full"
    width: int = 5
    epochs: int = 300
    learning_rate: float = 0.025
    clip_norm: float = 10.0
    patience: int = 20
    count_weight: float = 0.05
    expected_weight: float = 0.15
    penalty_weight: float = 0.001
    dispersion: float = 50.0
    calendar: str = "auto"
    summary_retention: float = 0.85

    def __post_init__(self) -> None:
        refuse_unknown(self, {"projection": PROJECTIONS})
        refuse_below_one(self, ("width", "epochs", "patience"))

    def fit(
        self,
        panel: Panel,
        *,
        train_end: Moment,
        validation_end: Moment,
        warmup_end: Moment | None = None,
        seeds: Sequence[int] = (1, 2, 3),
        progress: Callable[[int, int, float], None] | None = None,
    ) -> "GRUFit":
        """Train every seed; validation chooses the epoch."""
        seeds = checked_seeds(seeds)
        split = Split.of(panel, train_end, validation_end, warmup_end)
        rates = reference_rates(panel, split.warmup)
        maker = FeatureMaker.fitted(panel, split, rates, self.calendar, self.summary_retention)
        cells = CellInputs.fitted(panel, split)
        objective = Objective(
            self.count_weight, self.expected_weight, self.penalty_weight, self.dispersion
        )
        optimizer = Optimizer(self.epochs, self.learning_rate, self.clip_norm, self.patience)
        with computing():
            data = _training_data(panel, split, maker, cells, self.dispersion)
            inputs = data.train[0].covariates.shape[-1] + 1 + len(panel.behaviors)
            start = start_from_training(panel, split, 1.0)
            starts = [
                (seed, GRUNetwork.starting(start, inputs, self.width, self.projection, key))
                for seed, key in ((seed, jax.random.key(seed)) for seed in seeds)
            ]
            runs = train(starts, partial(losses, objective), data, optimizer, progress)
        warn_of_divergence(runs)
        return GRUFit(self, panel, split, maker, cells, tuple(runs))


def _read(cells: CellInputs, inputs: Inputs) -> Days:
    return Days(cells.covariates(inputs), inputs.size * inputs.effort)


def _previous(
    cells: CellInputs, panel: Panel, start: int, stop: int, first: int
) -> Float[Array, "date cell count"]:
    """What was counted on the day before each day; nothing before the `first`."""
    days = np.arange(start, stop) - 1
    known = (days >= first).astype(np.float64)[:, None, None]
    return counted(
        jnp.asarray(known * panel.arrivals[days]),
        jnp.asarray(known[..., None] * panel.behavior_counts[days]),
        jnp.asarray(cells.count_scale),
    )


def _training_data(
    panel: Panel, split: Split, maker: FeatureMaker, cells: CellInputs, dispersion: float
) -> TrainingData:
    def recorded(start: int, stop: int) -> tuple[Days, Array, Outcomes]:
        inputs, outcomes = recorded_days(panel, maker, start, stop, dispersion)
        previous = _previous(cells, panel, start, stop, split.first)
        return _read(cells, inputs), previous, outcomes

    inputs, _ = recorded_days(panel, maker, split.first, split.train_stop, dispersion)
    left = inputs.between(0, -1)
    free = Inputs(inputs.calendar[1:], left.summaries, left.size, inputs.effort[1:])
    return TrainingData(
        jnp.asarray(cells.count_scale),
        recorded(split.first, split.train_stop),
        _read(cells, free),
        recorded(split.train_stop, split.validation_stop),
    )


@dataclass(frozen=True, eq=False)
class GRUFit:
    """A fitted GRU predictor: one network per seed."""

    forecaster: GRU
    panel: Panel
    split: Split
    features: FeatureMaker
    cells: CellInputs
    runs: tuple[Run, ...]

    @property
    def settings(self) -> Mapping[str, Any]:
        """All settings, and the epoch that validation chose for each seed."""
        return {**asdict(self.forecaster), "epoch": tuple(run.best_epoch for run in self.runs)}

    @property
    def count_distribution(self) -> float:
        """r of the counts' negative binomial."""
        return self.forecaster.dispersion

    @cached_property
    def hidden(self) -> tuple[Float[Array, "date cell width"], ...]:
        """Each seed's hidden state after reading every day from the first training day on."""
        first, days = self.split.first, self.panel.days
        with computing():
            inputs, _ = recorded_days(
                self.panel, self.features, first, days, self.forecaster.dispersion
            )
            previous = _previous(self.cells, self.panel, first, days, first)
            read = jnp.concatenate([self.cells.covariates(inputs), previous], -1)
            start = jnp.zeros((read.shape[1], self.forecaster.width))
            return tuple(eqx.filter_jit(run.parameters.run)(read, start) for run in self.runs)

    def predict(
        self, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> tuple[
        Float[np.ndarray, "seed step origin unit cohort"],
        Float[np.ndarray, "seed step origin unit cohort pattern"],
    ]:
        """Arrivals and joint probabilities of each seed, expected counts fed back."""
        refuse_origins(self.panel, self.split, origins, horizon)
        with computing():
            ahead = [
                _read(self.cells, day)
                for day in days_ahead(self.panel, self.features, origins, horizon)
            ]
            scale = jnp.asarray(self.cells.count_scale)
            known = counted(
                jnp.asarray(self.panel.arrivals[origins].astype(np.float64)),
                jnp.asarray(self.panel.behavior_counts[origins].astype(np.float64)),
                scale,
            )
            paths = [
                expected_path(
                    run.parameters, hidden[origins - self.split.first], known, ahead, scale
                )
                for run, hidden in zip(self.runs, self.hidden, strict=True)
            ]
            arrivals = np.array([[np.asarray(p.arrivals) for p in path] for path in paths])
            patterns = np.array([[np.asarray(p.patterns) for p in path] for path in paths])
        return arrivals, np.moveaxis(patterns, 2, -1)
