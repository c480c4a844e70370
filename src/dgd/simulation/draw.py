"""Worlds with known truth.

`simulate` draws a panel from given parameters day by day: negative-binomial
arrivals, multinomial patterns, recorded feedback. Beside the counts it
returns what no real data can: the joint probabilities and states behind them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Float
from scipy.special import logit

from dgd.errors import InputError
from dgd.model.days import Inputs, Outcomes, Prediction
from dgd.model.feedback import Feedback, Reference, State
from dgd.model.model import Model
from dgd.model.observation import Arrival, Behavior
from dgd.model.patterns import behavior_bits
from dgd.model.population import GaussianMixture, raw_scale
from dgd.panel.features import calendar_marks
from dgd.panel.grids import Columns
from dgd.panel.panel import Panel
from dgd.runtime import computing
from dgd.tables.frames import from_polars
from dgd.tables.labels import Label
from dgd.tables.periods import period_named

WEEKDAYS = 6


@dataclass(frozen=True, eq=False)
class World:
    """Parameters to draw from, with the names and inputs of the panel they make.

    The model's features are the six weekday indicators, Tuesday to Sunday, as 0 or 1.
    """

    model: Model
    units: tuple[Label, ...]
    cohorts: tuple[Label, ...]
    behaviors: tuple[str, ...]
    sizes: Float[np.ndarray, "unit cohort"]
    dispersion: float = 50.0
    start: str = "2022-01-03"
    campaign: float = 1.0
    """Effort in every fourth week; 1 in the others."""

    def effort(self, days: int) -> Float[np.ndarray, "date unit cohort"]:
        """The effort planned for the first `days` days, the same everywhere."""
        week = np.arange(days) // 7
        of_day = np.where(week % 4 == 3, self.campaign, 1.0)
        return np.broadcast_to(of_day[:, None, None], (days, *self.sizes.shape)).copy()


@dataclass(frozen=True, eq=False)
class Simulated:
    """A panel and the truth behind it."""

    world: World
    panel: Panel
    arrivals: Float[np.ndarray, "date unit cohort"]
    """Expected arrivals of every day, given what was recorded before it."""
    patterns: Float[np.ndarray, "date unit cohort pattern"]
    """True joint probabilities q(y)."""
    states: State
    """The true state at the beginning of every day."""

    def truth_to_frame(self, kind: str = "polars") -> Any:
        """One row per date, unit, cohort and pattern: true probability and expected arrivals."""
        panel = self.panel
        day, unit, cohort, pattern = (i.ravel() for i in np.indices(self.patterns.shape))
        bits = behavior_bits(len(panel.behaviors)).astype(np.int64)
        table = pl.DataFrame(
            [
                panel.period.series(panel.columns.date, panel.dates[day]),
                pl.Series(panel.columns.unit, [panel.units[i] for i in unit]),
                pl.Series(panel.columns.cohort, [panel.cohorts[i] for i in cohort]),
                *(pl.Series(b, bits[pattern, h]) for h, b in enumerate(panel.behaviors)),
                pl.Series("probability", self.patterns.ravel()),
                pl.Series("arrivals", self.arrivals[day, unit, cohort]),
            ]
        )
        return from_polars(table, kind)

    def sizes_to_frame(self, kind: str = "polars") -> Any:
        """The size table that `Panel.from_counts` reads."""
        unit, cohort = (i.ravel() for i in np.indices(self.world.sizes.shape))
        table = pl.DataFrame(
            {
                "unit": [self.panel.units[i] for i in unit],
                "cohort": [self.panel.cohorts[i] for i in cohort],
                "size": self.world.sizes.ravel(),
            }
        )
        return from_polars(table, kind)


def simulate(
    world: World,
    days: int,
    seed: int,
    effort: Float[np.ndarray, "date unit cohort"] | None = None,
) -> Simulated:
    """Draw `days` days from `world`; the same seed draws the same counts.

    `effort` takes the place of the world's own plan.
    """
    if days < 1:
        raise InputError(f"days is {days}; draw at least one.")
    period = period_named("day")
    dates = period.range(period.parse(world.start, "start"), days)
    shape = (days, len(world.units), len(world.cohorts))
    efforts = world.effort(days) if effort is None else np.broadcast_to(effort, shape).copy()
    marks = np.broadcast_to(calendar_marks(dates, "weekday")[:, None, None], (*shape, WEEKDAYS))
    with computing():
        rng = np.random.default_rng(seed)
        inputs = Inputs(
            jnp.asarray(marks),
            jnp.zeros((*shape, 0)),
            jnp.asarray(np.broadcast_to(world.sizes[None], shape)),
            jnp.asarray(efforts),
        )
        state = world.model.initial_state()
        counts, predictions, states = [], [], []
        for t in range(days):
            today = inputs.between(t, t + 1)
            prediction = _predict(world.model, state, today)
            drawn = _draw(prediction, world.dispersion, rng)
            states.append(state)
            predictions.append(prediction)
            counts.append(drawn)
            state = _advance(world.model, state, today, prediction, drawn)
        expected = np.concatenate([np.asarray(p.arrivals) for p in predictions])
        patterns = np.concatenate([np.asarray(p.patterns) for p in predictions], axis=1)
        path: State = jax.tree.map(lambda *days: jnp.concatenate(days), *states)
    panel = Panel(
        patterns=np.stack(counts),
        size=np.broadcast_to(world.sizes[None], shape).copy(),
        effort=efforts,
        features=np.zeros((*shape, 0)),
        known_dates=dates,
        units=world.units,
        cohorts=world.cohorts,
        behaviors=world.behaviors,
        feature_names=(),
        period=period,
        sized=True,
        has_effort=bool((efforts != 1.0).any()),
        columns=Columns("date", "unit", "cohort", "count"),
        kind="polars",
    )
    return Simulated(world, panel, expected, np.moveaxis(patterns, 0, -1), path)


@eqx.filter_jit
def _predict(model: Model, state: State, inputs: Inputs) -> Prediction:
    return model.predict(state, inputs)


@eqx.filter_jit
def _record(
    model: Model, state: State, inputs: Inputs, prediction: Prediction, outcomes: Outcomes
) -> State:
    return model.advance(state, inputs, prediction, outcomes.arrivals, outcomes.behaviors)


def _advance(
    model: Model, state: State, inputs: Inputs, prediction: Prediction, drawn: np.ndarray
) -> State:
    patterns = np.moveaxis(drawn[None], -1, 0).astype(np.float64)
    return _record(model, state, inputs, prediction, Outcomes.recorded(patterns, 1.0))


def _draw(prediction: Prediction, dispersion: float, rng: np.random.Generator) -> np.ndarray:
    """Negative-binomial arrivals of mean N and dispersion r, split by a multinomial."""
    expected = np.asarray(prediction.arrivals)[0]
    arrivals = rng.poisson(rng.gamma(dispersion, expected / dispersion))
    q = np.moveaxis(np.asarray(prediction.patterns)[:, 0], 0, -1)
    return rng.multinomial(arrivals, q / q.sum(-1, keepdims=True))


def example_world(
    *,
    units: Sequence[Label] = ("north", "south"),
    cohorts: Sequence[Label] = ("casual", "regular", "devoted"),
    behaviors: Sequence[str] = ("click", "like", "share"),
    arrivals: float = 40.0,
    seed: int = 7,
    feedback: bool = True,
) -> World:
    """A crowd of two response types per cohort whose behaviour feeds back on itself.

    **Arguments:**

    - `arrivals`: about how many arrivals a unit and cohort see on a day.
    - `seed`: draws the details; the structure is always the same.
    - `feedback`: without it nothing is carried from day to day.
    """
    if not arrivals > 0:
        raise InputError(f"arrivals is {arrivals}; it must be positive.")
    rng = np.random.default_rng(seed)
    n_units, n_cohorts, n_behaviors = len(units), len(cohorts), len(behaviors)
    strength = 1.0 if feedback else 0.0
    sizes = np.round(rng.uniform(60, 140, (n_units, n_cohorts)))
    base = np.array([0.55, 0.3, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.04, 0.03, 0.03, 0.02])
    rates = np.clip(
        base[None, :n_behaviors] * rng.uniform(0.6, 1.5, (n_cohorts, n_behaviors)), 0.02, 0.9
    )
    weekday = np.array([0.0, 0.05, 0.1, 0.25, 0.45, 0.3])
    with computing():
        population = GaussianMixture(
            logits=jnp.asarray(rng.normal(0.0, 0.4, (n_cohorts, 2))),
            means=jnp.asarray(
                np.array([-0.9, 0.9])[None, :, None] + rng.normal(0, 0.2, (n_cohorts, 2, 1))
            ),
            raw_diagonal=jnp.full((n_cohorts, 2, 1), raw_scale(0.5)),
            below_diagonal=jnp.zeros((n_cohorts, 2, 0)),
            initial_scale=0.5,
            nodes=15,
        )
        arrival = Arrival(
            intercept=jnp.asarray(rng.normal(0.0, 0.15, (n_units, n_cohorts))),
            feature_effect=jnp.asarray(weekday),
            loading=jnp.asarray([0.3]),
        )
        pairs = n_behaviors * (n_behaviors - 1) // 2
        behavior = Behavior(
            unit_intercept=jnp.asarray(rng.normal(0.0, 0.15, (n_units, n_behaviors))),
            cohort_intercept=jnp.asarray(logit(rates)),
            feature_effect=jnp.zeros((WEEKDAYS, n_behaviors)),
            memory_effect=jnp.asarray(strength * 1.5 * np.eye(n_behaviors)),
            fatigue_effect=jnp.full(n_behaviors, -1.0 * strength),
            environment_effect=jnp.zeros(n_behaviors),
            free_loading=jnp.asarray(rng.uniform(0.4, 0.9, (n_behaviors - 1, 1))),
            dependence_entries=jnp.asarray(rng.uniform(0.2, 1.0, pairs)),
        )
        moves = Feedback(
            raw_memory_retention=jnp.asarray(logit(0.9)),
            raw_fatigue_retention=jnp.asarray(logit(0.85)),
            raw_shift_retention=jnp.asarray(logit(0.7)),
            raw_environment_retention=jnp.asarray(logit(0.8)),
            raw_common_gain=jnp.asarray(logit(0.3)),
            raw_unit_gain=jnp.asarray(logit(0.3)),
            rate_response=jnp.asarray(strength * rng.uniform(0.4, 0.8, (n_behaviors, 1))),
            fatigue_response=jnp.asarray([0.8 * strength]),
        )
        reference = Reference(
            log_baseline=jnp.asarray(np.log(arrivals / sizes)),
            rates=jnp.asarray(rates),
            size=jnp.asarray(sizes.max(0)),
        )
        model = Model(population, arrival, behavior, moves, reference)
    return World(
        model,
        tuple(units),
        tuple(cohorts),
        tuple(behaviors),
        sizes,
        campaign=2.5 if feedback else 1.0,
    )
