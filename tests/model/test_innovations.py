"""What innovations promise: small where much is known, nothing where variances are zero."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

from dgd.model.innovations import Innovations, PatternParts, Smoothers, _mode, joint, of_tree
from dgd.model.shape import Shape
from dgd.model.sweep import observe, states_at_dawn
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
    names = ("first", "walk", "quick", "season")
    still = {name: jnp.full_like(getattr(innovations.patterns, name), -jnp.inf) for name in names}
    return replace(innovations, patterns=replace(innovations.patterns, **still))


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


def test_without_variances_patterns_are_those_of_the_model_without_innovations():
    crowd, inputs, outcomes = _corrected_crowd()
    still = replace(crowd, innovations=_without_variances(crowd.innovations))
    plain = replace(crowd, innovations=None)
    found = observe(still, inputs, outcomes, still.at_rest())
    wanted = observe(plain, inputs, outcomes, plain.at_rest())
    np.testing.assert_allclose(
        found.predictions.patterns, wanted.predictions.patterns, rtol=1e-9, atol=1e-13
    )


def test_what_is_expected_without_innovations_is_kept_beside_the_forecast():
    crowd, inputs, outcomes = _corrected_crowd()
    plain = replace(crowd, innovations=None)
    found = observe(crowd, inputs, outcomes, crowd.at_rest())
    wanted = observe(plain, inputs, outcomes, plain.at_rest()).predictions
    np.testing.assert_allclose(found.uncorrected.patterns, wanted.patterns, rtol=1e-12)
    np.testing.assert_allclose(found.uncorrected.arrivals, wanted.arrivals, rtol=1e-12)
    assert np.abs(found.predictions.arrivals - wanted.arrivals).max() > 0.1


def test_patterns_sum_to_one_and_gradients_through_the_filter_are_right():
    crowd, inputs, outcomes = _corrected_crowd()
    sweep = observe(crowd, inputs, outcomes, crowd.at_rest())
    np.testing.assert_allclose(sweep.predictions.patterns.sum(0), 1.0, rtol=1e-12)

    def likelihood(innovations: Innovations) -> jax.Array:
        given = (sweep.uncorrected, inputs.season, outcomes)
        return innovations.pattern_log_likelihood(*given).sum()

    direct = (outcomes.patterns * jnp.log(sweep.predictions.patterns)).sum()
    np.testing.assert_allclose(likelihood(crowd.innovations), direct, rtol=1e-12)
    slopes, step = jax.grad(likelihood)(crowd.innovations), 1e-5
    for name in ("first", "walk", "quick", "retention", "season", "shock"):
        ends = [
            likelihood(
                eqx.tree_at(
                    lambda i: getattr(i.patterns, name),  # noqa: B023
                    crowd.innovations,
                    replace_fn=lambda x: x + sign * step,  # noqa: B023
                )
            )
            for sign in (1, -1)
        ]
        measured = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(
            getattr(slopes.patterns, name).sum(), measured, rtol=1e-4, atol=1e-7
        )


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
    parts, rng = PatternParts.starting((0, 1, 2, 3), (True,) * 4), np.random.default_rng(3)
    nodes, place = 2**BEHAVIORS - 1, 2
    behavior = np.array([0, 1, 1, 2, 2, 2, 2])
    offset = rng.normal(size=(UNITS, COHORTS, nodes))
    asked = rng.integers(0, 40, offset.shape).astype(float)
    shown = rng.binomial(asked.astype(int), 0.4).astype(float)
    season = jnp.asarray(np.eye(PLACES)[place])
    first = parts.at_rest(UNITS, COHORTS, BEHAVIORS, (PLACES,) * 4)
    counts = (jnp.asarray(shown), jnp.asarray(asked))
    found = parts.corrected(first, jnp.asarray(offset), season, *counts)

    prior = {name: np.exp(values) for name, values in PatternParts.prior.items()}
    likely = 1 / (1 + np.exp(-offset))
    information, score = asked * likely * (1 - likely), shown - asked * likely
    groups = [
        [np.s_[:, :]],
        [np.s_[:, cohort] for cohort in range(COHORTS)],
        [np.s_[unit, :] for unit in range(UNITS)],
        [np.s_[unit, cohort] for unit in range(UNITS) for cohort in range(COHORTS)],
    ]
    for level, members in enumerate(groups):
        finer = sum(prior[name][level + 1 :].sum() for name in ("first", "quick", "season"))
        heard = 1 / (1 + information * (prior["shock"][0] + finer))
        slow, quick, seasonal = (prior[name][level] for name in ("first", "quick", "season"))
        moves = np.zeros_like(offset)
        for group in members:
            r, j, seen, of = (
                (x * heard)[group].reshape(-1, nodes).sum(0)
                for x in (score, information, shown, asked)
            )
            likely_before = np.clip(seen - r, 0, of)
            far = [np.log(x + 0.5) - np.log(of - x + 0.5) for x in (seen, likely_before)]
            j = np.maximum(j, np.abs(r) / (1 + np.abs(far[0] - far[1])))
            fast = np.zeros(nodes)
            for h in range(BEHAVIORS):
                same = behavior == h
                told = (r[same] / (1 + j[same] * slow)).sum()
                known = (j[same] / (1 + j[same] * slow)).sum()
                fast[same] = (quick + seasonal) * told / (1 + (quick + seasonal) * known)
            moves[group] = fast + slow / (1 + slow * j) * (r - j * fast)
        part = found[level]
        total = part.slow[0] + (part.quick[0] + part.season[0, place])[..., behavior]
        np.testing.assert_allclose(np.broadcast_to(total, moves.shape), moves, rtol=1e-9)
        score = score - information * moves


def test_a_behavior_never_seen_before_is_not_expected_of_everybody_after_its_first_day():
    """One in ten of many shows it on a single day; sixty days before left no slope to speak of."""
    parts = PatternParts.starting((0,), (True,))
    state = parts.at_rest(1, 1, 1, (PLACES,))
    offset, asked = jnp.zeros((1, 1, 1)), jnp.full((1, 1, 1), 1e5)
    rates = []
    for day in range(75):
        today, tomorrow = (np.eye(PLACES)[[d % 7]] for d in (day, day + 1))
        shown = asked * (0.1 if day == 60 else 0.0)
        corrected = parts.corrected(state, offset, jnp.asarray(today[0]), shown, asked)
        state = parts.advance(corrected)
        mean, _ = parts.correction(state, jnp.asarray(tomorrow))
        rates.append(float(jax.nn.sigmoid(mean[0, 0, 0, 0])))
    assert rates[59] < rates[60]
    assert 0.01 < rates[60] < 0.1
    assert all(rates[59] / 5 < rate < rates[60] for rate in rates[61:])


def test_the_mode_of_arrivals_is_found_however_far_counts_are_from_what_was_expected():
    rng = np.random.default_rng(1)
    counted = np.concatenate([np.zeros(50), 10 ** rng.uniform(0, 9, 150)])
    expected, variance = 10 ** rng.uniform(-8, 7, 200), 10 ** rng.uniform(-12, 1, 200)
    found, information = _mode(*map(jnp.asarray, (counted, expected, variance)))

    def too_far(x: float, s: float, m: float, v: float) -> float:
        return x - v * (s - m * np.exp(x))

    for s, m, v, x, j in zip(counted, expected, variance, found, information, strict=True):
        most = max(v * s, v * m, 1.0)
        wanted = brentq(too_far, -most, min(most, 60.0), (s, m, v), xtol=1e-14)
        assert float(x) == pytest.approx(wanted, rel=1e-6, abs=1e-9)
        assert float(j) == pytest.approx(m * np.exp(wanted), rel=1e-5)


def test_ahead_of_an_origin_slow_parts_stay_and_quick_ones_fade():
    innovations = _innovations()
    state = innovations.at_rest(UNITS, COHORTS, BEHAVIORS)
    state = jax.tree.map(lambda x: x + 1.0, state)
    ahead = innovations.advance(state)
    for now, later in zip(state.patterns, ahead.patterns, strict=True):
        np.testing.assert_array_equal(later.slow, now.slow)
        np.testing.assert_array_equal(later.season, now.season)
        assert (np.asarray(later.quick) < 1.0).all()
    for now, later in zip(state.arrivals.parts, ahead.arrivals.parts, strict=True):
        np.testing.assert_array_equal(later[..., 0], now[..., 0])
        assert (np.asarray(later[..., 1]) < 1.0).all()
        np.testing.assert_array_equal(later[..., 2:], now[..., 2:])


def _arrivals_after(counts: np.ndarray) -> tuple[Smoothers, object]:
    """The state of a single cell after days of these counts, a hundred expected on each."""
    smoothers = Smoothers((0,), (PLACES,))
    season = jnp.asarray(np.eye(PLACES)[np.arange(len(counts)) % 7])
    offset = jnp.full((len(counts), 1, 1), np.log(100.0))
    path = smoothers.path(offset, season, jnp.asarray(counts)[:, None, None])
    return smoothers, jax.tree.map(lambda x: x[-1:], path)


def test_two_closed_saturdays_are_enough_and_do_not_move_the_level():
    counts = np.full(14, 100.0)
    counts[[5, 12]] = 0.0
    smoothers, state = _arrivals_after(counts)

    def expected(day: int) -> float:
        found = smoothers.correction(state, jnp.asarray(np.eye(PLACES)[[day]]))
        return 100 * float(jnp.exp(found[0, 0, 0]))

    assert expected(5) < 20
    assert expected(0) == pytest.approx(100, rel=0.1)


def test_smoothers_that_erred_less_are_believed_more():
    """A timetable that swings widely by the day of the week, and never errs."""
    timetable = np.tile([100.0, 130.0, 80.0, 150.0, 60.0, 40.0, 20.0], 8)
    _, state = _arrivals_after(timetable)
    weights = dict(zip(Smoothers.names, np.asarray(state.weights[0, 0]), strict=True))
    assert sum(weights.values()) == pytest.approx(1.0)
    assert weights["steady"] > weights["even"]


def test_a_smoother_is_a_kalman_filter_of_log_counts_where_these_are_large():
    """Arrivals in millions have normal logs of a variance that is known: 1/r and the shock."""
    rng = np.random.default_rng(0)
    days, at = 30, Smoothers.names.index("even")
    counts = np.exp(14 + 0.05 * rng.standard_normal(days))
    smoothers = Smoothers((0,), (PLACES,))
    season = np.eye(PLACES)[np.arange(days) % 7]
    offset = np.full((days, 1, 1), 14.0)
    found = smoothers.path(*map(jnp.asarray, (offset, season, counts[:, None, None])))

    mean, covariance = np.zeros(PLACES + 2), np.diag(smoothers.first[0, at])
    kept, walk = smoothers.kept[0, at], np.diag(smoothers.walk[0, at])
    noise = float(smoothers.inverse_dispersion[at, 0, 0] + smoothers.shocks[at, 0, 0])
    for day in range(days):
        np.testing.assert_allclose(found.parts[0][day, at, 0, 0], mean, atol=0.01)
        loading = np.concatenate([[1, 1], season[day]])
        gain = covariance @ loading / (loading @ covariance @ loading + noise)
        mean = (mean + gain * (np.log(counts[day]) - 14 - loading @ mean)) * kept
        covariance = covariance - np.outer(gain, loading @ covariance)
        covariance = covariance * kept[:, None] * kept + walk
