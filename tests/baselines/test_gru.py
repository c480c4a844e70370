"""GRU predictors: the projections are what they say, forecasts feed expected counts back."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit

import dgd
from dgd.baselines import GRU, GRUFit
from dgd.baselines.gru_network import GRUNetwork, counted
from dgd.forecasting.protocol import checked_prediction
from dgd.learning.starts import Start
from dgd.model.shape import Shape
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.sequences import days_ahead
from dgd.runtime import computing
from support.real_data import real_data

ORIGINS = np.array([33, 34, 36])
RUN = eqx.filter_jit(GRUNetwork.run)
EMIT = eqx.filter_jit(GRUNetwork.emit)


def kuairand_network(projection: str) -> GRUNetwork:
    """5 units, 9 cohorts, 7 behaviours, 8 summaries and no weekdays; any numbers."""
    rng = np.random.default_rng(1)
    start = Start.blank(Shape(5, 9, 7, 8, 1, 1, 1, 0))
    shapes = eqx.filter_eval_shape(
        GRUNetwork.starting, start, 8 + 2 + 1 + 7, GRU().width, projection, jax.random.key(1)
    )
    return jax.tree.map(lambda leaf: jnp.asarray(rng.normal(size=leaf.shape)), shapes)


@pytest.mark.parametrize(("projection", "parameters"), [("full", 569), ("restricted", 564)])
def test_kuairand_shape_has_about_as_many_parameters_as_the_papers(
    projection: str, parameters: int
) -> None:
    with computing():
        assert kuairand_network(projection).trainable_parameters == parameters


def test_restricted_projection_ties_the_first_behavior_to_the_first_coordinate() -> None:
    with computing():
        network = kuairand_network("restricted")
        hidden = np.linspace(-0.9, 0.9, 45 * 5).reshape(1, 45, 5)
        rates = EMIT(network, jnp.asarray(hidden), jnp.ones((1, 5, 9))).rates
    intercept = np.asarray(network.unit_intercept)[:, None] + np.asarray(network.cohort_intercept)
    expected = expit(intercept[..., 0].ravel() + hidden[0, :, 0])
    np.testing.assert_allclose(np.asarray(rates)[..., 0].ravel(), expected)


@pytest.mark.long
def test_both_projections_learn_kuairand_no_worse_than_where_they_start() -> None:
    data = dgd.datasets.kuairand(real_data("kuairand_pure"), window="late")
    window = data.window
    for model in (GRU(summary_retention=0.5), GRU(projection="restricted", summary_retention=0.5)):
        fit = model.fit(
            data.panel,
            train_end=window.train_end,
            validation_end=window.validation_end,
            warmup_end=window.warmup_end,
            seeds=[20260915],
        )
        checked_prediction(model.projection, fit, np.array([fit.split.validation_stop - 1]), 3)
        (run,) = fit.runs
        assert run.best_objective < run.validation_objective[0]


def test_the_gru_equals_a_plain_loop(gru: GRUFit) -> None:
    network = gru.parameters[0]
    cell = network.cell
    weights = (cell.weight_ih, cell.weight_hh, cell.bias, cell.bias_n)
    into, across, bias, bias_new = (np.asarray(x) for x in weights)
    random = np.random.default_rng(2)
    read = random.normal(size=(4, 6, into.shape[1]))
    with computing():
        ours = np.asarray(RUN(network, jnp.asarray(read), jnp.zeros((6, 5))))
    for c in range(6):
        hidden = np.zeros(5)
        for day in range(4):
            reset_in, keep_in, new_in = np.split(into @ read[day, c] + bias, 3)
            reset_by, keep_by, new_by = np.split(across @ hidden, 3)
            reset, keep = expit(reset_in + reset_by), expit(keep_in + keep_by)
            new = np.tanh(new_in + reset * (new_by + bias_new))
            hidden = (1 - keep) * new + keep * hidden
            np.testing.assert_allclose(ours[day, c], hidden, rtol=1e-9, atol=1e-12)


def test_forecasts_have_the_dispersion_of_the_training(gru: GRUFit) -> None:
    predicted = checked_prediction("gru", gru, ORIGINS, 3)
    assert predicted.arrivals.shape == (2, 3, 3, 2, 3)
    assert np.unique(predicted.dispersion) == gru.forecaster.dispersion == 50.0


@eqx.filter_jit
def second_day(
    network: GRUNetwork,
    hidden: jax.Array,
    people: tuple[jax.Array, jax.Array],
    covariates: jax.Array,
    scale: jax.Array,
) -> tuple[Any, Any]:
    """The first day ahead and the one that has read its expected counts."""
    first = network.emit(hidden, people[0])
    expected = counted(first.arrivals, first.behaviors, scale)
    read = jnp.concatenate([covariates, expected], -1)
    return first, network.emit(jax.vmap(network.step)(read, hidden), people[1])


def test_the_second_day_reads_the_expected_counts_of_the_first(
    drawn: dgd.Simulated, gru: GRUFit
) -> None:
    predicted = gru.predict(ORIGINS, 2)
    with computing():
        ahead = days_ahead(drawn.panel, gru.features, ORIGINS, 2)
        wanted = second_day(
            gru.parameters[0],
            gru.hidden[0][ORIGINS + 1],
            (ahead[0].people, ahead[1].people),
            gru.cells.covariates(ahead[1]),
            jnp.asarray(gru.cells.count_scale),
        )
    for step, prediction in enumerate(wanted):
        np.testing.assert_allclose(predicted.arrivals[0, step], prediction.arrivals, rtol=1e-10)
        patterns = np.moveaxis(np.asarray(prediction.patterns), 0, -1)
        np.testing.assert_allclose(predicted.patterns[0, step], patterns, rtol=1e-9)


def test_a_forecast_never_looks_past_its_origin(drawn: dgd.Simulated, gru: GRUFit) -> None:
    later = drawn.panel.patterns.copy()
    later[37:] = later[37:][::-1] + 5
    other = replace(gru, panel=replace(drawn.panel, counts=PatternCounts.of(later)))
    ours, theirs = (fit.predict(ORIGINS, 3) for fit in (gru, other))
    np.testing.assert_allclose(ours.arrivals, theirs.arrivals, rtol=1e-12)
    np.testing.assert_allclose(ours.patterns, theirs.patterns, rtol=1e-12)


@pytest.fixture(scope="module")
def again(drawn: dgd.Simulated, ends: dict[str, Any], gru: GRUFit) -> GRUFit:
    """Seed 2 alone, on a panel that differs after the validation days."""
    later = drawn.panel.patterns.copy()
    later[35:] += 7
    return gru.forecaster.fit(
        replace(drawn.panel, counts=PatternCounts.of(later)), **ends, seeds=[2]
    )


def test_the_same_seed_gives_the_same_numbers(gru: GRUFit, again: GRUFit) -> None:
    """The same program on the same days, however many seeds run beside it."""
    first, second = (run.validation_objective for run in gru.runs)
    np.testing.assert_array_equal(again.runs[0].validation_objective, second)
    assert not np.array_equal(first, second)


def test_days_after_validation_never_influence_a_fit(gru: GRUFit, again: GRUFit) -> None:
    leaves = (jax.tree.leaves(fit.parameters[-1]) for fit in (gru, again))
    for ours, theirs in zip(*leaves, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_effort_scales_arrivals_and_zero_effort_stops_them(gru: GRUFit) -> None:
    people = np.ones((2, 2, 3))
    people[1, 0], people[1, 1] = 0.0, 2.0
    hidden = np.asarray(gru.hidden[0])[[0, 0]]
    with computing():
        prediction = EMIT(gru.parameters[0], jnp.asarray(hidden), jnp.asarray(people))
    arrivals = np.asarray(prediction.arrivals)
    assert not arrivals[1, 0].any()
    np.testing.assert_allclose(arrivals[1, 1], 2 * arrivals[0, 1])


def test_training_starts_near_the_training_days_and_only_gets_better(gru: GRUFit) -> None:
    for run in gru.runs:
        assert run.best_objective <= run.validation_objective[0]


@pytest.mark.parametrize(
    ("wrong", "name"), [({"projection": "half"}, "projection"), ({"width": 0}, "width")]
)
def test_settings_that_cannot_be_right_are_refused_by_name(wrong: Any, name: str) -> None:
    with pytest.raises(dgd.InputError, match=name):
        GRU(**wrong)
