"""Days ahead of an origin, one after another: expected paths and drawn ones.

The first day ahead is the observed branch's own prediction; every further day
follows one step of feedback, by what is expected or by what is drawn. A path of
expectations is a scan in chunks of a fixed length, of which only the steps asked
for are walked: one compiled program serves every horizon, and gradients flow
through it. All origins are one batch, on the axis that is called `date` elsewhere.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from dgd.model import multinomial, negative_binomial, sweep
from dgd.model.days import Outcomes, Prediction

CHUNK = 8
"""Steps of one compiled walk."""


states_at_dawn = eqx.filter_jit(sweep.states_at_dawn)


@runtime_checkable
class Walker(Protocol):
    """What goes from day to day: a `Crowd`, or a recurrent network in its place."""

    def predict(self, carried: Any, day: Any, /) -> Prediction:
        """The day's outcomes, from what is carried into it."""

    def advance(
        self,
        carried: Any,
        day: Any,
        prediction: Prediction,
        arrivals: Float[Array, "date unit cohort"],
        behaviors: Float[Array, "date unit cohort behavior"],
        /,
    ) -> Any:
        """What is carried on when the day brings the given counts."""


def expected_path(walker: Walker, first: PyTree, ahead: Sequence[PyTree]) -> Prediction:
    """Walk `ahead` from what is carried `first`, feeding back what is expected; predictions
    have a leading axis over steps."""
    carried, parts = first, []
    for start in range(0, len(ahead), CHUNK):
        days = ahead[start : start + CHUNK]
        padded = [*days, *[days[-1]] * (CHUNK - len(days))]
        stacked = jax.tree.map(lambda *same: jnp.stack(same), *padded)
        carried, path = _walk(walker, carried, stacked, jnp.asarray(len(days)))
        parts.append(path)
    whole: Prediction = jax.tree.map(lambda *same: jnp.concatenate(same)[: len(ahead)], *parts)
    return whole


@eqx.filter_jit
def _walk(
    walker: Walker, carried: PyTree, ahead: PyTree, steps: Int[Array, ""]
) -> tuple[PyTree, Prediction]:
    """Walk the first `steps` of the stacked days; the others are skipped, not computed."""

    def expect(carried: PyTree, day: PyTree) -> tuple[PyTree, Prediction]:
        expected = walker.predict(carried, day)
        counts = (expected.arrivals, expected.behaviors)
        return walker.advance(carried, day, expected, *counts), expected

    def step(carried: PyTree, numbered: tuple[Array, PyTree]) -> tuple[PyTree, Prediction]:
        number, day = numbered
        shape = jax.eval_shape(lambda: expect(carried, day)[1])
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shape)
        return jax.lax.cond(
            number < steps, lambda c: expect(c, day), lambda c: (c, nothing), carried
        )

    return jax.lax.scan(step, carried, (jnp.arange(CHUNK), ahead))


class DrawnDay(NamedTuple):
    """One day of a drawn path: what was carried into it, what it made likely, what was drawn."""

    carried: Any
    prediction: Prediction
    counts: Int[np.ndarray, "date unit cohort pattern"]


def drawn_path(
    walker: Walker,
    first: PyTree,
    ahead: Iterable[PyTree],
    dispersion: float,
    rng: np.random.Generator,
) -> Iterator[DrawnDay]:
    """Day after day, draw counts and feed them back as if they had been recorded.

    Negative-binomial arrivals of mean N and dispersion r are split by a multinomial. Counts
    are drawn with NumPy, between compiled steps: its samplers are far faster than compiled
    ones.
    """
    carried = first
    for day in ahead:
        prediction = _predict(walker, carried, day)
        arrivals = negative_binomial.draw(rng, np.asarray(prediction.arrivals), dispersion)
        q = np.moveaxis(np.asarray(prediction.patterns), 0, -1)
        counts = multinomial.draw(rng, arrivals, q)
        yield DrawnDay(carried, prediction, counts)
        recorded = Outcomes.recorded(np.moveaxis(counts, -1, 0).astype(np.float64), dispersion)
        carried = _advance(walker, carried, day, prediction, recorded)


@eqx.filter_jit
def _predict(walker: Walker, carried: PyTree, day: PyTree) -> Prediction:
    return walker.predict(carried, day)


@eqx.filter_jit
def _advance(
    walker: Walker, carried: PyTree, day: PyTree, prediction: Prediction, outcomes: Outcomes
) -> PyTree:
    return walker.advance(carried, day, prediction, outcomes.arrivals, outcomes.behaviors)


def rounded_up(origins: Int[np.ndarray, " origin"]) -> Int[np.ndarray, " more"]:
    """The origins, the last one repeated up to the next power of two: few sizes, few programs."""
    size = 1 << (len(origins) - 1).bit_length()
    return np.concatenate([origins, np.repeat(origins[-1:], size - len(origins))])
