"""What innovations promise: small where much is known, nothing where variances are zero."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from dgd.model.innovations import ArrivalParts, Innovations, PatternParts, joint, of_tree
from dgd.model.shape import Shape
from dgd.model.sweep import expect_next, observe, states_at_dawn
from dgd.runtime import computing
from support.random_crowds import BEHAVIORS, COHORTS, UNITS, random_crowd, random_days

DAYS, PLACES = 9, 8


@pytest.fixture(autouse=True)
def _in_64_bits():
    with computing():
        yield


def _seasons(days: int) -> np.ndarray:
    """Weekdays, and a holiday on the fifth day that is half a Sunday."""
    seasons = np.eye(PLACES)[np.arange(days) % 7]
    seasons[4] = 0.0
    seasons[4, [4, 6, 7]] = (0.5, 0.5, 1.0)
    return seasons


def _innovations() -> Innovations:
    return Innovations.starting(
        Shape(UNITS, COHORTS, BEHAVIORS, 4, 2, 1, 5, contexts=0, places=PLACES)
    )


def _without_variances(innovations: Innovations) -> Innovations:
    nothing = lambda x: jnp.full_like(x, -jnp.inf)  # noqa: E731

    def still(parts: PatternParts | ArrivalParts) -> PatternParts | ArrivalParts:
        levels = {name: nothing(getattr(parts, name)) for name in ("first", "walk", "quick")}
        return replace(parts, **levels, season=nothing(parts.season))

    return replace(
        innovations, arrivals=still(innovations.arrivals), patterns=still(innovations.patterns)
    )


def _corrected_crowd(seed: int = 0):
    inputs, outcomes = random_days(seed, DAYS)
    crowd = replace(random_crowd(seed), innovations=_innovations())
    return crowd, replace(inputs, season=jnp.asarray(_seasons(DAYS))), outcomes


def test_the_tree_of_patterns_leads_back_to_them():
    patterns = jnp.asarray(
        np.moveaxis(np.random.default_rng(0).dirichlet(np.ones(8), (4, 3, 2)), -1, 0)
    )
    shown, lacking = of_tree(patterns)
    np.testing.assert_allclose(joint(shown / (shown + lacking)), patterns, rtol=1e-12)


def test_without_variances_it_is_the_model_without_innovations():
    crowd, inputs, outcomes = _corrected_crowd()
    still = replace(crowd, innovations=_without_variances(crowd.innovations))
    plain = replace(crowd, innovations=None)
    found = observe(still, inputs, outcomes, still.at_rest())
    wanted = observe(plain, inputs, outcomes, plain.at_rest())
    np.testing.assert_allclose(found.predictions.arrivals, wanted.predictions.arrivals, rtol=1e-12)
    np.testing.assert_allclose(
        found.predictions.patterns, wanted.predictions.patterns, rtol=1e-9, atol=1e-13
    )
    ahead = expect_next(still, found, inputs)[1], expect_next(plain, wanted, inputs)[1]
    np.testing.assert_allclose(ahead[0].patterns, ahead[1].patterns, rtol=1e-9, atol=1e-13)


def test_patterns_sum_to_one_and_gradients_are_finite():
    crowd, inputs, outcomes = _corrected_crowd()

    def likelihood(innovations: Innovations) -> jax.Array:
        sweep = observe(replace(crowd, innovations=innovations), inputs, outcomes, crowd.at_rest())
        return (outcomes.patterns * jnp.log(sweep.predictions.patterns)).sum()

    sweep = observe(crowd, inputs, outcomes, crowd.at_rest())
    np.testing.assert_allclose(sweep.predictions.patterns.sum(0), 1.0, rtol=1e-12)
    slopes = jax.grad(likelihood)(crowd.innovations)
    moved = jnp.concatenate([slopes.patterns.departures(), slopes.arrivals.departures()])
    assert np.isfinite(moved).all()
    step = 1e-5
    raised = eqx.tree_at(
        lambda i: i.patterns.walk, crowd.innovations, replace_fn=lambda x: x + step
    )
    lowered = eqx.tree_at(
        lambda i: i.patterns.walk, crowd.innovations, replace_fn=lambda x: x - step
    )
    measured = (likelihood(raised) - likelihood(lowered)) / (2 * step)
    np.testing.assert_allclose(slopes.patterns.walk.sum(), measured, rtol=1e-5)


def test_states_are_those_that_corrected_each_day():
    crowd, inputs, outcomes = _corrected_crowd()
    sweep = observe(crowd, inputs, outcomes, crowd.at_rest())
    path = states_at_dawn(crowd, inputs, outcomes)
    before = jax.tree.map(lambda x: x[:-1], path)
    predicted = crowd.predict(before, inputs)
    np.testing.assert_allclose(predicted.patterns, sweep.predictions.patterns, rtol=1e-10)
    np.testing.assert_allclose(predicted.arrivals, sweep.predictions.arrivals, rtol=1e-10)
    final = jax.tree.map(lambda x: x[-1:], path.innovations)
    for mine, theirs in zip(
        jax.tree.leaves(final), jax.tree.leaves(sweep.final.innovations), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-14)


def test_patterns_are_corrected_as_group_by_group_arithmetic_says():
    """Every group by itself, with sums over its own cells, in plain NumPy."""
    parts, rng = PatternParts.starting(UNITS, COHORTS), np.random.default_rng(3)
    nodes = 2**BEHAVIORS - 1
    behavior = np.array([0, 1, 1, 2, 2, 2, 2])
    offset = rng.normal(size=(UNITS, COHORTS, nodes))
    reached = rng.integers(0, 40, offset.shape).astype(float)
    shown = rng.binomial(reached.astype(int), 0.4).astype(float)
    season = np.eye(PLACES)[2]
    first = parts.at_rest(PLACES, offset.shape)
    found = parts.corrected(
        first, jnp.asarray(offset), jnp.asarray(season), (jnp.asarray(shown), jnp.asarray(reached))
    )

    prior = {name: np.exp(values) for name, values in PatternParts.prior.items()}
    shock, eta = prior["shock"][0], offset.copy()
    slow = np.zeros((4, *offset.shape))
    groups = [
        [np.s_[:, :]],
        [np.s_[unit, :] for unit in range(UNITS)],
        [np.s_[:, cohort] for cohort in range(COHORTS)],
        [np.s_[unit, cohort] for unit in range(UNITS) for cohort in range(COHORTS)],
    ]
    variance = {name: prior[name] for name in ("first", "quick", "season")}
    for level, members in enumerate(groups):
        finer = sum(v[level + 1 :].sum() for v in variance.values())
        for name, single, common in (
            ("season", finer + variance["first"][level], variance["quick"][level]),
            ("quick", finer + variance["first"][level], 0.0),
            ("first", finer, 0.0),
        ):
            likely = 1 / (1 + np.exp(-eta))
            information = reached * likely * (1 - likely)
            heard = 1 / (1 + information * (shock + single))
            score, told = (shown - reached * likely) * heard, information * heard
            moves = np.zeros_like(eta)
            for group in members:
                for node in range(nodes):
                    same = [node] if name == "first" else np.flatnonzero(behavior == behavior[node])
                    r = score[group].reshape(-1, nodes)[:, same].sum()
                    j = told[group].reshape(-1, nodes)[:, same].sum()
                    r, j = r / (1 + j * common), j / (1 + j * common)
                    own = variance[name][level]
                    moves[(*group, node)] = own / (1 + own * j) * r
            eta = eta + moves
            if name == "first":
                slow[level] = moves
    np.testing.assert_allclose(found.slow[0], slow, rtol=1e-9, atol=1e-13)
    total = offset + (found.slow + found.quick).sum(1)[0] + found.season[0, 2].sum(0)
    np.testing.assert_allclose(total, eta, rtol=1e-9, atol=1e-13)


def test_ahead_of_an_origin_slow_parts_stay_and_quick_ones_fade():
    parts = ArrivalParts.starting(UNITS, COHORTS)
    state = parts.at_rest(PLACES, (UNITS, COHORTS, 1))
    state = replace(state, slow=state.slow + 1.0, quick=state.quick + 1.0)
    ahead = parts.advance(state)
    np.testing.assert_array_equal(ahead.slow, state.slow)
    assert (np.asarray(ahead.quick) < 1.0).all()
    assert (np.asarray(ahead.slow_variance) > np.asarray(state.slow_variance)).all()
    np.testing.assert_allclose(ahead.quick_variance, state.quick_variance, rtol=1e-12)


def test_two_closed_saturdays_are_enough_and_do_not_move_the_level():
    parts, counts = ArrivalParts.starting(1, 1), np.full(14, 100.0)
    counts[[5, 12]] = 0.0
    state = parts.at_rest(PLACES, (1, 1, 1))
    offset = jnp.full((1, 1, 1), np.log(100.0))
    for day, count in enumerate(counts):
        season = jnp.asarray(np.eye(PLACES)[day % 7])
        state = parts.advance(parts.corrected(state, offset, season, (jnp.full((1, 1, 1), count),)))

    def expected(day: int) -> float:
        found = parts.correction(state, jnp.asarray(np.eye(PLACES)[[day]]))
        return 100 * float(jnp.exp(found.mean[0, 0, 0, 0]))

    assert expected(5) < 20
    assert expected(0) == pytest.approx(100, rel=0.1)
