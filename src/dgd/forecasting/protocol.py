"""What everything that forecasts has in common.

A forecaster is fitted to a panel and then predicts from any origins, as many
days ahead as asked. DGD, its variants, every baseline and a user's own object
are the same to scores and backtests: they know only what is written here.
"""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Int

from dgd.errors import InputError
from dgd.forecasting.predictive import Predictive
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.tables.periods import Moment

MOST_STEPS = 10_000
"""The longest horizon: 27 years of days."""
SUM_TOLERANCE = 1e-6
"""How far from one the probabilities of a cell may add up; rounding stays far below it."""


@runtime_checkable
class Fitted(Protocol):
    """A forecaster after its fit.

    One further attribute is read where it exists: `settings`, a mapping, or an object with
    `as_dict()`, of the choices made.
    """

    @property
    def panel(self) -> Panel:
        """The panel whose counts the forecasts start from."""

    @property
    def split(self) -> Split:
        """The days that were used for training and for choosing."""

    def predict(self, origins: Int[np.ndarray, " origin"], horizon: int) -> Predictive:
        """Forecast every one of the `horizon` days after each origin.

        Args:
            origins: day numbers within the panel; at origin o the counts through day o
                are known, and no later ones.
            horizon: how many days ahead; step 1 is the day after the origin.

        Returns:
            arrivals with axes [seed, step, origin, unit, cohort], probabilities with a last
            axis over patterns, and the dispersion of the arrivals where it is known: with
            it `sample(rng, paths)` draws counts. A forecaster without chance in its fit
            has one seed.
        """


@runtime_checkable
class Forecaster(Protocol):
    """Anything that can be fitted to a panel."""

    def fit(
        self,
        panel: Panel,
        *,
        train_end: Moment,
        validation_end: Moment,
        warmup_end: Moment | None = None,
        seeds: Sequence[int] = (1, 2, 3),
        progress: Callable[[int, int, float], None] | None = None,
    ) -> Fitted:
        """Learn from the days through `train_end`, choose on those through `validation_end`.

        Later days must not be looked at. `seeds` and `progress`, which is told (seed, epochs
        done, best validation objective), are for forecasters that train; others leave
        them alone.
        """


def checked_prediction(
    name: str, fitted: Fitted, origins: Int[np.ndarray, " origin"], horizon: int
) -> Predictive:
    """What `fitted` predicts, refused where it does not keep the protocol."""
    found = fitted.predict(origins, horizon)
    if not isinstance(found, Predictive):
        raise InputError(
            f'forecaster "{name}" predicted a {type(found).__name__}; return '
            "dgd.Predictive(arrivals, patterns, dispersion)."
        )
    _refuse_shapes(name, fitted.panel, found, len(origins), horizon)
    arrivals, patterns = found.arrivals, found.patterns
    if not (np.isfinite(arrivals).all() and (arrivals >= 0).all()):
        wrong = arrivals[~(np.isfinite(arrivals) & (arrivals >= 0))][0]
        raise InputError(
            f'forecaster "{name}" predicted {wrong} arrivals; return finite numbers, none below 0.'
        )
    total = patterns.sum(-1)
    fine = (np.abs(total - 1) <= SUM_TOLERANCE) & (patterns >= 0).all(-1)
    if not fine.all():
        raise InputError(
            f'forecaster "{name}" predicted probabilities that add up to {total[~fine][0]:g} or '
            "lie below 0; return shares of the joint patterns that add up to 1."
        )
    return _with_whole_dispersion(name, found)


def _refuse_shapes(name: str, panel: Panel, found: Predictive, origins: int, horizon: int) -> None:
    cells = (horizon, origins, len(panel.units), len(panel.cohorts))
    seeds = len(found.arrivals)
    for what, shape, wanted in (
        ("arrivals", np.shape(found.arrivals), cells),
        ("patterns", np.shape(found.patterns), (*cells, 2 ** len(panel.behaviors))),
    ):
        if shape[1:] != wanted or shape[0] != seeds:
            raise InputError(
                f'forecaster "{name}" predicted {what} of shape {shape}; the shape must be '
                f"(seeds, {', '.join(map(str, wanted))}): seed, step, origin, unit, cohort"
                f"{', pattern' if what == 'patterns' else ''}."
            )


def _with_whole_dispersion(name: str, found: Predictive) -> Predictive:
    """The prediction with a dispersion for every cell, where one was given at all."""
    if found.dispersion is None:
        return found
    given = np.asarray(found.dispersion, dtype=np.float64)
    try:
        dispersion = np.broadcast_to(given, found.arrivals.shape)
    except ValueError as error:
        raise InputError(
            f'forecaster "{name}" has a dispersion of shape {given.shape}; it must fit '
            f"the {found.arrivals.shape} of its arrivals: seed, step, origin, unit, cohort."
        ) from error
    fine = dispersion > 0
    if not fine.all():
        raise InputError(
            f'forecaster "{name}" has a dispersion of {dispersion[~fine][0]}; it must be above 0.'
        )
    return found.with_dispersion(dispersion)


def settings_of(fitted: Fitted) -> dict[str, Any]:
    """The choices behind a fitted forecaster, as far as it tells them."""
    settings: Any = getattr(fitted, "settings", {})
    return settings.as_dict() if hasattr(settings, "as_dict") else dict(settings)


def refuse_origins(
    panel: Panel, origins: Int[np.ndarray, " origin"], horizon: int, first: int
) -> None:
    """Refuse origins before day number `first` or past the counted days, and odd horizons."""
    refuse_horizon(panel, horizon)
    wrong = origins[(origins < first) | (origins >= panel.days)]
    if len(wrong):
        last, day = panel.days - 1, wrong[0]
        date = f" ({panel.dates[day]})" if 0 <= day <= last else ""
        raise InputError(
            f"origin {day}{date} is not a day number from {first} ({panel.dates[first]}) to {last} "
            f"({panel.dates[last]}), the last counted one; choose one in that range."
        )


def refuse_horizon(panel: Panel, horizon: int) -> None:
    """Refuse a number of steps that is not whole, or none, or more than a lifetime."""
    if not isinstance(horizon, Integral) or isinstance(horizon, bool):
        raise InputError(f"horizon is {horizon!r}; give a whole number of {panel.period.name}s.")
    if horizon > MOST_STEPS:
        raise InputError(
            f"horizon is {horizon:,} {panel.period.name}s; at most {MOST_STEPS:,} can be forecast."
        )
    if horizon < 1:
        raise InputError(f"horizon is {horizon}; ask for at least one {panel.period.name}.")
