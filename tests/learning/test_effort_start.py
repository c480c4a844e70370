"""How contact answers to effort, as training days tell it."""

from dataclasses import replace

import numpy as np
import pytest

import dgd
from dgd.learning.effort_start import learned_response
from dgd.model.effort import Elastic, Proportional
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.split import Split
from dgd.runtime import computing
from support.effort_worlds import elastic_world, scattered_effort

SPLIT = Split(0, 60, 67)


def curve_of(panel, split=SPLIT):
    with computing():
        return learned_response(panel, split).curve(len(panel.cohorts))


@pytest.mark.parametrize("elasticity", [0.001, 0.5, 0.999])
def test_the_elasticity_of_a_world_is_found(elasticity):
    found = []
    for seed in (1, 2):
        world = elastic_world(elasticity)
        panel = dgd.simulate(world, 67, seed, effort=scattered_effort(67, seed)).panel
        found.append(curve_of(panel))
    assert not any(curve.saturation.any() for curve in found)
    np.testing.assert_allclose(np.mean([curve.elasticity for curve in found]), elasticity, atol=0.1)
    for curve in found:
        assert (curve.elasticity >= 0.02).all()
        assert (curve.elasticity <= 0.98).all()


def test_the_scale_of_effort_does_not_matter():
    effort = scattered_effort(67, 3)
    panel = dgd.simulate(elastic_world(0.5), 67, 3, effort=effort).panel
    one, other = (curve_of(replace(panel, effort=scale * effort)) for scale in (1.0, 1e4))
    np.testing.assert_allclose(one.elasticity, other.elasticity, atol=1e-6)
    np.testing.assert_allclose(1e4 * one.usual, other.usual)


def test_strong_saturation_is_told_where_levels_lie_far_apart():
    """Over a factor of three nobody asks, whatever the counts."""
    rng = np.random.default_rng(2)
    effort = np.broadcast_to(rng.choice([0.25, 1.0, 4.0, 16.0], (200, 1, 1)), (200, 2, 3)).copy()
    world = elastic_world(0.9, 4.0, usual=5.0, arrivals=400)
    panel = dgd.simulate(world, 200, 2, effort=effort).panel
    assert (curve_of(panel, Split(0, 180, 190)).saturation > 0).any()
    near = np.clip(effort, 0.5, 1.5)
    panel = dgd.simulate(world, 200, 2, effort=near).panel
    assert not curve_of(panel, Split(0, 180, 190)).saturation.any()


def test_effort_that_never_varied_is_answered_in_proportion():
    panel = dgd.simulate(elastic_world(0.5), 67, 1, effort=np.full((67, 2, 3), 3.0)).panel
    assert panel.has_effort
    with computing():
        assert isinstance(learned_response(panel, SPLIT), Proportional)
        closed = panel.effort.copy()
        closed[5:9] = 0.0
        patterns = panel.patterns.copy()
        patterns[5:9] = 0
        shut = replace(panel, effort=closed, counts=PatternCounts.of(patterns))
        assert isinstance(learned_response(shut, SPLIT), Proportional)


def test_a_cohort_whose_effort_never_varied_keeps_the_assumption():
    effort = scattered_effort(67, 4)
    effort[:, :, 1] = 2.0
    panel = dgd.simulate(elastic_world(0.5), 67, 4, effort=effort).panel
    with computing():
        response = learned_response(panel, SPLIT)
    assert isinstance(response, Elastic)
    assert response.learned(3).tolist() == [True, False, True]
    assert response.curve(3).elasticity[1] == 1.0


def test_what_comes_after_training_does_not_move_the_response():
    effort = scattered_effort(67, 5)
    panel = dgd.simulate(elastic_world(0.5), 67, 5, effort=effort).panel
    other = effort.copy()
    other[60:] *= 7
    before, after = curve_of(panel), curve_of(replace(panel, effort=other))
    np.testing.assert_array_equal(before.elasticity, after.elasticity)


def test_few_counts_fall_back_to_what_cohorts_share():
    """A cohort that hardly arrives takes the elasticity of the others, not 1."""
    world = elastic_world(0.5)
    few = np.array([1.0, 1.0, 1e-2])
    panel = dgd.simulate(world, 67, 6, effort=scattered_effort(67, 6)).panel
    rng = np.random.default_rng(1)
    thinned = rng.binomial(panel.patterns, np.broadcast_to(few[:, None], panel.patterns.shape[1:]))
    found = curve_of(replace(panel, counts=PatternCounts.of(thinned))).elasticity
    assert abs(found[2] - found[:2].mean()) < 0.2
