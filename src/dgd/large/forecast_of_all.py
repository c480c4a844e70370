"""Forecasts of very many units: all are walked once, block by block.

Of the model and of the smoothers of arrivals a few numbers a cell are kept until every process has
its sums; histories of joint patterns are looked at when the rows of their units are wanted.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from dgd.anchoring.arrival_anchor import ArrivalAnchor
from dgd.forecasting.pool import Pool
from dgd.forecasting.predictive import Predictive
from dgd.large.fitted_units import FittedUnits
from dgd.model.bits import behavior_bits
from dgd.panel.panel import Panel
from dgd.panel.some_units import panel_of_units


@dataclass(frozen=True, eq=False)
class ForecastOfAll:
    """What is known of every unit before files are written."""

    fit: FittedUnits
    panel: Panel
    day: int
    arrivals: Float[np.ndarray, "seed step unit cohort"]
    rates: Float[np.ndarray, "seed step unit cohort behavior"]
    smoothed: Float[np.ndarray, "step unit cohort"] | None
    """Arrivals that the past alone expects."""

    @staticmethod
    def walked(fit: FittedUnits, day: int, horizon: int) -> "ForecastOfAll":
        """All units walked once from the day of that number."""
        panel, origins = fit.panel, np.array([day])
        shape = (len(fit.crowds), horizon, len(panel.units), len(panel.cohorts))
        arrivals, rates = np.empty(shape), np.empty((*shape, len(panel.behaviors)))

        def keep(
            number: int,
            step: int,
            units: Int[np.ndarray, " some"],
            expected: np.ndarray,
            shown: np.ndarray,
        ) -> None:
            arrivals[number, step, units], rates[number, step, units] = expected[0], shown[0]

        fit.all_ahead.walked(panel, origins, horizon, keep)
        smoothed = None
        if fit.anchor is not None and fit.anchor.arrivals is not None:
            smoothed = _smoothed(fit, fit.anchor.arrivals, origins, horizon)
        return ForecastOfAll(fit, panel, day, arrivals, rates, smoothed)

    def counted(
        self, units: Int[np.ndarray, " some"]
    ) -> Float[np.ndarray, "step unit cohort counted"]:
        """Expected arrivals and behaviours of some units, pooled and averaged over seeds."""
        horizon, origins = self.arrivals.shape[1], np.array([self.day])
        model = Predictive(self.arrivals[:, :, None, units], self.rates[:, :, None, units])
        pool = Pool.of_the_model(horizon)
        if self.fit.anchor is not None:
            alone = None if self.smoothed is None else self.smoothed[:, None, units]
            rates, patterns = None, self.fit.anchor.patterns
            if patterns is not None:
                some = panel_of_units(self.panel, units)
                bits = behavior_bits(len(self.panel.behaviors))
                rates = patterns.predict(some, origins, horizon) @ bits
            pool = self.fit.anchor.pool_of(alone, rates, horizon)
        steps = range(horizon)
        arrivals = [pool.arrivals_at(step, model.arrivals[:, step]) for step in steps]
        shown = [pool.patterns_at(step, model.patterns[:, step]) for step in steps]
        mean = Predictive(np.stack(arrivals, 1), np.stack(shown, 1)).averaged()
        expected = mean.arrivals[0, :, 0, ..., None]
        return np.concatenate([expected, expected * mean.patterns[0, :, 0]], -1)

    def table(self, units: Int[np.ndarray, " some"]) -> pl.DataFrame:
        """One row per date, unit and cohort, as `Forecast.to_frame` has them."""
        panel, counted = self.panel, self.counted(units)
        step, unit, cohort = (i.ravel() for i in np.indices(counted.shape[:3]))
        values = counted.reshape(len(step), -1)
        return pl.DataFrame(
            [
                panel.period.series(panel.columns.date, self.dates[step]),
                pl.Series("horizon", step + 1),
                pl.Series(panel.columns.unit, [panel.units[n] for n in units])[unit],
                pl.Series(panel.columns.cohort, panel.cohorts)[cohort],
                *(pl.Series(name, values[:, n]) for n, name in enumerate(panel.series)),
            ]
        )

    @property
    def dates(self) -> np.ndarray:
        """The days ahead."""
        horizon = self.arrivals.shape[1]
        return self.panel.period.range(self.panel.dates[self.day], horizon + 1)[1:]


def _smoothed(
    fit: FittedUnits, anchor: ArrivalAnchor, origins: Int[np.ndarray, " origin"], horizon: int
) -> Float[np.ndarray, "step unit cohort"]:
    panel = fit.panel
    cohorts = len(panel.cohorts)
    parts = np.empty((horizon, 1, len(panel.units), cohorts))

    def keep(units: Int[np.ndarray, " some"], own: np.ndarray) -> None:
        parts[:, :, units] = own.reshape(horizon, 1, len(units), cohorts)

    level = fit.all_ahead.level_by(anchor, panel, origins, horizon, keep)
    flat = parts.reshape(horizon, 1, -1)
    return anchor.leveled(flat, level, panel, origins, horizon)[:, 0]
