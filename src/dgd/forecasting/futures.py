r"""Futures drawn day by day: what is drawn on one day moves the states that meet the next.

A path of counts follows the pooled forecast, scattered by its shocks, and what it draws is fed
back into the model as if it had been recorded. Several futures of the same days (a plan and a
changed plan) share every chance: shocks are the same, and where a future expects more of a
pattern than the first one does, the surplus alone is drawn, where less, the first one's counts are
thinned. Each future by itself is drawn as if it were alone, and differences hold no noise but
their own.

A changed future has the level of the first, moved as far as the model says the change moves it,

.. math:: \hat N^k = \hat N^0 \frac{M^k}{M^0}, \qquad q^k \propto q^0 \frac{q^{M,k}}{q^{M,0}}

for counts alone know nothing of causes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from dgd.forecasting.pool import Pool
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
    ) -> None:
        self._innovations, self._of_origin = crowds.innovations, carried.innovations
        self._crowds, self._ahead = replace(crowds, innovations=None), ahead
        self._origin = jnp.asarray(origin)
        self._carried = _taken(replace(carried, innovations=None), self._origin)

    def expected(self, step: int) -> _Expected:
        known = (self._crowds, self._carried, self._ahead[step], self._origin)
        if self._innovations is None:
            return _predict(*known)
        corrected, following = _corrected(self._innovations, self._of_origin, self._ahead[step])
        self._of_origin = following
        return _predict(*known, corrected)

    def advance(
        self, step: int, expected: _Expected, counts: Int[np.ndarray, "crowd path ..."]
    ) -> None:
        bits = behavior_bits(int(counts.shape[-1]).bit_length() - 1)
        arrivals, shown = counts.sum(-1).astype(np.float64), counts @ bits
        recorded = (jnp.asarray(arrivals), jnp.asarray(shown))
        day = self._ahead[step]
        self._carried = _advance(
            self._crowds, self._carried, day, self._origin, expected.arrivals, *recorded
        )


def drawn_futures(
    crowds: Sequence[Crowd],
    carried: Sequence[State],
    futures: Sequence[Sequence[Inputs]],
    pool: Pool,
    scatter: Scatter,
    rng: np.random.Generator,
    paths: int,
) -> Iterator[DrawnDays]:
    """Draw `paths` paths of every future, step after step; path i belongs to crowd i modulo their
    number.

    Args:
        carried: what each crowd carries into the first day ahead of every origin.
        futures: each the days ahead, one after another, of every origin; the first is the one
            that `pool` speaks of.
    """
    crowds, carried = crowds[:paths], carried[:paths]
    each = -(-paths // len(crowds))
    origins = futures[0][0].size.shape[0]
    origin = np.tile(np.arange(origins), each)
    lead = (len(crowds), each, origins)
    walks = []
    if pool.needs_the_model or len(futures) > 1:
        together, states = stacked(crowds), stacked(carried)
        walks = [_Walk(together, states, ahead, origin) for ahead in futures]
    shocks = Shocks(scatter, rng, lead)
    cells = (*futures[0][0].size.shape[1:], 2 ** scatter.behaviors.shape[1])
    for step in range(len(futures[0])):
        expected = [walk.expected(step) for walk in walks]
        means = _means(pool, step, expected, lead, cells)
        busy = shocks.busyness(step + 1, cells[0])
        answers = shocks.answering(step + 1, _overall_rates(means[0]))
        counts = _coupled(rng, [_shaken(mean, busy, answers) for mean in means])
        yield tuple(found.swapaxes(0, 1).reshape(-1, origins, *cells)[:paths] for found in counts)
        for walk, expects, found in zip(walks, expected, counts, strict=bool(walks)):
            walk.advance(step, expects, found.reshape(len(crowds), each * origins, *cells))


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


def _means(
    pool: Pool,
    step: int,
    expected: Sequence[_Expected],
    lead: tuple[int, ...],
    cells: tuple[int, ...],
) -> list[np.ndarray]:
    """Expected counts of every pattern, of every future."""
    if not expected:
        nobody = np.zeros((1, 1, lead[2], *cells[:2]))
        alone = pool.arrivals_at(step, nobody)
        return [alone[..., None] * pool.patterns_at(step, np.zeros((*nobody.shape, cells[2])))]
    model = [
        (
            np.asarray(one.arrivals).reshape(*lead, *cells[:2]),
            np.asarray(one.patterns).reshape(*lead, *cells),
        )
        for one in expected
    ]
    arrivals, patterns = model[0]
    first = (pool.arrivals_at(step, arrivals), pool.patterns_at(step, patterns))
    found = [first[0][..., None] * first[1]]
    for more, other in model[1:]:
        known = arrivals > 0
        level = np.where(known, first[0] * (more / np.where(known, arrivals, 1.0)), more)
        moved = first[1] * (other / np.maximum(patterns, SMALLEST))
        found.append(level[..., None] * (moved / moved.sum(-1, keepdims=True)))
    return found


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
    arrays = jax.tree.map(lambda *same: jnp.stack(same), *(array for array, _ in parts))
    return eqx.combine(arrays, parts[0][1])


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
