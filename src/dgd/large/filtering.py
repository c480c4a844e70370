"""Innovations of very many units: their days are walked once, block of units by block.

What levels of all units and of cohorts learn on a day is made of what every unit counted. So days
run outside: every block says what its counts tell of these levels, the sums move them, and then
every block corrects what is its own. Nothing but where the filter stands is held, numbers of a cell
and not of a cell and day; what is asked for is kept on the way, some days of all units or all days
of some. Where units are spread over processes each walks its own, and sums go over all of them.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dgd.model.crowd import Crowd
from dgd.model.days import CohortTotals, Inputs
from dgd.model.feedback.environment import EnvironmentState
from dgd.model.feedback.feedback import State
from dgd.model.innovations import (
    LEADS,
    POOLED_AXES,
    SLIVER,
    ArrivalState,
    Innovations,
    InnovationState,
    LevelState,
    Told,
    of_tree,
)
from dgd.model.observation import integrate
from dgd.model.sweep import carried_paths
from dgd.model.unit_parameters import crowd_of_units
from dgd.panel.features import FeatureMaker, season_loadings
from dgd.panel.panel import Panel
from dgd.panel.some_units import blocks_of_units, panel_of_units
from dgd.processes.group import SHARDED, Group

Units: TypeAlias = Int[np.ndarray, " some"]
Levels: TypeAlias = tuple[LevelState, ...]


class _Smoothed(NamedTuple):
    """Where the smoothers of arrivals stand at the beginning of a day, of every level."""

    means: tuple[Array, ...]
    covariances: tuple[Array, ...]


class _Day(NamedTuple):
    """What the smoothers meet on a day, of all units at hand."""

    log_arrivals: Float[Array, "unit cohort"]
    arrivals: Float[Array, "unit cohort"]
    ahead: Float[Array, "lead unit cohort"]
    """Expected log arrivals of the days for which smoothers are weighed."""
    season: Float[Array, " place"]
    seasons_ahead: Float[Array, "lead place"]


class _Met(NamedTuple):
    """What is expected of the patterns of some units on a day, and what is counted."""

    logits: Float[Array, "#unit cohort node"]
    shown: Float[Array, "unit cohort node"]
    asked: Float[Array, "unit cohort node"]


def carried_of_cohorts(crowd: Crowd, panel: Panel, first: int) -> dict[str, Array]:
    """What cohorts carry at the beginning of every day from the one numbered `first` on."""
    everyone = panel.together
    totals = CohortTotals(
        jnp.asarray(everyone.arrivals[first:], jnp.float64),
        jnp.asarray(everyone.behavior_counts[first:], jnp.float64),
    )
    return carried_paths(crowd, totals, crowd.at_rest())


class Filtering:
    """One crowd's pass through the counted days of a panel, from the day numbered `first` on."""

    def __init__(
        self,
        crowd: Crowd,
        panel: Panel,
        maker: FeatureMaker,
        first: int,
        block: int,
        group: Group,
    ) -> None:
        assert crowd.innovations is not None
        self._crowd, self._innovations = crowd, crowd.innovations
        self._panel, self._first, self._group = panel, first, group
        self._carried = carried_of_cohorts(crowd, panel, first)
        self._days, self._cohorts = panel.days - first, len(panel.cohorts)
        self._season = season_loadings(panel, panel.known_dates[first : panel.days])
        self._room = int(group.maximum(len(panel.units)))
        self._blocks = [
            _Block(crowd, panel, maker, units, first)
            for units in blocks_of_units(len(panel.units), block)
        ]

    def kept(self, units: Units, days: Sequence[int]) -> State:
        """The state of some units at the beginning of some days (numbers of the panel)."""
        wanted = np.array(days) - self._first
        known: dict[int, InnovationState] = {}
        log_arrivals, totals = self._log_arrivals(), []
        smoothed = _Smoothed(*self._innovations.smoothers.at_first(self._room, self._cohorts))
        step, local = _everywhere(self._innovations, self._group)
        for day in range(self._days + 1):
            if day in wanted:
                means = jax.tree.map(local, smoothed.means)
                known[day] = self._standing(means, units)
            if day < self._days:
                smoothed, expected = step(smoothed, self._day(day, log_arrivals))
                totals.append(np.asarray(local(expected)))
                self._correct(day)
        weights = self._weights(np.stack(totals))
        found = jax.tree.map(lambda *x: jnp.concatenate(x), *(known[day] for day in wanted))
        found = eqx.tree_at(lambda x: x.arrivals.weights, found, weights[wanted])
        calm = EnvironmentState(jnp.zeros(len(days)), jnp.zeros((len(days), len(units))))
        return State({name: x[wanted] for name, x in self._carried.items()}, calm, found)

    def _correct(self, day: int) -> None:
        """Patterns a day on: what all blocks tell, then every block by itself."""
        season = jnp.asarray(self._season[day, : max(self._innovations.places)])
        told = [block.told(day, season, self._carried) for block in self._blocks]
        sums = [
            self._group.sum(sum(np.asarray(x) for x in same)) for same in zip(*told, strict=True)
        ]
        fields = len(Told._fields)
        of_levels = tuple(
            Told(*map(jnp.asarray, sums[n : n + fields])) for n in range(0, len(sums), fields)
        )
        for block in self._blocks:
            block.correct(season, of_levels)

    def _standing(self, means: tuple[Array, ...], units: Units) -> InnovationState:
        """Where the filter stands, of some units."""
        levels = [block.state for block in self._blocks]
        apart = [-3 not in POOLED_AXES[level] for level in self._innovations.patterns.levels]
        whole = tuple(
            jax.tree.map(lambda *x: jnp.concatenate(x, -3), *same) if own else same[0]
            for same, own in zip(zip(*levels, strict=True), apart, strict=True)
        )
        parts = tuple(x[None] for x in means)
        nothing = jnp.zeros((1, 0, self._innovations.smoothers.number))
        state = InnovationState(ArrivalState(parts, nothing, jnp.zeros(1)), whole)
        return self._innovations.of_units(state, units)

    def _day(self, day: int, log_arrivals: Float[np.ndarray, "date unit cohort"]) -> _Day:
        ahead = [min(day + lead, self._days - 1) for lead in LEADS]
        nobody = float(np.log(SLIVER))
        arrivals = self._panel.arrivals[self._first + day].astype(np.float64)
        return _Day(
            self._filled(log_arrivals[day], nobody),
            self._filled(arrivals),
            self._filled(log_arrivals[ahead].swapaxes(0, 1), nobody).swapaxes(0, 1),
            jnp.asarray(self._season[day]),
            jnp.asarray(self._season[ahead]),
        )

    def _filled(self, own: np.ndarray, with_: float = 0.0) -> Any:
        """The same with units that nobody can arrive at, as many as other processes have more."""
        more = self._room - len(own)
        return np.pad(own, ((0, more), *((0, 0),) * (own.ndim - 1)), constant_values=with_)

    def _log_arrivals(self) -> Float[np.ndarray, "date unit cohort"]:
        found = [block.arrivals(self._carried) for block in self._blocks]
        return np.log(np.maximum(np.concatenate(found, 1), SLIVER))

    def _weights(self, totals: Float[np.ndarray, "date lead smoother"]) -> Array:
        recorded = self._panel.together.arrivals[self._first :].sum(-1).astype(np.float64)
        known = [
            jnp.asarray(totals[: max(self._days - lead, 0), n]) for n, lead in enumerate(LEADS)
        ]
        return _weights(self._innovations, known, jnp.asarray(recorded))


class _Block:
    """Some units: what the rest of the model expects of them, and where their patterns stand."""

    def __init__(
        self, crowd: Crowd, panel: Panel, maker: FeatureMaker, units: Units, first: int
    ) -> None:
        assert crowd.innovations is not None
        self._innovations = crowd.innovations
        some, own, days = panel_of_units(panel, units), maker.of_units(units), panel.days
        self._counts, self._first = some.counts, first
        dates, features = panel.known_dates[first:days], some.features[first:days]
        self._crowd = crowd_of_units(crowd, jnp.asarray(units))
        self._inputs = Inputs(
            jnp.asarray(own.known(some, dates, features)),
            jnp.asarray(own.summaries(some)[first:days]),
            jnp.asarray(some.size[first:days]),
            jnp.asarray(some.effort[first:days]),
        )
        behaviors, places = len(panel.behaviors), crowd.innovations.places
        shape = (len(units), len(panel.cohorts), behaviors)
        self.state = crowd.innovations.patterns.at_rest(*shape, places)
        # units that no feature tells apart are expected to answer alike
        alike = self._inputs.features.shape[-1] == 0
        self._asked_of = slice(0, 1) if alike else slice(None)
        self._met = _Met(*(jnp.zeros((0, 0, 0)),) * 3)

    def arrivals(self, carried: dict[str, Array]) -> Float[np.ndarray, "date unit cohort"]:
        days = len(self._inputs.size)
        state = _calm({name: path[:days] for name, path in carried.items()}, self._inputs)
        return np.asarray(_arrivals(self._crowd, state, self._inputs))

    def told(
        self, day: int, season: Float[Array, " place"], carried: dict[str, Array]
    ) -> list[Array]:
        """What the day's counts of these units say of the levels that pool them."""
        units = self._asked_of
        met = jax.tree.map(lambda x: x[day : day + 1, units], self._inputs)
        state = _calm({name: path[day : day + 1] for name, path in carried.items()}, met)
        crowd = crowd_of_units(self._crowd, jnp.arange(len(self._inputs.size[0]))[units])
        at = self._first + day
        counts = np.moveaxis(self._counts.between(at, at + 1).grid, -1, 0)
        patterns = _of_tree(jnp.asarray(counts, jnp.float64))
        self._met = _Met(_logits(crowd, state, met), *patterns)
        return jax.tree.leaves(_told(self._innovations, self.state, season, self._met))

    def correct(self, season: Float[Array, " place"], told: tuple[Told, ...]) -> None:
        """A day on."""
        self.state = _corrected(self._innovations, self.state, season, self._met, told)


def _calm(carried: dict[str, Array], inputs: Inputs) -> State:
    days, units, _ = inputs.size.shape
    return State(carried, EnvironmentState(jnp.zeros(days), jnp.zeros((days, units))))


@eqx.filter_jit
def _arrivals(crowd: Crowd, state: State, inputs: Inputs) -> Float[Array, "date unit cohort"]:
    return crowd.at_nodes(state, inputs).arrivals


@eqx.filter_jit
def _logits(crowd: Crowd, state: State, inputs: Inputs) -> Float[Array, "unit cohort node"]:
    nodes = crowd.at_nodes(state, inputs)
    shown, lacking = of_tree(integrate(nodes, crowd.response.dependence).patterns)
    return (jnp.log(shown) - jnp.log(lacking))[0]


@eqx.filter_jit
def _of_tree(counts: Float[Array, "pattern 1 unit cohort"]) -> tuple[Array, Array]:
    """How many have shown a node's behaviour, and how many have come to it."""
    shown, lacking = of_tree(counts)
    return shown[0], (shown + lacking)[0]


@eqx.filter_jit
def _told(innovations: Innovations, state: Levels, season: Array, met: _Met) -> tuple[Told, ...]:
    return innovations.patterns.told(state, met.logits, season, met.shown, met.asked)


@eqx.filter_jit
def _corrected(
    innovations: Innovations,
    state: Levels,
    season: Array,
    met: _Met,
    told: tuple[Told, ...],
) -> Levels:
    patterns, counts = innovations.patterns, (met.shown, met.asked)
    return patterns.advance(patterns.corrected(state, met.logits, season, *counts, told))


def _smooth(innovations: Innovations, smoothed: _Smoothed, day: _Day) -> tuple[_Smoothed, Array]:
    """A day on, and what smoothers expected of all units at its beginning."""
    smoothers, season = innovations.smoothers, day.season[: max(innovations.places)]
    parts = tuple(x[None] for x in smoothed.means)
    totals = [
        smoothers.totals(parts, day.ahead[n][None], day.seasons_ahead[n][None, : len(season)], lead)
        for n, lead in enumerate(LEADS)
    ]
    known = (day.log_arrivals, season, day.arrivals)
    return _Smoothed(*smoothers.corrected(*smoothed, *known)), jnp.concatenate(totals)


_smoothed_here = eqx.filter_jit(_smooth)


@eqx.filter_jit
def _weights(innovations: Innovations, totals: Any, found: Array) -> Array:
    return innovations.smoothers.weights(totals, found)


def _everywhere(
    innovations: Innovations, group: Group
) -> tuple[Callable[[Any, _Day], tuple[Any, Any]], Callable[[Any], Array]]:
    """A step of the smoothers on all processes at once, and what a process has of its outcome.

    Every array has a leading axis over processes, those that all share included.
    """
    if group.count == 1:
        return partial(_smoothed_here, innovations), lambda x: x

    def own(smoothed: Any, day: Any) -> Any:
        here = jax.tree.map(lambda x: x[0], (smoothed, day))
        return jax.tree.map(lambda x: x[None], _smooth(innovations, *here))

    mapped = jax.jit(
        jax.shard_map(own, mesh=group.mesh(), in_specs=SHARDED, out_specs=SHARDED, check_vma=False)
    )

    def placed(x: Any) -> jax.Array:
        is_placed = isinstance(x, jax.Array) and not x.is_fully_addressable
        return x if is_placed else group.sharded(np.asarray(x)[None])

    def step(smoothed: Any, day: _Day) -> tuple[Any, Any]:
        found: tuple[Any, Any] = mapped(*jax.tree.map(placed, (smoothed, day)))
        return found

    def local(x: Any) -> Array:
        is_placed = isinstance(x, jax.Array) and not x.is_fully_addressable
        return jnp.asarray(group.local(x)[0]) if is_placed else jnp.asarray(x)

    return step, local
