"""Panels of many units that each count little, and fits of them at their first parameters."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dgd import Fit, Panel
from dgd.learning.building import first_crowd, shape_of
from dgd.learning.effort_start import EFFORT_RESPONSES
from dgd.learning.preparing import prepared
from dgd.learning.runs import Run
from dgd.learning.settings import Settings
from dgd.learning.starts import STARTS
from dgd.model.bits import behavior_bits
from dgd.panel.grids import Columns
from dgd.panel.pattern_counts import PatternCounts
from dgd.runtime import computing
from dgd.tables.periods import period_named
from support.shaken import shaken


def sparse_panel(
    units: int,
    cohorts: int = 2,
    behaviors: int = 2,
    days: int = 40,
    rate: float = 0.8,
    *,
    effort: bool = False,
    features: bool = False,
    known: int | None = None,
    seed: int = 0,
) -> Panel:
    """Gamma rates of units, behaviours that swing from day to day and differ between units."""
    rng = np.random.default_rng(seed)
    known = known or days
    cells = (known, units, cohorts)
    level = 0.3 * rng.normal(size=(days, behaviors)).cumsum(0) / np.sqrt(days)
    base = rng.normal(-1.0, 0.5, (cohorts, behaviors))
    own = 0.5 * rng.normal(size=(units, behaviors))
    worked = np.exp(0.3 * rng.normal(size=cells)) if effort else np.ones(cells)
    if effort:
        worked[5, 0] = 0.0
    busy = rate * (0.2 + rng.gamma(1.5, 0.8 / 1.5, units))
    rates = busy[:, None] * rng.dirichlet(np.full(cohorts, 5.0), units)
    arrived = rng.poisson(cohorts * rates * worked[:days])
    day, unit, cohort = (np.repeat(at, arrived[arrived > 0]) for at in np.nonzero(arrived))
    logits = base[cohort] + level[day] + own[unit]
    shown = rng.random(logits.shape) < 1 / (1 + np.exp(-logits))
    pattern = shown @ (1 << np.arange(behaviors))
    shape = (days, units, cohorts, len(behavior_bits(behaviors)))
    once = np.ones(len(day), np.int64)
    names = ("weather",) if features else ()
    period = period_named("day")
    return Panel(
        counts=PatternCounts.of_rows(shape, day, unit, cohort, pattern, once),
        size=np.ones((days, units, cohorts)),
        effort=worked,
        features=rng.normal(size=(*cells, len(names))),
        known_dates=period.range(np.datetime64("2024-01-01"), known),
        units=tuple(f"u{number}" for number in range(units)),
        cohorts=tuple(f"g{number}" for number in range(cohorts)),
        behaviors=tuple(f"b{number}" for number in range(behaviors)),
        feature_names=names,
        period=period,
        sized=True,
        has_effort=effort,
        columns=Columns("date", "unit", "cohort", "count"),
        kind="polars",
    )


def first_fit(panel: Panel, seeds: Sequence[int] = (1,), **settings: Any) -> Fit:
    """A fit whose parameters were never trained, but shaken; the last five days are left for
    tests, seven before them validate."""
    chosen = Settings(**Settings(**settings).resolved())
    train, validation = panel.days - 13, panel.days - 6
    ends = (panel.dates[train], panel.dates[validation], None)
    panel, split, maker = prepared(panel, chosen, *ends, alike=chosen.innovations == "learned")
    name = chosen.starts[0]
    with computing():
        start = STARTS[name](panel, split, EFFORT_RESPONSES[chosen.effort_response](panel, split))
        shape = shape_of(chosen, panel, split, maker)
        crowds = [first_crowd(chosen, shape, start, seed) for seed in seeds]
    ones = np.ones(1)
    runs = tuple(
        Run(seed, name, crowd, 0, 1.0, ones, ones, "all epochs done")
        for seed, crowd in zip(seeds, crowds, strict=True)
    )
    return shaken(Fit(panel, split, maker, runs, chosen))
