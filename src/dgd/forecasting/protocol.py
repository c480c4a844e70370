"""What everything that forecasts has in common.

A forecaster is fitted to a panel and then predicts from any origins, as many
days ahead as asked. DGD, its variants, every baseline and a user's own object
are the same to scores and backtests: they know only what is written here.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from dgd.errors import InputError
from dgd.panel.panel import Panel
from dgd.panel.split import Split
from dgd.tables.periods import Moment

Predictions: TypeAlias = tuple[
    Float[np.ndarray, "seed step origin unit cohort"],
    Float[np.ndarray, "seed step origin unit cohort pattern"],
]
"""Expected arrivals, and the joint probabilities q(y) of an arrival's behaviours."""

SUM_TOLERANCE = 1e-6
"""How far from one the probabilities of a cell may add up; rounding stays far below it."""


@runtime_checkable
class Fitted(Protocol):
    """A forecaster after its fit.

    Two further attributes are read where they exist:

    - `settings`: a mapping, or an object with `as_dict()`, of the choices made.
    - `count_distribution`: the dispersion r of a negative binomial around the expected
        arrivals, of variance N + N^2/r, so that counts get a deviance and a CRPS. Either
        one number (infinity for a Poisson), or a function of (origins, horizon) whose array fits
        [seed, step, origin, unit, cohort].
    """

    @property
    def panel(self) -> Panel:
        """The panel whose counts the forecasts start from."""

    @property
    def split(self) -> Split:
        """The days that were used for training and for choosing."""

    def predict(self, origins: Int[np.ndarray, " origin"], horizon: int) -> Predictions:
        """Forecast every one of the `horizon` days after each origin.

        **Arguments:**

        - `origins`: day numbers within the panel; at origin o the counts through day o
            are known, and no later ones.
        - `horizon`: how many days ahead; step 1 is the day after the origin.

        **Returns:** arrivals with axes [seed, step, origin, unit, cohort] and probabilities
        with a last axis over patterns, pattern number = sum of y_h 2^h. A forecaster
        without chance in its fit has one seed.
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


def checked_predictions(
    name: str, fitted: Fitted, origins: Int[np.ndarray, " origin"], horizon: int
) -> Predictions:
    """What `fitted` predicts, refused where it does not keep the protocol."""
    arrivals, patterns = (np.asarray(x) for x in fitted.predict(origins, horizon))
    panel = fitted.panel
    cells = (horizon, len(origins), len(panel.units), len(panel.cohorts))
    for what, found, wanted in (
        ("arrivals", arrivals.shape, cells),
        ("patterns", patterns.shape, (*cells, 2 ** len(panel.behaviors))),
    ):
        if found[1:] != wanted or found[0] != len(arrivals):
            raise InputError(
                f'forecaster "{name}" predicted {what} of shape {found}; the shape must be '
                f"(seeds, {', '.join(map(str, wanted))}): seed, step, origin, unit, cohort"
                f"{', pattern' if what == 'patterns' else ''}."
            )
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
    return arrivals, patterns


def checked_dispersion(
    name: str,
    fitted: Fitted,
    origins: Int[np.ndarray, " origin"],
    arrivals: Float[np.ndarray, "seed step origin unit cohort"],
) -> Float[np.ndarray, "seed step origin unit cohort"] | None:
    """r of the negative binomial around `arrivals`, or `None` where only a mean is forecast."""
    given: Any = getattr(fitted, "count_distribution", None)
    if given is None:
        return None
    found = np.asarray(given(origins, arrivals.shape[1]) if callable(given) else given)
    try:
        dispersion = np.broadcast_to(found.astype(np.float64), arrivals.shape)
    except ValueError as error:
        raise InputError(
            f'forecaster "{name}" has a count_distribution of shape {found.shape}; it must fit '
            f"the {arrivals.shape} of its arrivals: seed, step, origin, unit, cohort."
        ) from error
    fine = dispersion > 0
    if not fine.all():
        raise InputError(
            f'forecaster "{name}" has a count_distribution of {dispersion[~fine][0]}; the '
            "dispersion r must be above 0."
        )
    return dispersion


def settings_of(fitted: Fitted) -> dict[str, Any]:
    """The choices behind a fitted forecaster, as far as it tells them."""
    settings: Any = getattr(fitted, "settings", {})
    return settings.as_dict() if hasattr(settings, "as_dict") else dict(settings)
