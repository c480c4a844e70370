"""GRU predictors: a gated recurrent unit in the place of DGD's population and feedback.

The full projection learns how every behaviour follows the hidden state; the
restricted one ties the first behaviour to the first hidden coordinate. Counts
have DGD's negative-binomial likelihood, and objective, training loop and
forecasts are DGD's too: summaries and sizes stay as they stood at the origin,
calendar and effort advance, and expected counts are fed back.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dgd.baselines.cell_inputs import CellInputs
from dgd.baselines.gru_network import (
    PROJECTIONS,
    Carried,
    GRUNetwork,
    KnownDays,
    RecordedDays,
    counted,
    losses,
)
from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.forecasting.trained_forecaster import forecaster_data
from dgd.forecasting.walking_forecaster import WalkingForecaster
from dgd.learning.loop import Attempt, Optimizer, Progress
from dgd.learning.objective import Objective
from dgd.learning.preparing import prepared
from dgd.learning.progress import refuse_progress
from dgd.learning.seeds import best_runs, checked_seeds, is_trained, warn_of_divergence
from dgd.learning.setting_checks import (
    LARGEST,
    MOST_RETENTION,
    TRAINING_LIMITS,
    ByName,
    Limits,
    check_settings,
)
from dgd.learning.starts import Start, start_from_training
from dgd.learning.trained import restored_runs
from dgd.model.days import Inputs
from dgd.model.shape import Shape
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.sequences import days_ahead, recorded_days
from dgd.panel.split import Split
from dgd.runtime import computing
from dgd.tables.periods import Moment

_LIMITS: Limits = {
    **TRAINING_LIMITS,
    "width": (1, 1024),
    "count_weight": (0, LARGEST),
    "expected_weight": (0, LARGEST),
    "dispersion": (1e-6, LARGEST),
    "summary_retention": (0, MOST_RETENTION),
}


@dataclass(frozen=True, kw_only=True)
class GRU(ByName):
    """A GRU predictor, ready to be fitted.

    Args:
        projection: "full" or "restricted".
        width: of the hidden state. On the KuaiRand shape (5 units, 9 cohorts, 7 behaviours,
            no weekdays) width 5 gives the full projection 569 trainable parameters and the
            restricted one 564. The paper's has 565 and gives neither width nor inputs nor
            heads, so that 565 could only be met by an arbitrary change.
        epochs, learning_rate, clip_norm, patience: of Adam and early stopping.
        count_weight, expected_weight, penalty_weight, dispersion: as in `dgd.DGD`.
        calendar, summary_retention: of the covariates, as in `dgd.DGD`.
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
    summaries: ClassVar[str] = "history"
    """The recurrent opponents always read the history summaries."""

    def __post_init__(self) -> None:
        check_settings(self, _LIMITS, {"projection": PROJECTIONS})

    def fit(
        self,
        panel: Panel,
        *,
        train_end: Moment,
        validation_end: Moment,
        warmup_end: Moment | None = None,
        seeds: Sequence[int] = (1, 2, 3),
        progress: Progress | bool | None = None,
    ) -> "GRUFit":
        """Train every seed; validation chooses the epoch."""
        seeds = checked_seeds(seeds)
        refuse_progress(progress)
        panel, split, maker = prepared(panel, self, train_end, validation_end, warmup_end)
        cells = CellInputs.fitted(panel, split)
        objective = Objective(
            count_weight=self.count_weight,
            expected_weight=self.expected_weight,
            penalty_weight=self.penalty_weight,
            dispersion=self.dispersion,
            behavior_penalty=1.0,
            calendar_penalty=1.0,
        )
        optimizer = Optimizer.of(self)
        with computing():
            days = training_days(panel, split, maker, cells, self.dispersion)
            start = start_from_training(panel, split)
            attempts = []
            for seed in seeds:
                first = self.network(start, days[0][0].read.shape[-1], seed)
                attempts.append(Attempt.of(seed, "training", first, is_trained(first), *days))
            runs = best_runs(attempts, partial(losses, objective), optimizer, progress, False)
        warn_of_divergence(runs)
        return GRUFit(panel, split, maker, runs, self, cells)

    def network(self, start: Start, inputs: int, seed: int) -> GRUNetwork:
        """The network before training."""
        return GRUNetwork.starting(start, inputs, self.width, self.projection, jax.random.key(seed))


def _known(cells: CellInputs, inputs: Inputs) -> KnownDays:
    return KnownDays(cells.covariates(inputs), inputs.people, jnp.asarray(cells.count_scale))


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


def training_days(
    panel: Panel, split: Split, maker: FeatureMaker, cells: CellInputs, dispersion: float
) -> tuple[tuple[RecordedDays, KnownDays], RecordedDays]:
    """The training days, those after the first as known a day before, the validation days."""

    def recorded(start: int, stop: int) -> RecordedDays:
        inputs, outcomes = recorded_days(panel, maker, start, stop, dispersion)
        previous = _previous(cells, panel, start, stop, split.first)
        return RecordedDays(_known(cells, inputs), previous, outcomes)

    inputs, _ = recorded_days(panel, maker, split.first, split.train_stop, dispersion)
    left = inputs.between(0, -1)
    free = Inputs(inputs.calendar[1:], left.summaries, left.size, inputs.effort[1:])
    training = recorded(split.first, split.train_stop)
    return (training, _known(cells, free)), recorded(split.train_stop, split.validation_stop)


@dataclass(frozen=True, eq=False, repr=False)
class GRUFit(WalkingForecaster):
    """A fitted GRU predictor: one network per seed."""

    forecaster: GRU
    cells: CellInputs

    holds: ClassVar[str] = "GRU fit"

    @property
    def settings(self) -> Mapping[str, Any]:
        """All settings, and the epoch that validation chose for each seed."""
        return {**asdict(self.forecaster), "epoch": tuple(run.best_epoch for run in self.runs)}

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
            return tuple(
                eqx.filter_jit(network.run)(read, network.at_rest(read.shape[1]))
                for network in self.parameters
            )

    @property
    def dispersion(self) -> float:
        return self.forecaster.dispersion

    def ahead(
        self, panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int
    ) -> list[KnownDays]:
        days = days_ahead(panel, self.features, origins, horizon)
        return [_known(self.cells, day) for day in days]

    def carried(self, number: int, origins: Int[np.ndarray, " origin"]) -> Carried:
        """The hidden state that has read the origin's day, and what the origin counted."""
        known = counted(
            jnp.asarray(self.panel.arrivals[origins].astype(np.float64)),
            jnp.asarray(self.panel.behavior_counts[origins].astype(np.float64)),
            jnp.asarray(self.cells.count_scale),
        )
        return self.hidden[number][jnp.asarray(origins - self.split.first)], known

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        facts, tensors = super().stored()
        return {"forecaster": asdict(self.forecaster), **facts}, {**tensors, **self.cells.stored()}

    @classmethod
    def restored(cls, facts: dict[str, Any], tensors: Tensors) -> "GRUFit":
        panel, split, maker = forecaster_data(facts, tensors)
        forecaster = GRU(**declared.part(facts, "forecaster"))
        cells = CellInputs.restored(tensors, panel)
        features = len(maker.names(panel))
        units, cohorts, behaviors = len(panel.units), len(panel.cohorts), len(panel.behaviors)
        shape = Shape(units, cohorts, behaviors, features, 1, 1, 1, 0)
        with computing():
            inputs = features + len(cells.logarithms.center) + 1 + behaviors
            template = forecaster.network(Start.blank(shape), inputs, seed=0)
            runs = restored_runs(facts["runs"], tensors, template)
        return cls(panel, split, maker, runs, forecaster, cells)
