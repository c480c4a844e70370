"""Days ahead of an origin, one after another: expected paths and drawn ones.

The first day ahead is the observed branch's own prediction; every further day
follows one step of feedback, by what is expected or by what is drawn. A path of
expectations is a scan in chunks of a fixed length, of which only the steps asked
for are walked: one compiled program serves every horizon, and gradients flow
through it. All origins are one batch, on the axis that is called `date` elsewhere.

Forecasts, scenarios and plans follow the same path, so that they agree on the days they share.
Cohorts carry what all units make of them: a walk of some units of many is led by what the cohorts
of all of them carry into every day, and only the units' own departures are its own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, cast, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from dgd.model import multinomial, negative_binomial, sweep
from dgd.model.crowd import Crowd
from dgd.model.days import Outcomes, Prediction

CHUNK = 8
"""Steps of one compiled walk."""

Led: TypeAlias = Sequence[dict[str, Float[Array, "date cohort ..."]]]
"""What the cohorts of all units carry into the day after each of the days ahead."""


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


class ExpectedDays(NamedTuple):
    """Days ahead, on a leading axis over steps."""

    carried: Any
    """Into each day."""
    prediction: Prediction


def expected_path(
    walker: Walker, first: PyTree, ahead: Sequence[PyTree], led: Led | None = None
) -> Prediction:
    """Walk `ahead` from what is carried `first`, feeding back what is expected; predictions
    have a leading axis over steps. Some units of many are `led`, step by step."""
    path: Prediction = _in_chunks(predictions_alone, walker, first, ahead, led)
    return path


def expected_days(
    walker: Walker, first: PyTree, ahead: Sequence[PyTree], led: Led | None = None
) -> ExpectedDays:
    """The same path, and what is carried into each of its days."""
    path: ExpectedDays = _in_chunks(ExpectedDays, walker, first, ahead, led)
    return path


def walk(
    keep: Callable[[PyTree, Prediction], PyTree],
    walker: Walker,
    first: PyTree,
    ahead: PyTree,
    led: dict[str, Float[Array, "step date cohort ..."]] | None = None,
    steps: Int[Array, ""] | None = None,
) -> tuple[PyTree, PyTree]:
    """The walk itself, for programs that compile it as a part of their own: days stacked on a
    leading axis, of which the first `steps` are walked; the others are skipped, not computed.

    Returns:
        what is carried into the day after the last, and what is kept of every day.
    """

    def expect(carried: PyTree, day: PyTree, following: Any) -> tuple[PyTree, PyTree]:
        expected = walker.predict(carried, day)
        if following is not None:
            after = cast(Crowd, walker).led(carried, following)
        else:
            counts = (expected.arrivals, expected.behaviors)
            after = walker.advance(carried, day, expected, *counts)
        return after, keep(carried, expected)

    def step(carried: PyTree, known: tuple[Any, ...]) -> tuple[PyTree, PyTree]:
        number, day, following = known
        if steps is None:
            return expect(carried, day, following)
        shape = jax.eval_shape(lambda: expect(carried, day, following)[1])
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shape)
        return jax.lax.cond(
            number < steps, lambda c: expect(c, day, following), lambda c: (c, nothing), carried
        )

    length = len(jax.tree.leaves(ahead)[0])
    return jax.lax.scan(step, first, (jnp.arange(length), ahead, led))


_walk = eqx.filter_jit(walk)


def _in_chunks(
    keep: Callable[[PyTree, Prediction], PyTree],
    walker: Walker,
    first: PyTree,
    ahead: Sequence[PyTree],
    led: Led | None,
) -> Any:
    carried, parts = first, []
    days = list(zip(ahead, [None] * len(ahead) if led is None else led, strict=True))
    for start in range(0, len(days), CHUNK):
        some = days[start : start + CHUNK]
        padded = [*some, *[some[-1]] * (CHUNK - len(some))]
        stacked, leading = jax.tree.map(lambda *same: jnp.stack(same), *padded)
        carried, path = _walk(keep, walker, carried, stacked, leading, jnp.asarray(len(some)))
        parts.append(path)
    return jax.tree.map(lambda *same: jnp.concatenate(same)[: len(days)], *parts)


def predictions_alone(_carried: PyTree, prediction: Prediction) -> Prediction:
    """What a walk keeps where nobody asks for what is carried."""
    return prediction


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
