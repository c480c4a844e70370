"""Quadrature: positive weights that sum to one, exact where they should be."""

import numpy as np
import pytest

from dgd import InputError
from dgd.model.quadrature import standard_normal_rule


@pytest.mark.parametrize("dim", [1, 2, 3, 4])
def test_weights_are_positive_and_sum_to_one(dim):
    rule = standard_normal_rule(dim, 7)
    assert (rule.weights > 0).all()
    assert rule.weights.sum() == pytest.approx(1.0, abs=1e-14)
    assert rule.points.shape == (len(rule.weights), dim)


@pytest.mark.parametrize("dim", [1, 2])
def test_gauss_hermite_integrates_polynomials_exactly(dim):
    rule = standard_normal_rule(dim, 7)
    moments = {0: 1.0, 1: 0.0, 2: 1.0, 3: 0.0, 4: 3.0, 6: 15.0, 12: 10395.0}
    for power, moment in moments.items():
        for axis in range(dim):
            integral = rule.weights @ rule.points[:, axis] ** power
            assert integral == pytest.approx(moment, rel=1e-10, abs=1e-10)


def test_product_nodes_integrate_mixed_moments():
    rule = standard_normal_rule(2, 7)
    integral = rule.weights @ (rule.points[:, 0] ** 2 * rule.points[:, 1] ** 4)
    assert integral == pytest.approx(3.0, rel=1e-12)


def test_sobol_nodes_are_fixed_and_close_to_the_normal():
    rule = standard_normal_rule(3, 7)
    again = standard_normal_rule.__wrapped__(3, 7)
    np.testing.assert_array_equal(rule.points, again.points)
    assert len(rule.weights) == 512
    np.testing.assert_allclose(rule.points.mean(0), 0.0, atol=0.02)
    np.testing.assert_allclose(np.cov(rule.points.T), np.eye(3), atol=0.05)


def test_no_nodes_are_refused():
    with pytest.raises(InputError, match="nodes 0"):
        standard_normal_rule(1, 0)
