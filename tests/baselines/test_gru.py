"""GRU predictors: the projections are what they say, forecasts feed expected counts back."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit

import dgd
from dgd.baselines.gru import GRU
from dgd.baselines.gru_network import GRUNetwork, counted
from dgd.forecasting.protocol import Fitted, Forecaster, checked_predictions
from dgd.learning.starts import Reference, Start
from dgd.panel.sequences import days_ahead
from dgd.runtime import computing
from support.real_data import real_data

QUICK = GRU(epochs=3)


def ends(panel):
    return {"train_end": panel.dates[27], "validation_end": panel.dates[34]}


@pytest.fixture(scope="module")
def fitted(drawn):
    return QUICK.fit(drawn.panel, **ends(drawn.panel), seeds=[1, 2])


def kuairand_network(projection):
    """5 units, 9 cohorts, 7 behaviours, 8 summaries and no weekdays."""
    reference = Reference(jnp.zeros((5, 9)), jnp.zeros((9, 7)), jnp.ones(9))
    start = Start(reference, np.zeros((9, 7)), np.zeros(21), 1.0)
    return GRUNetwork.starting(start, 8 + 2 + 1 + 7, GRU().width, projection, jax.random.key(1))


def test_kuairand_shape_has_about_as_many_parameters_as_the_papers():
    with computing():
        assert kuairand_network("full").trainable_parameters == 569
        assert kuairand_network("restricted").trainable_parameters == 564


def test_restricted_projection_ties_the_first_behavior_to_the_first_coordinate():
    with computing():
        network = kuairand_network("restricted")
        hidden = jnp.linspace(-0.9, 0.9, 45 * 5).reshape(1, 45, 5)
        rates = np.asarray(jax.jit(GRUNetwork.predict)(network, hidden, jnp.ones((1, 5, 9))).rates)
    np.testing.assert_allclose(rates[..., 0].ravel(), expit(hidden[0, :, 0]))


@pytest.mark.slow
def test_both_projections_learn_kuairand_no_worse_than_where_they_start():
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
        checked_predictions(model.projection, fit, np.array([fit.split.validation_stop - 1]), 3)
        (run,) = fit.runs
        assert run.best_objective < run.validation_objective[0]


def test_the_gru_equals_a_plain_loop(fitted):
    network = fitted.runs[0].parameters
    cell = network.cell
    weights = (cell.weight_ih, cell.weight_hh, cell.bias, cell.bias_n)
    into, across, bias, bias_new = (np.asarray(x) for x in weights)
    random = np.random.default_rng(2)
    read = random.normal(size=(4, 6, into.shape[1]))
    with computing():
        ours = network.run(jnp.asarray(read), jnp.zeros((6, 5)))
    for c in range(6):
        hidden = np.zeros(5)
        for day in range(4):
            reset_in, keep_in, new_in = np.split(into @ read[day, c] + bias, 3)
            reset_by, keep_by, new_by = np.split(across @ hidden, 3)
            reset, keep = expit(reset_in + reset_by), expit(keep_in + keep_by)
            new = np.tanh(new_in + reset * (new_by + bias_new))
            hidden = (1 - keep) * new + keep * hidden
            np.testing.assert_allclose(ours[day, c], hidden, rtol=1e-9, atol=1e-12)


def test_forecasts_keep_the_protocol(fitted):
    assert isinstance(fitted.forecaster, Forecaster)
    assert isinstance(fitted, Fitted)
    _, patterns = checked_predictions("gru", fitted, np.array([34, 36]), 3)
    np.testing.assert_allclose(patterns.sum(-1), 1.0, rtol=1e-12)
    assert fitted.count_distribution == 50.0


def test_the_second_day_reads_the_expected_counts_of_the_first(drawn, fitted):
    origins = np.array([33, 36])
    arrivals, patterns = fitted.predict(origins, 2)
    network = fitted.runs[0].parameters
    hidden = fitted.hidden[0][origins + 1]
    with computing():
        scale = jnp.asarray(fitted.cells.count_scale)
        ahead = days_ahead(drawn.panel, fitted.features, origins, 2)
        people = [day.size * day.effort for day in ahead]
        first = network.predict(hidden, people[0])
        expected = counted(first.arrivals, first.behaviors, scale)
        read = jnp.concatenate([fitted.cells.covariates(ahead[1]), expected], -1)
        second = network.predict(jax.vmap(network.step)(read, hidden), people[1])
    for step, prediction in enumerate((first, second)):
        np.testing.assert_allclose(arrivals[0, step], prediction.arrivals, rtol=1e-10)
        wanted = np.moveaxis(np.asarray(prediction.patterns), 0, -1)
        np.testing.assert_allclose(patterns[0, step], wanted, rtol=1e-9)


def test_a_forecast_never_looks_past_its_origin(drawn, fitted):
    later = drawn.panel.patterns.copy()
    later[37:] = later[37:][::-1] + 5
    other = replace(fitted, panel=replace(drawn.panel, patterns=later))
    origins = np.array([36])
    for ours, theirs in zip(fitted.predict(origins, 3), other.predict(origins, 3), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_same_seed_gives_the_same_numbers(drawn, fitted):
    again = fitted.forecaster.fit(drawn.panel, **ends(drawn.panel), seeds=[2])
    origins = np.array([34, 36])
    for ours, theirs in zip(fitted.predict(origins, 3), again.predict(origins, 3), strict=True):
        np.testing.assert_array_equal(ours[1], theirs[0])
        assert not np.array_equal(ours[0], ours[1])


def test_effort_scales_arrivals_and_zero_effort_stops_them(fitted):
    network = fitted.runs[0].parameters
    with computing():
        hidden = fitted.hidden[0][:2]
        people = jnp.ones((2, 2, 3)).at[1, 0].set(0.0).at[1, 1].set(2.0)
        prediction = network.predict(jnp.stack([hidden[0], hidden[0]]), people)
    arrivals = np.asarray(prediction.arrivals)
    assert not arrivals[1, 0].any()
    np.testing.assert_allclose(arrivals[1, 1], 2 * arrivals[0, 1])


def test_training_starts_near_the_training_days_and_only_gets_better(fitted):
    for run in fitted.runs:
        assert run.best_objective <= run.validation_objective[0]


@pytest.mark.parametrize(
    ("wrong", "name"), [({"projection": "half"}, "projection"), ({"width": 0}, "width")]
)
def test_settings_that_cannot_be_right_are_refused_by_name(wrong, name):
    with pytest.raises(dgd.InputError, match=name):
        GRU(**wrong)
