"""The pattern tree against brute force, and its gradient against other ways of getting it."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from dgd.model import behavior_bits, patterns
from dgd.model.patterns import integrate_patterns
from dgd.runtime import computing

compiled = jax.jit(integrate_patterns)


def log_total(*arrays):
    return jnp.log(integrate_patterns(*arrays)).sum()


def draw(seed, behaviors=3, nodes=4, cells=5, scale=1.5):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(nodes), cells).T
    dependence = np.tril(scale * rng.normal(size=(behaviors, behaviors)), -1)
    return scale * rng.normal(size=(behaviors, nodes, cells)), weights, dependence


def enumerate_patterns(logits, weights, dependence):
    """The definition, one pattern, node and cell at a time."""
    behaviors, nodes, cells = logits.shape
    q = np.zeros((2**behaviors, cells))
    for y in product([0, 1], repeat=behaviors):
        number = sum(bit * 2**h for h, bit in enumerate(y))
        for i, c in np.ndindex(nodes, cells):
            p = 1.0
            for h in range(behaviors):
                eta = logits[h, i, c] + sum(dependence[h, k] * y[k] for k in range(h))
                p *= expit(eta) if y[h] else expit(-eta)
            q[number, c] += weights[i, c] * p
    return q


def test_bits_write_the_pattern_number():
    for number, bits in enumerate(behavior_bits(4)):
        assert sum(bit * 2**h for h, bit in enumerate(bits)) == number


@pytest.mark.parametrize("behaviors", [1, 2, 3, 5])
def test_tree_equals_brute_force_enumeration(behaviors):
    given_arrays = draw(behaviors, behaviors)
    with computing():
        q = compiled(*map(jnp.asarray, given_arrays))
    np.testing.assert_allclose(q, enumerate_patterns(*given_arrays), rtol=1e-13, atol=1e-16)


@given(seed=st.integers(0, 10**6), scale=st.floats(0.01, 60.0))
@settings(max_examples=40, deadline=None)
def test_patterns_are_positive_and_sum_to_one(seed, scale):
    with computing():
        q = np.asarray(compiled(*map(jnp.asarray, draw(seed, scale=scale))))
    assert (q > 0).all()
    np.testing.assert_allclose(q.sum(0), 1.0, atol=1e-12)


def test_extreme_logits_stay_finite_in_value_and_gradient():
    logits, weights, dependence = draw(1)
    with computing():
        value, gradients = jax.jit(jax.value_and_grad(log_total, (0, 1, 2)))(
            *map(jnp.asarray, (1e4 * logits, weights, dependence))
        )
    assert np.isfinite(value)
    assert all(np.isfinite(gradient).all() for gradient in gradients)


def autodiff_patterns(logits, weights, dependence):
    """The same probabilities without the custom gradient rule."""
    bits = behavior_bits(len(logits))
    eta = logits[None] + (bits @ dependence.T)[:, :, None, None]
    sign = (2.0 * bits - 1.0)[:, :, None, None]
    return (weights[None] * jnp.exp(jax.nn.log_sigmoid(sign * eta).sum(1))).sum(1)


def test_gradient_rule_equals_plain_autodiff():
    given_arrays = draw(3, behaviors=4)
    towards = np.random.default_rng(9).normal(size=(16, 5))
    with computing():
        ours, plain = (
            jax.jit(jax.grad(lambda *a, of=of: (towards * of(*a)).sum(), (0, 1, 2)))(
                *map(jnp.asarray, given_arrays)
            )
            for of in (integrate_patterns, autodiff_patterns)
        )
    np.testing.assert_allclose(ours[0], plain[0], atol=1e-14)
    np.testing.assert_allclose(ours[1], plain[1], atol=1e-14)
    np.testing.assert_allclose(np.tril(ours[2], -1), np.tril(plain[2], -1), atol=1e-13)


def test_blocks_do_not_change_the_answer(monkeypatch):
    given_arrays = draw(5, cells=37)

    def value_and_slopes():
        of = jax.value_and_grad(log_total, (0, 1, 2))
        return jax.jit(of)(*map(jnp.asarray, given_arrays))

    with computing():
        whole = value_and_slopes()
        monkeypatch.setattr(patterns, "BLOCK_ELEMENTS", 8 * 4 * 10)
        parts = value_and_slopes()
    np.testing.assert_allclose(whole[0], parts[0], rtol=1e-12)
    for one, other in zip(whole[1], parts[1], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
