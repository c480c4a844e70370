"""Everything a report tells of a fit, computed once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from narwhals.typing import IntoFrame

from dgd.baselines import (
    LastDayHistory,
    SlowHistory,
    SmoothedHistory,
    TrainingHistory,
    WeekdayHistory,
)
from dgd.diagnostics.checkup import Checkup, check
from dgd.fit import Fit
from dgd.forecasting.forecast import Forecast
from dgd.panel.exploration.exploring import Exploration
from dgd.report.page.choices import Choices
from dgd.scenarios.future import Outlook
from dgd.scoring.backtesting import Backtest, backtest
from dgd.tables.periods import Moment

MODEL = "dgd"
OPPONENTS = {
    "training average": TrainingHistory,
    "last day": LastDayHistory,
    "smoothed history": SmoothedHistory,
    "slow history": SlowHistory,
    "same weekday": WeekdayHistory,
}
"""Simple forecasters, by the words that a reader knows them by."""
STEPS = (1, 7)
"""Periods ahead that are scored, as far as the test days reach."""
FEWEST_ORIGINS = 3
TURNED = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
"""Multiples that are computed for the knob of the page, which goes straight between them."""
PATHS = 200
"""Futures drawn at every scored origin."""

Tell = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Findings:
    """A fit and what was asked of it."""

    fit: Fit
    """Knows effort and features of the days ahead."""
    forecast: Forecast
    notes: tuple[str, ...]
    """What was assumed of the days ahead."""
    choices: Choices
    grids: dict[str, pl.DataFrame]
    """Response grids, by what is multiplied."""
    effects: pl.DataFrame
    backtest: Backtest | None
    """`None` where no day was left to score."""
    checkup: Checkup
    exploration: Exploration

    @property
    def level(self) -> float:
        """The level of the ranges that sentences tell."""
        levels = () if self.forecast.ranges is None else self.forecast.ranges.levels
        return levels[0] if levels else 0.0

    @property
    def days(self) -> str:
        """What a period is called where there are several."""
        return f"{self.fit.panel.period.name}s"


def found(
    fit: Fit,
    horizon: int,
    *,
    origin: Moment | None,
    effort: IntoFrame | None,
    features: IntoFrame | None,
    levels: Sequence[float],
    seed: int,
    tell: Tell,
) -> Findings:
    """Forecast, ask, score and check; `tell` hears of every step."""
    outlook = Outlook.of(fit, horizon, origin, effort, features)
    known = replace(fit, panel=outlook.panel)
    tell("forecasting")
    forecast = known.forecast(horizon, origin=origin, levels=levels, seed=seed)
    choices = Choices.of(forecast)
    tell("asking what would be if")
    asked: dict[str, Any] = {"horizon": horizon, "origin": origin, "kind": "polars"}
    knobs = [*(["effort"] if fit.panel.has_effort else []), "size"]
    grids = {knob: known.response_grid(knob, TURNED, **asked) for knob in knobs}
    effects: pl.DataFrame = fit.effects("polars")
    tell("scoring against simple opponents")
    scored = _scored(fit)
    tell("checking the numbers")
    return Findings(
        known,
        forecast,
        outlook.notes,
        choices,
        grids,
        effects,
        scored,
        check(fit),
        fit.panel.explore(),
    )


def _scored(fit: Fit) -> Backtest | None:
    """The fit and its simple opponents on the days after validation, if there are any."""
    panel, split = fit.panel, fit.split
    left = panel.days - split.validation_stop
    steps = [step for step in STEPS if left - step + 1 >= FEWEST_ORIGINS]
    if not steps:
        return None
    opponents: dict[str, Any] = {name: forecaster() for name, forecaster in OPPONENTS.items()}
    dates: dict[str, np.datetime64 | None] = {
        "warmup_end": panel.dates[split.first - 1] if split.first else None,
        "train_end": panel.dates[split.train_stop - 1],
        "validation_end": panel.dates[split.validation_stop - 1],
    }
    return backtest(panel, {MODEL: fit, **opponents}, horizons=steps, paths=PATHS, **dates)  # type: ignore[arg-type]
