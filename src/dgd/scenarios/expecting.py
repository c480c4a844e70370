r"""What a fit expects of any future of the same days.

The future as planned is walked as a forecast walks it, so that it is the forecast. Another future
is walked from the same state by the same parameters; expected numbers are means over seeds.

What memory, fatigue and shift do to people was learned within the range that they had. A future
that drives them far out of it would be paid by a formula, not by anything that was ever seen, and
the longer the horizon the further it could drive them. So states of a changed future are held
within the range of the recorded days and a quarter of it more, or where the future as planned
takes them, if that is further.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dgd.forecasting.rollout import ExpectedDays, expected_days, states_at_dawn
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Prediction
from dgd.model.feedback.feedback import State
from dgd.panel.sequences import recorded_days
from dgd.runtime import computing
from dgd.scenarios.future import Future, Outlook
from dgd.scenarios.planned_fit import DrawingFit, ExpectingFit

BEYOND = 0.25
"""How far beyond the range that was seen a state may go, in ranges."""


class BoundedCrowd(Crowd):
    """A crowd whose states are held between two ends after every day."""

    low: State | None = None
    high: State | None = None

    def advance(self, state: State, *day: Any) -> State:
        """The state a day later, held within its ends."""
        following = super().advance(state, *day)
        held: State = jax.tree.map(jnp.clip, _moved_by_days(following), self.low, self.high)
        return replace(held, innovations=following.innovations)


@dataclass(frozen=True, eq=False)
class Expecting:
    """Crowds of a fit before the days of an outlook."""

    fit: ExpectingFit
    outlook: Outlook
    crowds: tuple[Crowd, ...]
    """Held near where recorded and planned days take them."""
    firsts: tuple[State, ...]
    """What each crowd carries into the first day ahead."""
    planned: tuple[ExpectedDays, ...]
    """Each crowd's walk through the future as planned."""

    @staticmethod
    def of(fit: ExpectingFit, outlook: Outlook) -> "Expecting":
        """Walk every seed's crowd through the future as planned."""
        origin = np.array([outlook.day])
        with computing():
            firsts = [fit.carried(number, origin) for number in range(len(fit.crowds))]
        return _expecting(fit, outlook, fit.crowds, fit.states, firsts)

    def drawn(self, fit: DrawingFit, draws: int, seed: int) -> "Expecting":
        """The same with parameters as likely as the counts leave them."""
        crowds = fit.parameter_draws(draws, seed)
        with computing():
            known = (fit.split.first, fit.panel.days, fit.settings.dispersion)
            days = recorded_days(fit.panel, fit.features, *known)
            states = [states_at_dawn(crowd, *days) for crowd in crowds]
            at = self.outlook.day + 1 - fit.split.first
            firsts = [jax.tree.map(lambda x: x[at : at + 1], path) for path in states]
        return _expecting(fit, self.outlook, crowds, states, firsts)

    def inputs(self, future: Future) -> Inputs:
        return self.outlook.inputs(self.fit.features, future)

    def walks(self, future: Future) -> tuple[ExpectedDays, ...]:
        """Each crowd's walk through another future."""
        with computing():
            ahead = one_by_one(self.inputs(future))
            pairs = zip(self.crowds, self.firsts, strict=True)
            return tuple(expected_days(crowd, first, ahead) for crowd, first in pairs)

    def met(self, walks: Sequence[ExpectedDays], future: Future) -> tuple[Prediction, ...]:
        """What `future` would bring each crowd in the states of other walks."""
        with computing():
            inputs = self.inputs(future)
            return tuple(
                _answered(crowd, walk.carried, inputs)
                for crowd, walk in zip(self.crowds, walks, strict=True)
            )

    def series(self, future: Future) -> Float[np.ndarray, "date unit cohort series"]:
        """Expected arrivals and behaviours of a future."""
        return mean_series([days_of(walk.prediction) for walk in self.walks(future)])

    def planned_series(self) -> Float[np.ndarray, "date unit cohort series"]:
        """Those of the future as planned: the forecast itself."""
        return mean_series([days_of(walk.prediction) for walk in self.planned])


def _expecting(
    fit: ExpectingFit,
    outlook: Outlook,
    crowds: Sequence[Crowd],
    recorded: Sequence[State],
    firsts: Sequence[State],
) -> Expecting:
    days = outlook.day + 2 - fit.split.first
    held, planned = [], []
    with computing():
        ahead = one_by_one(outlook.inputs(fit.features, outlook.planned))
        for crowd, states, first in zip(crowds, recorded, firsts, strict=True):
            walk = expected_days(_free(crowd, first), first, ahead)
            so_far = jax.tree.map(lambda x: x[:days], _moved_by_days(states))
            met = jax.tree.map(lambda x: x[:, 0], _moved_by_days(walk.carried))
            held.append(bounded(crowd, so_far, met))
            planned.append(walk)
    return Expecting(fit, outlook, tuple(held), tuple(firsts), tuple(planned))


def bounded(crowd: Crowd, recorded: State, planned: State) -> BoundedCrowd:
    """The crowd, held near the range of its `recorded` states, or of `planned` ones."""
    known = (_moved_by_days(recorded), _moved_by_days(planned))

    def low(seen: Array, ahead: Array) -> Array:
        return jnp.minimum(seen.min(0) - BEYOND * jnp.ptp(seen, 0), ahead.min(0))[None]

    def high(seen: Array, ahead: Array) -> Array:
        return jnp.maximum(seen.max(0) + BEYOND * jnp.ptp(seen, 0), ahead.max(0))[None]

    return _with_ends(crowd, jax.tree.map(low, *known), jax.tree.map(high, *known))


def _free(crowd: Crowd, state: State) -> BoundedCrowd:
    """The crowd, held nowhere: the same program walks it as one that is held."""
    most = jax.tree.map(lambda x: jnp.full_like(x, jnp.inf), _moved_by_days(state))
    return _with_ends(crowd, jax.tree.map(jnp.negative, most), most)


def _with_ends(crowd: Crowd, low: State, high: State) -> BoundedCrowd:
    parts = {part.name: getattr(crowd, part.name) for part in fields(Crowd)}
    return BoundedCrowd(**parts, low=low, high=high)


def _moved_by_days(states: State) -> State:
    """What days ahead can move: innovations know nothing of them."""
    return replace(states, innovations=None)


@eqx.filter_jit
def _answered(crowd: Crowd, carried: State, days: Inputs) -> Prediction:
    """What every day brings from what is carried into it, all days in one batch."""
    return crowd.predict(jax.tree.map(lambda x: x[:, 0], carried), days)


def one_by_one(days: Inputs) -> list[Inputs]:
    """Days ahead of one origin, one after another."""
    return [days.between(step, step + 1) for step in range(len(days.size))]


def days_of(path: Prediction) -> Prediction:
    """An expected path from one origin as days, one after another on the axis `date`."""
    return Prediction(path.arrivals[:, 0], jnp.moveaxis(path.patterns[:, :, 0], 1, 0))


def series_of(prediction: Prediction) -> Float[Array, "date unit cohort series"]:
    """Arrivals, then every behaviour: expected counts."""
    return jnp.concatenate([prediction.arrivals[..., None], prediction.behaviors], -1)


def mean_series(
    predictions: Sequence[Prediction],
) -> Float[np.ndarray, "date unit cohort series"]:
    """Expected counts on the mean over seeds."""
    with computing():
        return np.mean([np.asarray(series_of(one)) for one in predictions], 0)
