"""Forecasts of very many units: all are walked once, block by block.

Of every cell expected arrivals and behaviours are kept until files are written.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from dgd.forecasting.predictive import Predictive
from dgd.large.fitted_units import FittedUnits
from dgd.panel.panel import Panel


@dataclass(frozen=True, eq=False)
class ForecastOfAll:
    """What is known of every unit before files are written."""

    fit: FittedUnits
    panel: Panel
    day: int
    arrivals: Float[np.ndarray, "seed step unit cohort"]
    rates: Float[np.ndarray, "seed step unit cohort behavior"]

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
        return ForecastOfAll(fit, panel, day, arrivals, rates)

    def counted(
        self, units: Int[np.ndarray, " some"]
    ) -> Float[np.ndarray, "step unit cohort counted"]:
        """Expected arrivals and behaviours of some units, averaged over seeds."""
        mean = Predictive(self.arrivals[:, :, None, units], self.rates[:, :, None, units])
        expected = mean.averaged().arrivals[0, :, 0, ..., None]
        return np.concatenate([expected, expected * mean.averaged().patterns[0, :, 0]], -1)

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
