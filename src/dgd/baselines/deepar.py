r"""DeepAR-joint: a shared LSTM with negative-binomial counts and a joint-mark head.

The recurrent state holds preceding observations only. One day ahead the
forecast is the network's own output. Further ahead, S sampled count histories
are fed back; with m_i and q_i the network's mean and probabilities at the end
of history i,

.. math:: \hat N = \frac1S \sum_i m_i, \qquad
    \hat q(y) = \frac{\sum_i m_i q_i(y)}{\sum_i m_i}

History summaries, reference size and effort stay as they stand on the first
day ahead; calendar and the user's own features advance. Where effort is zero
nothing arrives.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dgd.baselines.cell_inputs import CellInputs
from dgd.baselines.deepar_histories import (
    StepAhead,
    history_patterns,
    mixed_patterns,
    sampled_histories,
)
from dgd.baselines.deepar_network import (
    ANY_DISPERSION,
    DeepARNetwork,
    DeepARObjective,
    LSTMState,
    training_days,
)
from dgd.baselines.deepar_settings import LARGEST_WIDTH, STARTS, DeepARSettings
from dgd.baselines.marks import blank_marks
from dgd.files import declared
from dgd.files.tensors import Tensors
from dgd.forecasting.predictive import Drawn, Predictive
from dgd.forecasting.protocol import refuse_origins
from dgd.forecasting.trained_forecaster import TrainedForecaster, forecaster_data
from dgd.learning.loop import Attempt, Optimizer, Progress
from dgd.learning.preparing import prepared
from dgd.learning.progress import refuse_progress, telling
from dgd.learning.runs import Run
from dgd.learning.seeds import (
    best_of_each,
    best_runs,
    checked_seeds,
    is_trained,
    warn_of_divergence,
)
from dgd.learning.trained import checked_facts
from dgd.model import multinomial
from dgd.panel.panel import Panel
from dgd.panel.sequences import days_ahead, recorded_days
from dgd.runtime import computing
from dgd.tables.periods import Moment


class Tried(NamedTuple):
    """One width tried for one seed, and how well it validated."""

    seed: int
    width: int
    epoch: int
    objective: float


class DeepAR(DeepARSettings):
    """DeepAR-joint, ready to be fitted; `DeepAR.paper()` is the paper's own.

    The arguments are those of `DeepARSettings`.
    """

    @classmethod
    def paper(cls, **changes: Any) -> "DeepAR":
        """The paper's preset, with any setting changed by name.

        Its start is the plainest reading of the paper's text. Another reading, with smaller
        heads and open forget gates, validated better on some seeds and was not kept; test
        scores of both had been seen by then, so take this row as a reading, not a choice.
        """
        return cls(**{"start": "rates", "calendar": "weekday", **changes})

    def fit(
        self,
        panel: Panel,
        *,
        train_end: Moment,
        validation_end: Moment,
        warmup_end: Moment | None = None,
        seeds: Sequence[int] = (1, 2, 3),
        progress: Progress | bool | None = None,
    ) -> "DeepARFit":
        """Train every width for every seed and keep each seed's best on the validation days."""
        seeds = checked_seeds(seeds)
        refuse_progress(progress)
        panel, split, maker = prepared(panel, self, train_end, validation_end, warmup_end)
        cells = CellInputs.fitted(panel, split)
        objective = DeepARObjective(
            count_weight=self.count_weight, penalty_weight=self.penalty_weight
        )
        optimizer = Optimizer.of(self)
        made: list[Run] = []
        tried: list[Tried] = []
        with computing():
            days = training_days(panel, split, maker, cells)
            start = partial(STARTS[self.start], panel, split, days[0].inputs.shape[-1])
            with telling(progress, seeds, self.epochs) as tell:
                for width in self.widths:
                    attempts = []
                    for seed in seeds:
                        first = start(width, jax.random.key(seed))
                        given = (first, is_trained(first), *days)
                        attempts.append(Attempt.of(seed, self.start, *given))
                    runs = best_runs(attempts, objective, optimizer, tell, False)
                    tried += [Tried(r.seed, width, r.best_epoch, r.best_objective) for r in runs]
                    made += runs
        best = best_of_each(made)
        warn_of_divergence(best)
        return DeepARFit(panel, split, maker, best, self, cells, tuple(tried))


class Ahead(NamedTuple):
    """What is known of the days after many origins."""

    inputs: Float[Array, "origin step cell input"]
    possible: Bool[np.ndarray, "origin cell"]
    """Whether anything could arrive."""


@dataclass(frozen=True, eq=False, repr=False)
class DeepARFit(TrainedForecaster):
    """A fitted DeepAR-joint: the selected network of every seed."""

    forecaster: DeepAR
    cells: CellInputs
    tried: tuple[Tried, ...]
    """Every width that was tried for every seed."""
    _predicted: dict[tuple[tuple[int, ...], int], Predictive] = field(default_factory=dict)
    """The last forecast asked for: sampled histories are worth keeping."""

    holds: ClassVar[str] = "DeepAR fit"

    @property
    def widths(self) -> tuple[int, ...]:
        """The width chosen for each seed."""
        return tuple(network.cell.hidden_size for network in self.parameters)

    @property
    def settings(self) -> Mapping[str, Any]:
        """All settings, and the width and epoch that validation chose for each seed."""
        epochs = tuple(run.best_epoch for run in self.runs)
        return {**asdict(self.forecaster), "width": self.widths, "epoch": epochs}

    @cached_property
    def states(self) -> tuple[LSTMState, ...]:
        """Each seed's state after reading every day from the first training day on."""
        with computing():
            recorded = recorded_days(
                self.panel, self.features, self.split.first, self.panel.days, ANY_DISPERSION
            )
            days = self.cells.days(*recorded, np.zeros(self.panel.arrivals.shape[1:]))
            count = len(self.cells.count_scale)
            return tuple(
                eqx.filter_jit(network.run)(days, network.at_rest(count))
                for network in self.parameters
            )

    def predict(self, origins: Int[np.ndarray, " origin"], horizon: int) -> Predictive:
        """Arrivals and joint probabilities of each seed, for every step after each origin.

        The dispersion is 1/alpha one day ahead; further ahead, that of the negative binomial
        which has mean and variance of the mixture over sampled histories. What is drawn
        depends on the seed and the origin only: neither other origins nor a longer horizon
        change a forecast.
        """
        refuse_origins(self.panel, origins, horizon, self.split.first)
        asked = (tuple(origins.tolist()), horizon)
        if asked not in self._predicted:
            self._predicted.clear()
            self._predicted[asked] = self._forecast(origins, horizon)
        return self._predicted[asked]

    def _forecast(self, origins: Int[np.ndarray, " origin"], horizon: int) -> Predictive:
        panel = self.panel
        steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        with computing():
            ahead = self._ahead(origins, horizon)
            for number, run in enumerate(self.runs):
                for index, origin in enumerate(origins.tolist()):
                    random = np.random.default_rng((run.seed % 2**64, origin))
                    steps += self._expected(number, origin, ahead, index, random)
        grid = (len(self.runs), len(origins), horizon, len(panel.units), len(panel.cohorts))
        arrivals, patterns, dispersion = (
            np.swapaxes(np.stack(part).reshape(*grid, *part[0].shape[1:]), 1, 2)
            for part in zip(*steps, strict=True)
        )
        return Predictive(arrivals, patterns, dispersion, partial(self._sample, origins, horizon))

    def _ahead(self, origins: Int[np.ndarray, " origin"], horizon: int) -> Ahead:
        days = days_ahead(self.panel, self.features, origins, horizon)
        frozen = [eqx.tree_at(lambda x: x.effort, day, days[0].effort) for day in days]
        inputs = jnp.stack([self.cells.identified(day) for day in frozen], 1)
        return Ahead(inputs, np.asarray(days[0].people > 0).reshape(len(origins), -1))

    def _expected(
        self, number: int, origin: int, ahead: Ahead, index: int, random: np.random.Generator
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Arrivals, patterns and dispersion of all cells, step by step ahead of one origin.

        There is one history on the first day, the recorded one, and then as many as asked.
        """
        possible = ahead.possible[index]
        network = self.parameters[number]
        for day, _ in self._histories(
            number, origin, ahead, index, random, self.forecaster.histories
        ):
            mean, spread = np.asarray(day.mean), np.asarray(day.spread)
            arrivals = mean.mean(0)
            overdispersion = ((1.0 + spread) * mean**2).mean(0) - arrivals**2
            expected = np.where(possible, arrivals, 0.0)
            patterns = np.asarray(mixed_patterns(network, day)).T
            yield expected, patterns, arrivals**2 / overdispersion

    def _sample(
        self,
        origins: Int[np.ndarray, " origin"],
        horizon: int,
        rng: np.random.Generator,
        paths: int,
    ) -> Drawn:
        """The sampled histories themselves, with patterns drawn along each of them."""
        cells = self.panel.counts.shape[1:]
        drawn = np.zeros((paths, horizon, len(origins), *cells), np.int64)
        with computing():
            ahead = self._ahead(origins, horizon)
            for number, network in enumerate(self.parameters[:paths]):
                own = np.arange(number, paths, len(self.runs))
                for index, origin in enumerate(origins.tolist()):
                    walk = self._histories(number, origin, ahead, index, rng, len(own))
                    for step, (day, counts) in enumerate(walk):
                        q = np.asarray(history_patterns(network, day))
                        q = np.broadcast_to(q, (*counts.shape, q.shape[-1]))
                        shown = multinomial.draw(rng, counts, q)
                        drawn[own, step, index] = shown.reshape(len(own), *cells)
        return drawn

    def _histories(
        self,
        number: int,
        origin: int,
        ahead: Ahead,
        index: int,
        random: np.random.Generator,
        histories: int,
    ) -> Iterator[tuple[StepAhead, Int[np.ndarray, "history cell"]]]:
        """The days ahead of an origin, as `sampled_histories` of a seed's network."""
        known = jax.tree.map(lambda x: x[origin - self.split.first][None], self.states[number])
        return sampled_histories(
            self.parameters[number],
            known,
            self.panel.arrivals[origin].reshape(1, -1),
            ahead.inputs[index],
            ahead.possible[index],
            jnp.asarray(self.cells.count_scale),
            random,
            histories,
        )

    def stored(self) -> tuple[dict[str, Any], Tensors]:
        facts, tensors = super().stored()
        own = {
            "forecaster": asdict(self.forecaster),
            "tried": self.tried,
            "widths": self.widths,
        }
        return {**own, **facts}, {**tensors, **self.cells.stored()}

    @classmethod
    def restored(cls, facts: dict[str, Any], tensors: Tensors) -> "DeepARFit":
        panel, split, maker = forecaster_data(facts, tensors)
        cells = CellInputs.restored(tensors, panel)
        marks = blank_marks(len(panel.behaviors))
        told = len(maker.names(panel)) + len(cells.logarithms.center)
        inputs = told + len(cells.count_scale)
        forecaster = DeepAR(**declared.part(facts, "forecaster"))
        found, widths = checked_facts(facts["runs"]), facts["widths"]
        with computing():
            runs = tuple(
                Run.restored(
                    fact,
                    tensors,
                    DeepARNetwork.random(
                        inputs,
                        declared.whole({"width": width}, "width", 1, LARGEST_WIDTH),
                        marks,
                        jax.random.key(0),
                    ),
                )
                for fact, width in zip(found, widths, strict=True)
            )
        tried = tuple(Tried(*one) for one in facts["tried"])
        return cls(panel, split, maker, runs, forecaster, cells, tried)
