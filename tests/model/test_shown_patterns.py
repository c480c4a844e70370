"""The likelihood of what was shown is the same whether patterns or whole cells are asked."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

from dgd.model.observation import AtNodes, integrate_groups, integrate_shown
from dgd.model.patterns import lower_triangular
from dgd.model.shown_patterns import ShownPatterns
from dgd.runtime import computing

DATES, UNITS, COHORTS, NODES = 3, 4, 2, 5


def made_up(behaviors: int) -> tuple[AtNodes, Array]:
    rng = np.random.default_rng(behaviors)
    cells = (DATES, UNITS, COHORTS)
    nodes = AtNodes(
        jnp.ones(cells),
        jnp.asarray(rng.dirichlet(np.ones(NODES), cells)),
        jnp.asarray(rng.normal(size=(*cells, behaviors))),
        jnp.asarray(rng.normal(size=(COHORTS, NODES, behaviors))),
    )
    return nodes, jnp.asarray(rng.normal(size=behaviors * (behaviors - 1) // 2))


def brute_force(nodes: AtNodes, psi: np.ndarray, cell: int, pattern: int) -> float:
    """q(y) by the model's own words: node by node, behaviour by behaviour."""
    day, unit, cohort = np.unravel_index(cell, (DATES, UNITS, COHORTS))
    total, behaviors = 0.0, len(psi)
    for node in range(NODES):
        chance, shown = float(nodes.shares[day, unit, cohort, node]), []
        for h in range(behaviors):
            logit = float(nodes.of_cell[day, unit, cohort, h] + nodes.of_node[cohort, node, h])
            logit += sum(psi[h, before] * y for before, y in enumerate(shown))
            yes = 1 / (1 + np.exp(-logit))
            shown.append((pattern >> h) & 1)
            chance *= yes if shown[-1] else 1 - yes
        total += chance
    return total


@pytest.mark.parametrize("behaviors", [1, 2, 5])
def test_a_pattern_asked_alone_has_the_probability_of_its_definition(behaviors: int) -> None:
    with computing():
        nodes, entries = made_up(behaviors)
        psi = lower_triangular(entries, behaviors)
        cell = jnp.asarray([0, 7, 7, 23])
        pattern = jnp.asarray([0, 1, 2**behaviors - 1, 2 ** (behaviors - 1)])
        found = integrate_shown(nodes, psi, cell, pattern)
        asked = zip(cell.tolist(), pattern.tolist(), strict=True)
        wanted = [brute_force(nodes, np.asarray(psi), *each) for each in asked]
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_patterns_asked_alone_have_the_gradients_of_whole_cells() -> None:
    behaviors = 4
    cell, group = jnp.asarray([2, 5, 11]), jnp.asarray([0, 1, 1, 2])
    pattern = jnp.asarray([3, 0, 9, 15])
    with computing():
        nodes, entries = made_up(behaviors)

        def alone(nodes: AtNodes, entries: Array) -> Array:
            psi = lower_triangular(entries, behaviors)
            return jnp.log(integrate_shown(nodes, psi, cell[group], pattern)).sum()

        def of_cells(nodes: AtNodes, entries: Array) -> Array:
            psi, nobody = lower_triangular(entries, behaviors), jnp.zeros((len(cell), behaviors))
            return jnp.log(integrate_groups(nodes, psi, cell, nobody)[pattern, group]).sum()

        slopes = [jax.jit(jax.grad(f, argnums=(0, 1))) for f in (alone, of_cells)]
        found, wanted = (slope(nodes, entries) for slope in slopes)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)


@pytest.mark.parametrize("entries", [3, 12])
def test_few_patterns_and_many_patterns_of_a_cell_are_equally_likely(entries: int) -> None:
    """Of a few the patterns are asked, of many the tree; the counts of one cell are spread."""
    behaviors, rng = 2, np.random.default_rng(0)
    group = np.sort(rng.integers(0, 3, entries))
    pattern, cell = rng.integers(0, 4, entries), np.array([1, 9, 20])
    count = np.ones(entries)
    with computing():
        nodes, pairs = made_up(behaviors)
        psi = lower_triangular(pairs, behaviors)
        shown = ShownPatterns(*(jnp.asarray(x) for x in (cell, group, pattern, count)))
        found = shown.log_likelihood(nodes, psi)
        wanted = np.zeros(DATES)
        for place, number in zip(cell[group], pattern, strict=True):
            likely = brute_force(nodes, np.asarray(psi), int(place), int(number))
            wanted[place // (UNITS * COHORTS)] += np.log(likely)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
