"""DeepAR-joint: its network is what the formulas say, its forecasts know only the past."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import nbinom

import dgd
from dgd.baselines.deepar import DeepAR, advance
from dgd.baselines.deepar_network import (
    CellInputs,
    DeepARNetwork,
    DeepARObjective,
    negative_binomial_nll,
    start_from_training,
    training_data,
)
from dgd.baselines.marks import joint_probabilities, marks_from_patterns, marks_from_rates
from dgd.forecasting.protocol import Fitted, Forecaster, checked_predictions
from dgd.learning.starts import reference_rates
from dgd.model.patterns import behavior_bits
from dgd.panel.features import FeatureMaker
from dgd.panel.split import Split
from dgd.runtime import computing
from support.real_data import real_data

TRAIN_END, VALIDATION_END = 27, 34
QUICK = DeepAR(widths=(2, 3), epochs=3, histories=64)


def ends(panel):
    return {"train_end": panel.dates[TRAIN_END], "validation_end": panel.dates[VALIDATION_END]}


@pytest.fixture(scope="module")
def fitted(drawn):
    return QUICK.fit(drawn.panel, **ends(drawn.panel), seeds=[1, 2])


@pytest.fixture(scope="module")
def prepared(drawn):
    """Split, inputs and a random network on the small world, everything in NumPy's reach."""
    panel = drawn.panel
    split = Split.of(panel, *ends(panel).values(), None)
    rates = reference_rates(panel, split.warmup)
    maker = FeatureMaker.fitted(panel, split, rates, "weekday", 0.85)
    cells = CellInputs.fitted(panel, split)
    with computing():
        data = training_data(panel, split, maker, cells)
        marks = marks_from_patterns(panel, split)
        network = DeepARNetwork.random(data.train.inputs.shape[-1], 3, marks, jax.random.key(4))
    return data, network


def softplus(x):
    return np.logaddexp(0.0, x)


def plain_states(network, days, hidden, memory):
    """The LSTM as a loop over days and cells."""
    cell, path = network.cell, []
    into, across, bias = (np.asarray(x) for x in (cell.weight_ih, cell.weight_hh, cell.bias))
    for inputs, previous in zip(np.asarray(days.inputs), np.asarray(days.previous), strict=True):
        for c in range(len(inputs)):
            read = np.append(inputs[c], previous[c])
            enter, keep, new, show = np.split(into @ read + across @ hidden[c] + bias, 4)
            memory[c] = expit(keep) * memory[c] + expit(enter) * np.tanh(new)
            hidden[c] = expit(show) * np.tanh(memory[c])
        path.append(hidden.copy())
    return np.stack(path)


def plain_patterns(network, hidden):
    """Joint probabilities of one cell, pattern by pattern."""
    head = network.marks
    own = np.asarray(head.projection) @ hidden + np.asarray(head.bias)
    dependence = np.zeros((len(own), len(own)))
    dependence[np.tril_indices(len(own), -1)] = head.dependence_entries
    bits = behavior_bits(len(own))
    eta = own + bits @ dependence.T
    return np.where(bits == 1, expit(eta), 1 - expit(eta)).prod(1)


def test_the_lstm_equals_a_plain_loop(prepared):
    data, network = prepared
    cells = len(data.count_scale)
    with computing():
        states = jax.jit(lambda n: n.run(data.train, n.at_rest(cells)))(network)
    wanted = plain_states(network, data.train, np.zeros((cells, 3)), np.zeros((cells, 3)))
    np.testing.assert_allclose(states.hidden, wanted, rtol=1e-10, atol=1e-12)


def test_the_objective_equals_a_plain_loop(prepared):
    data, network = prepared
    cells = len(data.count_scale)
    scale = np.asarray(data.count_scale)
    hidden, memory = np.zeros((cells, 3)), np.zeros((cells, 3))
    values = []
    for days in (data.train, data.validation):
        states = plain_states(network, days, hidden, memory)
        arrivals = np.asarray(days.outcomes.arrivals).reshape(-1, cells)
        patterns = np.asarray(days.outcomes.patterns).reshape(8, -1, cells)
        marks, counts = [], []
        for t, day in enumerate(states):
            nll = 0.0
            for c in range(cells):
                out = np.asarray(network.count_projection) @ day[c] + np.asarray(network.count_bias)
                mean = scale[c] * (softplus(out[0]) + 1e-8)
                spread = (softplus(out[1]) + 1e-8) / np.sqrt(scale[c])
                counts.append(-nbinom.logpmf(arrivals[t, c], 1 / spread, 1 / (1 + spread * mean)))
                nll -= patterns[:, t, c] @ np.log(plain_patterns(network, day[c]))
            marks.append(nll / max(1.0, arrivals[t].sum()))
        values.append(np.mean(marks) + 0.05 * np.mean(counts))
    parameters = np.concatenate([np.ravel(x) for x in jax.tree.leaves(network)])
    with computing():
        train, validation = jax.jit(DeepARObjective())(network, data)
    np.testing.assert_allclose(train, values[0] + 1e-3 * np.mean(parameters**2), rtol=1e-9)
    np.testing.assert_allclose(validation, values[1], rtol=1e-9)


def test_count_likelihood_has_variance_m_plus_alpha_m_squared():
    count, mean, spread = np.array([0.0, 3.0, 40.0]), np.array([0.2, 5.0, 33.0]), 0.3
    with computing():
        ours = negative_binomial_nll(jnp.asarray(count), jnp.asarray(mean), jnp.full(3, spread))
    distribution = nbinom(1 / spread, 1 / (1 + spread * mean))
    np.testing.assert_allclose(ours, -distribution.logpmf(count), rtol=1e-10)
    np.testing.assert_allclose(distribution.var(), mean + spread * mean**2)


def test_inputs_hold_the_cell_and_the_preceding_count(drawn, prepared):
    data, _ = prepared
    arrivals = drawn.panel.arrivals.reshape(40, -1)
    scale = 1 + arrivals[: TRAIN_END + 1].mean(0)
    np.testing.assert_allclose(data.count_scale, scale)
    assert not np.any(data.train.previous[0])
    np.testing.assert_allclose(data.train.previous[1:], arrivals[:TRAIN_END] / scale)
    np.testing.assert_allclose(data.validation.previous[0], arrivals[TRAIN_END] / scale)
    np.testing.assert_array_equal(data.train.inputs[0, :, -6:], np.eye(6))


def test_mark_biases_start_at_the_training_rates(drawn):
    panel = drawn.panel
    split = Split.of(panel, *ends(panel).values(), None)
    bias, dependence = marks_from_rates(panel, split)
    days = slice(0, TRAIN_END + 1)
    shown, arrivals = panel.behavior_counts[days].sum((0, 1, 2)), panel.arrivals[days].sum()
    np.testing.assert_allclose(expit(bias), (shown + 0.5) / (arrivals + 1))
    assert not dependence.any()


def test_the_training_start_predicts_the_training_days_for_everyone(drawn):
    panel = drawn.panel
    split = Split.of(panel, *ends(panel).values(), None)
    with computing():
        network = start_from_training(panel, split, 5, 3, jax.random.key(1))
        logits = jax.vmap(network.marks.logits)(jax.random.normal(jax.random.key(2), (4, 3)))
        patterns = np.asarray(joint_probabilities(logits, network.marks.dependence))
        mean, _ = network.count(jnp.zeros(3), jnp.asarray(7.0))
    counts = panel.patterns[split.train].sum((0, 1, 2))
    rates = counts @ behavior_bits(3) / counts.sum()
    for cell in patterns.T:
        np.testing.assert_allclose(cell @ behavior_bits(3), rates, atol=0.01)
    np.testing.assert_allclose(mean, 7.0, rtol=1e-6)


def test_one_day_ahead_is_the_closed_form(drawn, fitted):
    panel, origin = drawn.panel, 36
    arrivals, patterns = fitted.predict(np.array([origin]), 3)
    spread = fitted.count_distribution(np.array([origin]), 3)
    for s, run in enumerate(fitted.runs):
        hidden = np.asarray(fitted.states[s].hidden)[origin + 1]
        for c in range(6):
            network, scale = run.parameters, fitted.cells.count_scale[c]
            out = np.asarray(network.count_projection) @ hidden[c] + np.asarray(network.count_bias)
            mean = scale * (softplus(out[0]) + 1e-8)
            r = np.sqrt(scale) / (softplus(out[1]) + 1e-8)
            cell = (s, 0, 0, *np.unravel_index(c, panel.arrivals.shape[1:]))
            np.testing.assert_allclose(arrivals[cell], mean, rtol=1e-9)
            np.testing.assert_allclose(spread[cell], r, rtol=1e-6)
            np.testing.assert_allclose(patterns[cell], plain_patterns(network, hidden[c]))


def test_sampled_histories_approach_the_exact_two_day_forecast(drawn, fitted):
    """With one count between origin and endpoint the expectation can be summed."""
    fit = replace(
        fitted,
        forecaster=replace(QUICK, histories=40_000),
        runs=fitted.runs[:1],
        tried=fitted.tried[:1],
        _paths={},
    )
    origin = np.array([36])
    arrivals, patterns = (x.reshape(2, 6, -1) for x in fit.predict(origin, 2))
    r = fit.count_distribution(origin, 2).reshape(2, 6)
    network = fit.runs[0].parameters
    counts = np.arange(400.0)
    with computing():
        scale = jnp.asarray(fit.cells.count_scale)
        ahead = dgd.panel.sequences.days_ahead(drawn.panel, fit.features, origin, 2)
        drive = jax.vmap(network.drive)(fit.cells.identified(ahead[1])[0])
        one = jax.tree.map(lambda x: jnp.repeat(x[37][None], 400, 0), fit.states[0])
        every = jnp.asarray(np.repeat(counts[:, None], 6, 1))
        state, step = advance(network, drive, every, one, scale)
    chance = nbinom.pmf(counts[:, None], r[0], r[0] / (r[0] + arrivals[0, :, 0]))
    mean = np.asarray(step.mean)
    exact = (chance * mean).sum(0)
    np.testing.assert_allclose(arrivals[1, :, 0], exact, rtol=5e-3)
    second = (chance * (1 + np.asarray(step.spread)) * mean**2).sum(0)
    np.testing.assert_allclose(r[1], exact**2 / (second - exact**2), rtol=0.02)
    for c in range(6):
        each = np.stack([plain_patterns(network, h) for h in np.asarray(state.hidden)[:, c]])
        wanted = (chance[:, c] * mean[:, c]) @ each / exact[c]
        np.testing.assert_allclose(patterns[1, c], wanted, atol=2e-3)


def test_forecasts_keep_the_protocol(fitted):
    assert isinstance(QUICK, Forecaster)
    assert isinstance(fitted, Fitted)
    arrivals, patterns = checked_predictions("deepar", fitted, np.array([34, 36]), 3)
    np.testing.assert_allclose(patterns.sum(-1), 1.0, rtol=1e-12)
    assert (arrivals > 0).all()
    assert fitted.count_distribution(np.array([34]), 2).shape == (2, 2, 1, 2, 3)


def test_a_forecast_never_looks_past_its_origin(drawn, fitted):
    panel, origins = drawn.panel, np.array([36])
    later = panel.patterns.copy()
    later[37:] = later[37:][::-1] + 5
    effort = panel.effort.copy()
    effort[38:] *= 3.0
    changed = replace(panel, patterns=later, effort=effort)
    other = replace(fitted, panel=changed, _paths={})
    for ours, theirs in zip(fitted.predict(origins, 3), other.predict(origins, 3), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_days_after_validation_never_influence_a_fit(drawn, fitted):
    later = drawn.panel.patterns.copy()
    later[VALIDATION_END + 1 :] += 7
    changed = replace(drawn.panel, patterns=later)
    again = QUICK.fit(changed, **ends(changed), seeds=[2])
    np.testing.assert_array_equal(
        again.runs[0].validation_objective, fitted.runs[1].validation_objective
    )


def test_the_same_seed_gives_the_same_numbers(drawn, fitted):
    again = QUICK.fit(drawn.panel, **ends(drawn.panel), seeds=[2])
    origins = np.array([34, 36])
    for ours, theirs in zip(fitted.predict(origins, 3), again.predict(origins, 3), strict=True):
        np.testing.assert_array_equal(ours[1], theirs[0])
        assert not np.array_equal(ours[0], ours[1])


def test_other_origins_and_longer_horizons_change_nothing(fitted):
    arrivals, patterns = fitted.predict(np.array([34, 35, 36]), 3)
    fewer_arrivals, fewer_patterns = fitted.predict(np.array([36]), 2)
    # Batches of other sizes may be added up in another order.
    np.testing.assert_allclose(arrivals[:, :2, 2], fewer_arrivals[:, :, 0], rtol=1e-12)
    np.testing.assert_allclose(patterns[:, :2, 2], fewer_patterns[:, :, 0], rtol=1e-12)


def test_validation_chooses_the_width_for_each_seed(fitted):
    for run, tried in zip(fitted.runs, fitted.tried, strict=True):
        assert [r.parameters.cell.hidden_size for r in tried] == [2, 3]
        assert run.best_objective == min(r.best_objective for r in tried)
    assert fitted.settings["width"] == fitted.widths
    assert set(fitted.widths) <= {2, 3}


def test_nothing_arrives_without_effort(drawn):
    panel = drawn.panel
    effort, patterns = panel.effort.copy(), panel.patterns.copy()
    effort[::5, 0], patterns[::5, 0] = 0.0, 0
    closed = replace(panel, effort=effort, patterns=patterns)
    fit = QUICK.fit(closed, **ends(closed), seeds=[1])
    arrivals, patterns = fit.predict(np.array([34, 35]), 1)
    assert not arrivals[0, 0, 0, 0].any()
    assert (arrivals[0, 0, 0, 1] > 0).all()
    assert (arrivals[0, 0, 1] > 0).all()
    np.testing.assert_allclose(patterns.sum(-1), 1.0)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"widths": ()}, "widths"),
        ({"widths": (0,)}, "widths"),
        ({"histories": 0}, "histories"),
        ({"start": "warmup"}, "start"),
    ],
)
def test_settings_that_cannot_be_right_are_refused_by_name(wrong, name):
    with pytest.raises(dgd.InputError, match=name):
        DeepAR(**wrong)


def test_paper_preset_has_the_papers_values():
    paper = DeepAR.paper()
    assert (paper.start, tuple(paper.widths), paper.histories) == ("rates", (8, 16), 2048)
    assert (paper.learning_rate, paper.clip_norm, paper.epochs) == (0.01, 10.0, 300)
    assert (paper.count_weight, paper.penalty_weight) == (0.05, 0.001)


@pytest.mark.slow
@pytest.mark.parametrize(("year", "papers"), [(2010, 1.8819), (2011, 1.8305)])
def test_retail_opponent_is_no_weaker_than_the_papers(year, papers):
    data = dgd.datasets.online_retail(real_data("online_retail_ii"), window=year)
    window, panel = data.window, data.panel
    for model in (DeepAR(), DeepAR.paper()):
        fit = model.fit(
            panel,
            train_end=window.train_end,
            validation_end=window.validation_end,
            warmup_end=window.warmup_end,
            seeds=(20260915, 20260916, 20260917),
        )
        origins = np.arange(fit.split.validation_stop - 1, panel.days - 1)
        _, patterns = fit.predict(origins, 1)
        counts = panel.patterns[origins + 1].astype(np.float64)
        scores = [dgd.scoring.behavior_scores.joint_nll(counts, of_seed[0]) for of_seed in patterns]
        assert np.mean(scores) <= papers
