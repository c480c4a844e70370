"""How contact answers to effort."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dgd.model.effort import EffortCurve, Proportional
from dgd.model.sweep import observe
from dgd.runtime import computing
from support.compiled import at_rest, predicted
from support.effort_worlds import elastic
from support.random_crowds import COHORTS, random_crowd, random_days


def reached(response, effort):
    with computing():
        return np.asarray(response.reached(jnp.asarray(effort)))


def grid(*efforts):
    return np.broadcast_to(np.array(efforts)[:, None, None], (len(efforts), 1, 3)).copy()


def test_proportional_contact_leaves_effort_as_it_is():
    effort = np.random.default_rng(0).uniform(0.0, 1e6, (4, 2, 3))
    assert reached(Proportional(), effort).tobytes() == effort.tobytes()


@given(
    elasticity=st.floats(0.02, 0.98), saturation=st.floats(0.0, 10.0), usual=st.floats(1e-3, 1e6)
)
@settings(max_examples=30)
def test_more_effort_reaches_more_but_by_a_smaller_share(elasticity, saturation, usual):
    response = elastic(elasticity, saturation, usual)
    found = reached(response, usual * grid(0.0, 0.5, 1.0, 2.0, 4.0))[:, 0, 0] / usual
    assert found[0] == 0.0
    assert found[2] == pytest.approx(1.0, rel=1e-12)
    assert (np.diff(found) > 0).all()
    assert (found[2:] / found[1:-1] < 2.0).all()
    assert found[-1] <= (1 + saturation) / saturation if saturation else True


def test_the_elasticity_is_the_share_by_which_arrivals_rise_without_saturation():
    found = reached(elastic(0.5, usual=10.0), grid(10.0, 40.0))
    np.testing.assert_allclose(found[1] / found[0], 2.0, rtol=1e-12)


def test_where_effort_never_varied_contact_is_proportional_bit_by_bit():
    effort = np.random.default_rng(0).uniform(0.0, 5.0, (4, 2, 3))
    response = elastic(0.3, 2.0, usual=1.7, varied=False)
    assert reached(response, effort).tobytes() == effort.tobytes()
    assert not response.learned(3).any()
    assert response.curve(3).elasticity.tolist() == [1.0, 1.0, 1.0]


def test_plain_numbers_say_what_the_model_computes():
    response = elastic(np.array([0.2, 0.5, 0.9]), 1.5, usual=30.0)
    effort = np.random.default_rng(0).uniform(0.0, 90.0, (4, 2, 3))
    effort[1] = 0.0
    curve = response.curve(3)
    np.testing.assert_allclose(curve.relative(effort) * 30.0, reached(response, effort), rtol=1e-12)
    plain = EffortCurve.proportional(3)
    assert plain.relative(effort).tobytes() == effort.tobytes()
    both = EffortCurve.mean([curve, curve._replace(elasticity=np.array([0.4, 0.7, 0.7]))])
    np.testing.assert_allclose(both.elasticity, [0.3, 0.6, 0.8])


def test_gradients_are_finite_where_there_is_no_effort():
    """One unit of these days has none on the second day."""
    with computing():
        crowd = replace(random_crowd(3), effort=elastic(0.5, 0.5, cohorts=COHORTS))
        inputs, outcomes = random_days(3)
        assert float(inputs.effort.min()) == 0.0
        free, fixed = eqx.partition(crowd, crowd.trainable())

        def total(free, effort):
            whole = eqx.combine(free, fixed)
            days = eqx.tree_at(lambda i: i.effort, inputs, effort)
            return observe(whole, days, outcomes, whole.at_rest()).predictions.arrivals.sum()

        of_crowd, of_effort = jax.jit(jax.grad(total, (0, 1)))(free, inputs.effort)
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves((of_crowd, of_effort))]
    assert all(np.isfinite(leaf).all() for leaf in leaves)
    assert np.abs(np.asarray(of_crowd.effort.raw_elasticity)).min() > 0


def test_training_moves_the_elasticity_and_nothing_that_was_measured():
    free = elastic(0.5).trainable()
    assert (free.raw_elasticity, free.saturation, free.usual, free.varied) == (
        True,
        False,
        False,
        False,
    )


def test_only_arrivals_answer_to_effort():
    """Patterns are those of the same day without any response."""
    with computing():
        plain, (inputs, _) = random_crowd(5), random_days(5)
        other = replace(plain, effort=elastic(0.4, 1.0, usual=0.8, cohorts=COHORTS))
        before, after = (predicted(c, at_rest(c, 6), inputs) for c in (plain, other))
        expected = before.arrivals / inputs.effort * other.effort.reached(inputs.effort)
        worked = np.asarray(inputs.effort) > 0
    np.testing.assert_array_equal(np.asarray(before.patterns), np.asarray(after.patterns))
    np.testing.assert_allclose(
        np.asarray(after.arrivals)[worked], np.asarray(expected)[worked], rtol=1e-12
    )
    assert not np.asarray(after.arrivals)[~worked].any()
