"""As many quadrature nodes as the answer needs."""

import equinox as eqx
import numpy as np

from dgd.choice.choice_demand import ChoiceDemand
from dgd.choice.estimation.agreement import substitution
from dgd.choice.estimation.problem import Problem
from dgd.choice.estimation.typed import Searched, Typed, polished
from dgd.learning.setting_checks import MOST_POINTS
from dgd.model.quadrature import MAX_NODES

MORE = (11, 15, 21, 31)
"""Nodes per dimension that are tried where fewer do not do."""
MOVED = 0.01
"""Nodes do where more of them move elasticity, relative, and diversion by less."""


def with_nodes(demand: ChoiceDemand, nodes: int) -> ChoiceDemand:
    return eqx.tree_at(lambda d: d.population, demand, demand.population.with_nodes(nodes))


def enough(problem: Problem, typed: Typed) -> tuple[Searched, int]:
    """The best search, on as many nodes as are needed that more would say the same."""
    best, nodes = typed.best, problem.settings.nodes
    for more in MORE:
        points = problem.settings.components * more**problem.settings.dim
        if more <= nodes or more > MAX_NODES or points > MOST_POINTS:
            continue
        if not moves(problem, best.demand, finer(nodes)):
            break
        nodes = more
        best = polished(problem, typed._replace(searches=(best,)), with_nodes(best.demand, nodes))
    return best, nodes


def finer(nodes: int) -> int:
    """How many nodes others are held against."""
    return min(2 * nodes + 1, MAX_NODES)


def moves(problem: Problem, demand: ChoiceDemand, nodes: int) -> bool:
    """Whether `nodes` nodes say something else than those of `demand`."""
    if demand.population.with_nodes(nodes) is demand.population:
        return False
    markets, offers = problem.markets, problem.offers
    (elastic, left), (finely, finely_left) = (
        substitution(one, markets, offers) for one in (demand, with_nodes(demand, nodes))
    )
    far = max(abs(elastic - finely) / max(abs(finely), 0.1), abs(left - finely_left))
    return bool(np.isnan(far) or far > MOVED)
