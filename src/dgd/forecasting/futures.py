r"""Futures drawn day by day: what is drawn on one day moves the states that meet the next.

A path of counts follows what the model expects of it, scattered by its shocks, and what it draws is
fed back into the model as if it had been recorded. Several futures of the same days (a plan and a
changed plan) share every chance: shocks are the same, and where a future expects more of a
pattern than the first one does, the surplus alone is drawn, where less, the first one's counts are
thinned. Each future by itself is drawn as if it were alone, and differences hold no noise but
their own.

Some units of many cannot say what their cohorts carry: they are led by what all units are
expected to do, and only chance tells their paths apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from dgd.forecasting.rollout import Led
from dgd.forecasting.scatter import Scatter, Shocks
from dgd.model.bits import behavior_bits
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Prediction
from dgd.model.feedback.feedback import State
from dgd.model.innovations import Corrections, Innovations, InnovationState
from dgd.model.negative_binomial import LARGEST_MEAN

SMALLEST = 1e-300
MOST_AT_ONCE = 2_000_000
"""Expected counts of a day, of all paths, that are held at once; more paths are drawn in turn."""

DrawnDays: TypeAlias = tuple[Int[np.ndarray, "path origin unit cohort pattern"], ...]
"""One step ahead of every origin on every path, of every future."""
Kept = TypeVar("Kept")


class _Expected(NamedTuple):
    """What the model expects of a day on every path."""

    arrivals: Float[Array, "crowd path unit cohort"]
    patterns: Float[Array, "crowd path unit cohort pattern"]


class _Walk:
    """A future as every path of every crowd meets it."""

    def __init__(
        self,
        crowds: PyTree,
        carried: PyTree,
        ahead: Sequence[Inputs],
        origin: Int[np.ndarray, " path"],
        led: Sequence[PyTree] | None,
    ) -> None:
        self._innovations, self._of_origin = crowds.innovations, carried.innovations
        self._crowds, self._ahead, self._led = replace(crowds, innovations=None), ahead, led
        self._origin = jnp.asarray(origin)
        self._carried = _taken(replace(carried, innovations=None), self._origin)
        self._expected: _Expected | None = None

    def means(self, step: int) -> Float[np.ndarray, "crowd path unit cohort pattern"]:
        """Expected counts of every pattern."""
        corrected = None
        if self._innovations is not None:
            corrected, self._of_origin = _corrected(
                self._innovations, self._of_origin, self._ahead[step]
            )
        known = (self._crowds, self._carried, self._ahead[step], self._origin)
        self._expected = _predict(*known, corrected)
        return np.asarray(self._expected.arrivals)[..., None] * np.asarray(self._expected.patterns)

    def advance(self, step: int, counts: Int[np.ndarray, "crowd path ..."]) -> None:
        """Feed the counts back, or follow where all units lead."""
        if self._led is not None:
            self._carried = _lead(self._crowds, self._carried, self._led[step], self._origin)
            return
        assert self._expected is not None
        bits = behavior_bits(int(counts.shape[-1]).bit_length() - 1)
        arrivals, shown = counts.sum(-1).astype(np.float64), counts @ bits
        recorded = (jnp.asarray(arrivals), jnp.asarray(shown))
        known = (self._crowds, self._carried, self._ahead[step], self._origin)
        self._carried = _advance(*known, self._expected.arrivals, *recorded)


def drawn_futures(
    crowds: Sequence[Crowd],
    carried: Sequence[State],
    futures: Sequence[Sequence[Inputs]],
    scatter: Scatter,
    rng: np.random.Generator,
    paths: int,
    led: Sequence[Led] | None = None,
) -> Iterator[DrawnDays]:
    """Draw `paths` paths of every future, step after step; path i belongs to crowd i modulo their
    number.

    Args:
        carried: what each crowd carries into the first day ahead of every origin.
        futures: each the days ahead, one after another, of every origin.
        led: of each crowd and step, what the cohorts of all units carry into the day after, where
            those at hand are some of many.
    """
    crowds, carried = crowds[:paths], carried[:paths]
    each = -(-paths // len(crowds))
    steps, origins = len(futures[0]), futures[0][0].size.shape[0]
    origin = np.tile(np.arange(origins), each)
    lead = (len(crowds), each, origins)
    many, states, leading = stacked(crowds), stacked(carried), None
    if led is not None:
        leading = [stacked(same) for same in zip(*led[:paths], strict=True)]
    walks = [_Walk(many, states, ahead, origin, leading) for ahead in futures]
    shocks = Shocks(scatter, rng, lead)
    cells = (*futures[0][0].size.shape[1:], 2 ** scatter.behaviors.shape[1])
    for step in range(steps):
        means = [walk.means(step).reshape(*lead, *cells) for walk in walks]
        busy = shocks.busyness(step + 1, cells[0])
        answers = shocks.answering(step + 1, _overall_rates(means[0]))
        counts = _coupled(rng, [_shaken(mean, busy, answers) for mean in means])
        yield tuple(found.swapaxes(0, 1).reshape(-1, origins, *cells)[:paths] for found in counts)
        if step + 1 < steps:
            for walk, found in zip(walks, counts, strict=True):
                walk.advance(step, found.reshape(len(crowds), each * origins, *cells))


def paths_at_once(paths: int, crowds: int, size: int) -> int:
    """How many of the paths are drawn together where a path expects `size` counts a day: as many
    of every crowd, and no fewer in any turn, so that all turns are compiled as one."""
    most = max(MOST_AT_ONCE // (size * crowds), 1) * crowds
    turns = -(-paths // most)
    return -(-paths // (turns * crowds)) * crowds


def together(turns: Sequence[Kept], paths: int) -> Kept:
    """What was kept of several turns as one, of no more paths than were asked for."""
    one: Kept = jax.tree.map(lambda *same: np.concatenate(same)[:paths], *turns)
    return one


def _overall_rates(mean: Float[np.ndarray, "..."]) -> Float[np.ndarray, " behavior"]:
    """Behaviour rates of all that is expected on the day."""
    total = mean.sum(tuple(range(mean.ndim - 1)))
    bits = behavior_bits(int(mean.shape[-1]).bit_length() - 1)
    return np.asarray(total @ bits / max(total.sum(), SMALLEST))


def _shaken(mean: np.ndarray, busy: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Expected counts of a day that is as busy, and answers as differently, as was drawn."""
    tilted = mean * answers[..., None, None, :]
    kept = mean.sum(-1, keepdims=True) / np.maximum(tilted.sum(-1, keepdims=True), SMALLEST)
    return np.minimum(tilted * (kept * busy[..., None]), LARGEST_MEAN)


def _coupled(rng: np.random.Generator, means: list[np.ndarray]) -> list[np.ndarray]:
    """Poisson counts of every future: the first's, and the others' by surplus and thinning."""
    counts = [rng.poisson(means[0])]
    for mean in means[1:]:
        surplus = rng.poisson(np.maximum(mean - means[0], 0.0))
        keep = np.minimum(mean / np.maximum(means[0], SMALLEST), 1.0)
        counts.append(surplus + rng.binomial(counts[0], keep))
    return counts


def stacked(trees: Sequence[PyTree]) -> PyTree:
    """The same trees as one, arrays with a leading axis over them."""
    parts = [eqx.partition(tree, eqx.is_array) for tree in trees]
    return eqx.combine(_stacked(tuple(arrays for arrays, _ in parts)), parts[0][1])


@eqx.filter_jit
def _stacked(trees: tuple[PyTree, ...]) -> PyTree:
    return jax.tree.map(lambda *same: jnp.stack(same), *trees)


@eqx.filter_jit
def _taken(carried: PyTree, origin: Int[Array, " path"]) -> PyTree:
    return jax.tree.map(lambda x: x[:, origin], carried)


@eqx.filter_jit
def _predict(
    crowds: PyTree,
    carried: PyTree,
    day: Inputs,
    origin: Int[Array, " path"],
    corrected: Corrections | None = None,
) -> _Expected:
    met = jax.tree.map(lambda x: x[origin], day)

    def of_one(crowd: Crowd, state: State, corrected: Corrections | None) -> _Expected:
        found = crowd.predict(state, met)
        if corrected is not None:
            own: Corrections = jax.tree.map(lambda x: x[origin], corrected)
            found = own.applied(found)
        return _Expected(found.arrivals, jnp.moveaxis(found.patterns, 0, -1))

    return eqx.filter_vmap(of_one)(crowds, carried, corrected)


@eqx.filter_jit
def _corrected(
    innovations: PyTree, states: PyTree, day: Inputs
) -> tuple[Corrections, InnovationState]:
    """What innovations add to a day ahead of every origin, the same on all paths from it, and
    their state a day later."""

    def of_one(one: Innovations, state: InnovationState) -> tuple[Corrections, InnovationState]:
        return one.corrections(state, day.of_season), one.advance(state)

    found: tuple[Corrections, InnovationState] = eqx.filter_vmap(of_one)(innovations, states)
    return found


@eqx.filter_jit
def _advance(
    crowds: PyTree,
    carried: PyTree,
    day: Inputs,
    origin: Int[Array, " path"],
    expected: Float[Array, "crowd path unit cohort"],
    arrivals: Float[Array, "crowd path unit cohort"],
    behaviors: Float[Array, "crowd path unit cohort behavior"],
) -> PyTree:
    met = jax.tree.map(lambda x: x[origin], day)

    def of_one(crowd: Crowd, state: State, said: Array, came: Array, shown: Array) -> State:
        # patterns play no part in what a day leaves behind
        prediction = Prediction(said, jnp.zeros((1, *said.shape)))
        return crowd.advance(state, met, prediction, came, shown)

    return eqx.filter_vmap(of_one)(crowds, carried, expected, arrivals, behaviors)


@eqx.filter_jit
def _lead(crowds: PyTree, carried: PyTree, led: PyTree, origin: Int[Array, " path"]) -> PyTree:
    def of_one(crowd: Crowd, state: State, following: Any) -> State:
        return crowd.led(state, jax.tree.map(lambda x: x[origin], following))

    return eqx.filter_vmap(of_one)(crowds, carried, led)
