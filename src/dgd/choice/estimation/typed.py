"""People who differ: searches from several starts, on the scale of what the counts tell."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.estimation.information import Information
from dgd.choice.estimation.problem import Problem
from dgd.choice.estimation.search import SearchEnd, search
from dgd.choice.settings import ChoiceSettings
from dgd.choice.starting import first_demand
from dgd.learning.loop import Progress, made_side_by_side
from dgd.runtime import computing

ROUNDS = 4
"""How often the dispersion is taken anew from what the best search has found."""
SETTLED = 0.1
"""The dispersion has settled where it moves by less, relative."""


class Searched(NamedTuple):
    """One search: its start, where it ended, and the arrays it did not move."""

    seed: int
    number: int
    found: SearchEnd
    fixed: Any

    @property
    def demand(self) -> ChoiceDemand:
        return eqx.combine(self.found.free, self.fixed)


class Typed(NamedTuple):
    """Every search, best first, and the scale they were made on."""

    searches: tuple[Searched, ...]
    known: Information

    @property
    def best(self) -> Searched:
        return self.searches[0]

    @property
    def parameters(self) -> int:
        return sum(x.size for x in jax.tree.leaves(self.best.found.free))


def typed(
    problem: Problem,
    seeds: Sequence[int],
    tell: Progress | None,
    stop: threading.Event,
    keep_on_interrupt: bool,
) -> Typed:
    """Search from every start; then the best one says how much shares scatter, and all searches go
    on to the top on that scale."""
    settings = problem.settings
    starts = [(seed, number) for seed in seeds for number in range(settings.starts)]
    demands = [_first(problem, settings, seed, number) for seed, number in starts]

    def searches(
        known: Information, demands: Sequence[ChoiceDemand], finish: bool
    ) -> list[Searched]:
        makers: list[Callable[[], Searched]] = [
            partial(_search, problem, known, start, demand, tell, stop, finish)
            for start, demand in zip(starts, demands, strict=True)
        ]
        return made_side_by_side(makers, stop, keep_on_interrupt)

    known = problem.information(problem.alike, len(problem.logit.tastes) + 1)
    found = searches(known, demands, finish=False)
    best = min(found, key=lambda one: one.found.value)
    for _ in range(ROUNDS):
        size = sum(x.size for x in jax.tree.leaves(best.found.free))
        moved = problem.information(best.demand, size)
        settled = abs(np.log(moved.dispersion / known.dispersion)) < SETTLED
        known = moved
        if settled or stop.is_set():
            break
        start = (best.seed, best.number)
        best = _search(problem, known, start, best.demand, tell, stop, finish=False)
    if not stop.is_set():
        found = searches(known, [one.demand for one in found], finish=True)
    return Typed(tuple(sorted(found, key=lambda one: one.found.value)), known)


def polished(problem: Problem, typed: Typed, demand: ChoiceDemand) -> Searched:
    """The search from `demand`, in the place of the best one."""
    best = typed.best
    free, fixed = problem.divided(demand, alike=False)
    found = search(free, problem.target(fixed, typed.known), problem.settings.epochs)
    return Searched(best.seed, best.number, found, fixed)


def _first(problem: Problem, settings: ChoiceSettings, seed: int, number: int) -> ChoiceDemand:
    rng = np.random.default_rng([seed, number])
    return first_demand(settings, problem.start, len(problem.markets.cohorts), rng)


def _search(
    problem: Problem,
    known: Information,
    start: tuple[int, int],
    demand: ChoiceDemand,
    tell: Progress | None,
    stop: threading.Event,
    finish: bool,
) -> Searched:
    seed, number = start
    most = problem.settings.epochs

    def told(steps: int, value: float) -> None:
        if tell is not None:
            tell(seed, min(steps, most), value)

    with computing():
        free, fixed = problem.divided(demand, alike=False)
        found = search(free, problem.target(fixed, known), most, told, stop, finish)
    return Searched(seed, number, found, fixed)
