"""What all units together are expected to do after an origin: worked out once, for every part.

Steps run outside, blocks of units inside: each block predicts the day, what cohorts do is added up
over blocks and processes, and moves what they carry into the next day. After one origin all units
are walked; after several, as in backtests and at past origins, some stand for all, weighed up by
arrivals.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from dgd.large.block_size import units_at_once, units_walked
from dgd.model.crowd import Crowd
from dgd.model.days import CohortTotals, Inputs
from dgd.model.feedback.feedback import State
from dgd.model.unit_parameters import crowd_of_units
from dgd.panel.features import FeatureMaker
from dgd.panel.panel import Panel
from dgd.panel.sequences import days_ahead
from dgd.panel.some_units import blocks_of_units, panel_of_units
from dgd.processes.group import Group
from dgd.runtime import computing

Carried: TypeAlias = dict[str, Float[Array, "date cohort ..."]]
Origins: TypeAlias = Int[np.ndarray, " origin"]
Units: TypeAlias = Int[np.ndarray, " some"]
Told: TypeAlias = Callable[[int, int, Units, np.ndarray, np.ndarray], None]
"""Told (crowd, step, units, arrivals, rates) of every block that was walked."""
RECENT = 28
"""Days whose arrivals say for how many others some units stand."""


@runtime_checkable
class WholeFit(Protocol):
    """What is needed of a fit of all units."""

    @property
    def panel(self) -> Panel: ...
    @property
    def features(self) -> FeatureMaker: ...
    @property
    def crowds(self) -> tuple[Crowd, ...]: ...
    @property
    def group(self) -> Group: ...
    def state_of(self, number: int, units: Units, origins: Origins) -> State: ...


class AllAhead:
    """The days ahead of all units of a fit."""

    def __init__(self, whole: WholeFit) -> None:
        self._whole = whole
        self._found: dict[tuple[Any, ...], Any] = {}

    def following(
        self, panel: Panel, origins: Origins, horizon: int
    ) -> tuple[tuple[Carried, ...], ...]:
        """Of every crowd: what cohorts carry into the day after each of the steps but the last,
        and for that what they carried into it."""
        key = (tuple(origins.tolist()), horizon, len(panel.known_dates))
        if key not in self._found:
            self._found[key] = self.walked(panel, origins, horizon - 1)
        return tuple(self._found[key])

    def walked(
        self, panel: Panel, origins: Origins, steps: int, told: Told | None = None
    ) -> tuple[tuple[Carried, ...], ...]:
        """Walk so many steps; of every crowd, what cohorts carry into the day after each, and
        once more what they carry then."""
        whole, crowds = self._whole, self._whole.crowds
        with computing():
            units = units_walked(panel, origins, steps, whole.group)
            some = units if len(units) else np.zeros(1, np.int64)
            first = [whole.state_of(number, some, origins) for number in range(len(crowds))]
            paths: list[list[Carried]] = [[state.carried] for state in first]
            times = self._times(panel, units, origins)
            blocks = [
                _Block(whole, panel, units[at], at, origins, steps, first)
                for at in blocks_of_units(len(units), units_at_once(panel))
            ]
            for step in range(steps):
                for number, crowd in enumerate(crowds):
                    arrivals = np.zeros((len(origins), len(panel.cohorts)))
                    shown = np.zeros((*arrivals.shape, len(panel.behaviors)))
                    for block in blocks:
                        came, did = block.expect(number, step, paths[number][-1], told)
                        arrivals, shown = arrivals + came, shown + did
                    arrivals, shown = whole.group.sum(arrivals), whole.group.sum(shown)
                    totals = CohortTotals(
                        jnp.asarray(times * arrivals), jnp.asarray(times[..., None] * shown)
                    )
                    paths[number].append(
                        crowd.feedback.advance_carried(paths[number][-1], totals, crowd.reference)
                    )
        return tuple((*path[1:], path[-1]) for path in paths)

    def _times(
        self, panel: Panel, units: Units, origins: Origins
    ) -> Float[np.ndarray, "origin cohort"]:
        """By what sums over these units are multiplied to be those of all."""
        group, everyone = self._whole.group, panel.together
        walked = float(group.sum(float(len(units))))
        if walked == everyone.units:
            return np.ones((len(origins), len(panel.cohorts)))
        some = panel.arrivals[:, units].sum(1)
        days = [slice(max(0, origin + 1 - RECENT), origin + 1) for origin in origins]
        theirs = group.sum(np.stack([some[recent].sum(0) for recent in days]))
        all_of = np.stack([everyone.arrivals[recent].sum(0) for recent in days])
        return np.where(theirs > 0, all_of / np.maximum(theirs, 1), everyone.units / walked)


class _Block:
    """Some units on their way."""

    def __init__(
        self,
        whole: WholeFit,
        panel: Panel,
        units: Units,
        at: Units,
        origins: Origins,
        steps: int,
        first: list[State],
    ) -> None:
        self._units = units
        self._crowds = [crowd_of_units(crowd, jnp.asarray(units)) for crowd in whole.crowds]
        some, maker = panel_of_units(panel, units), whole.features.of_units(units)
        self._ahead = days_ahead(some, maker, origins, steps)
        pairs = zip(self._crowds, first, strict=True)
        self._states = [crowd.state_of_units(state, at) for crowd, state in pairs]

    def expect(
        self, number: int, step: int, carried: Carried, told: Told | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """What these units are expected to do on a day, cohort by cohort; they then go on."""
        crowd, state = self._crowds[number], replace(self._states[number], carried=carried)
        self._states[number], arrivals, rates, *sums = _expect(crowd, state, self._ahead[step])
        if told is not None:
            told(number, step, self._units, np.asarray(arrivals), np.asarray(rates))
        return np.asarray(sums[0]), np.asarray(sums[1])


@eqx.filter_jit
def _expect(crowd: Crowd, state: State, inputs: Inputs) -> tuple[State, Array, Array, Array, Array]:
    """The state a day later but for what cohorts carry; arrivals and behaviour rates of every
    cell, arrivals and behaviours of every cohort."""
    found = crowd.predict(state, inputs)
    following = crowd.led(state, state.carried)
    return following, found.arrivals, found.rates, found.arrivals.sum(1), found.behaviors.sum(1)
