"""Panels drawn from a world, with the truth behind them.

`simulate` draws day by day: negative-binomial arrivals, multinomial patterns,
recorded feedback. Beside the counts it returns what no real data can: the joint
probabilities and states behind them.
"""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import polars as pl
from jaxtyping import Float

from dgd.errors import InputError
from dgd.forecasting.rollout import drawn_path
from dgd.learning.seeds import checked_seeds
from dgd.model.bits import behavior_bits
from dgd.model.days import Inputs
from dgd.model.feedback.feedback import State
from dgd.panel.features import calendar_marks
from dgd.panel.grids import Columns
from dgd.panel.panel import Panel
from dgd.panel.pattern_counts import PatternCounts
from dgd.runtime import computing
from dgd.simulation.world import WEEKDAYS, World
from dgd.tables.frames import from_polars
from dgd.tables.periods import period_named

MOST_DAYS = 100_000
"""More are drawn for longer than anyone waits, and end in years that cannot be written."""


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
    if not 1 <= days <= MOST_DAYS:
        raise InputError(f"days is {days}; draw at least one and at most {MOST_DAYS:,}.")
    checked_seeds([seed])
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
        calendar = (inputs.between(t, t + 1) for t in range(days))
        first = world.crowd.at_rest()
        path = list(drawn_path(world.crowd, first, calendar, world.dispersion, rng))
        expected = np.concatenate([np.asarray(day.prediction.arrivals) for day in path])
        patterns = np.concatenate([np.asarray(day.prediction.patterns) for day in path], axis=1)
        states: State = jax.tree.map(
            lambda *same: jnp.concatenate(same), *(day.carried for day in path)
        )
    panel = Panel(
        counts=PatternCounts.of(np.concatenate([day.counts for day in path])),
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
    return Simulated(world, panel, expected, np.moveaxis(patterns, 0, -1), states)
