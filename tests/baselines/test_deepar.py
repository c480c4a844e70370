"""DeepAR-joint: its network is what the formulas say, its forecasts know only the past."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import nbinom

import dgd
from dgd.baselines import DeepAR
from dgd.baselines.cell_inputs import CellDays, CellInputs
from dgd.baselines.deepar_histories import advance
from dgd.baselines.deepar_network import (
    DeepARNetwork,
    DeepARObjective,
    start_from_training,
    training_days,
)
from dgd.baselines.marks import joint_probabilities, marks_from_patterns, marks_from_rates
from dgd.forecasting.protocol import checked_prediction
from dgd.learning.loop import TrainingData
from dgd.learning.starts import reference_rates
from dgd.model import behavior_bits
from dgd.panel.features import FeatureMaker
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.sequences import days_ahead
from dgd.runtime import computing
from support.real_data import real_data

TRAIN_END, VALIDATION_END = 27, 34
ORIGINS = np.array([34, 36])
RUN = eqx.filter_jit(DeepARNetwork.run)
OBJECTIVE = eqx.filter_jit(DeepARObjective(count_weight=0.05, penalty_weight=0.001))


@pytest.fixture(scope="module")
def split(drawn: dgd.Simulated, ends: dict[str, Any]) -> dgd.Split:
    return dgd.Split.of(drawn.panel, *ends.values(), None)


@pytest.fixture(scope="module")
def prepared(drawn: dgd.Simulated, split: dgd.Split) -> tuple[CellDays, CellDays, DeepARNetwork]:
    """Training days, validation days and a random network on the small world."""
    panel = drawn.panel
    rates = reference_rates(panel, split.warmup)
    maker = FeatureMaker.fitted(panel, split, rates, "weekday", 0.85)
    with computing():
        train, validation = training_days(panel, split, maker, CellInputs.fitted(panel, split))
        marks = marks_from_patterns(panel, split)
        network = DeepARNetwork.random(train.inputs.shape[-1], 3, marks, jax.random.key(4))
    return train, validation, network


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
    train, _, network = prepared
    cells = len(train.scale)
    with computing():
        states = RUN(network, train, network.at_rest(cells))
    wanted = plain_states(network, train, np.zeros((cells, 3)), np.zeros((cells, 3)))
    np.testing.assert_allclose(states.hidden, wanted, rtol=1e-10, atol=1e-12)


def test_the_objective_equals_a_plain_loop(prepared):
    train, validation, network = prepared
    cells = len(train.scale)
    scale = np.asarray(train.scale)
    hidden, memory = np.zeros((cells, 3)), np.zeros((cells, 3))
    values = []
    for days in (train, validation):
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
    free, fixed = eqx.partition(network, eqx.is_inexact_array)
    with computing():
        ours = OBJECTIVE(free, TrainingData(fixed, train, validation))
    np.testing.assert_allclose(ours[0], values[0] + 1e-3 * np.mean(parameters**2), rtol=1e-9)
    np.testing.assert_allclose(ours[1], values[1], rtol=1e-9)


def test_inputs_hold_the_cell_and_the_preceding_count(drawn, prepared):
    train, validation, _ = prepared
    arrivals = drawn.panel.arrivals.reshape(40, -1)
    scale = 1 + arrivals[: TRAIN_END + 1].mean(0)
    np.testing.assert_allclose(train.scale, scale)
    previous = np.asarray(train.previous)
    assert not np.any(previous[0])
    np.testing.assert_allclose(previous[1:], arrivals[:TRAIN_END] / scale)
    np.testing.assert_allclose(np.asarray(validation.previous)[0], arrivals[TRAIN_END] / scale)
    np.testing.assert_array_equal(np.asarray(train.inputs)[0, :, -6:], np.eye(6))


def test_mark_biases_start_at_the_training_rates(drawn, split):
    panel = drawn.panel
    bias, dependence = marks_from_rates(panel, split)
    days = slice(0, TRAIN_END + 1)
    shown, arrivals = panel.behavior_counts[days].sum((0, 1, 2)), panel.arrivals[days].sum()
    np.testing.assert_allclose(expit(bias), (shown + 0.5) / (arrivals + 1))
    assert not dependence.any()


@eqx.filter_jit
def at_hidden(network, hidden):
    """Patterns of cells in the given states, and the mean count of one at rest."""
    logits = jax.vmap(network.marks.logits)(hidden)
    mean, _ = network.count(jnp.zeros(3), jnp.asarray(7.0))
    return joint_probabilities(logits, network.marks.dependence), mean


def test_the_training_start_predicts_the_training_days_for_everyone(drawn, split, prepared):
    panel, inputs = drawn.panel, prepared[0].inputs.shape[-1]
    hidden = np.random.default_rng(2).normal(size=(4, 3))
    with computing():
        network = start_from_training(panel, split, inputs, 3, jax.random.key(1))
        patterns, mean = at_hidden(network, jnp.asarray(hidden))
    counts = panel.patterns[split.train].sum((0, 1, 2))
    rates = counts @ behavior_bits(3) / counts.sum()
    for cell in np.asarray(patterns).T:
        np.testing.assert_allclose(cell @ behavior_bits(3), rates, atol=0.01)
    np.testing.assert_allclose(mean, 7.0, rtol=1e-6)


def test_one_day_ahead_is_the_closed_form(drawn, deepar):
    panel = drawn.panel
    predicted = deepar.predict(ORIGINS, 2)
    for s, network in enumerate(deepar.parameters):
        for o, origin in enumerate(ORIGINS):
            hidden = np.asarray(deepar.states[s].hidden)[origin + 1]
            for c, scale in enumerate(deepar.cells.count_scale):
                out = np.asarray(network.count_projection) @ hidden[c]
                out = out + np.asarray(network.count_bias)
                mean = scale * (softplus(out[0]) + 1e-8)
                r = np.sqrt(scale) / (softplus(out[1]) + 1e-8)
                cell = (s, 0, o, *np.unravel_index(c, panel.arrivals.shape[1:]))
                np.testing.assert_allclose(predicted.arrivals[cell], mean, rtol=1e-9)
                np.testing.assert_allclose(predicted.dispersion[cell], r, rtol=1e-6)
                patterns = plain_patterns(network, hidden[c])
                np.testing.assert_allclose(predicted.patterns[cell], patterns)


def test_sampled_histories_approach_the_exact_two_day_forecast(drawn, deepar):
    """With one count between origin and endpoint the expectation can be summed."""
    many = replace(deepar.forecaster, histories=40_000)
    fit = replace(deepar, forecaster=many, runs=deepar.runs[:1], _predicted={})
    origin = np.array([36])
    predicted = fit.predict(origin, 2)
    arrivals, r = (x.reshape(2, 6) for x in (predicted.arrivals, predicted.dispersion))
    network = fit.parameters[0]
    counts = np.arange(400.0)
    with computing():
        ahead = days_ahead(drawn.panel, fit.features, origin, 2)
        drive = jax.vmap(network.drive)(fit.cells.identified(ahead[1])[0])
        one = jax.tree.map(lambda x: jnp.repeat(x[37][None], 400, 0), fit.states[0])
        every = jnp.asarray(np.repeat(counts[:, None], 6, 1))
        state, step = advance(network, drive, every, one, jnp.asarray(fit.cells.count_scale))
    chance = nbinom.pmf(counts[:, None], r[0], r[0] / (r[0] + arrivals[0]))
    mean = np.asarray(step.mean)
    exact = (chance * mean).sum(0)
    np.testing.assert_allclose(arrivals[1], exact, rtol=5e-3)
    second = (chance * (1 + np.asarray(step.spread)) * mean**2).sum(0)
    np.testing.assert_allclose(r[1], exact**2 / (second - exact**2), rtol=0.02)
    patterns = predicted.patterns.reshape(2, 6, -1)
    for c in range(6):
        each = np.stack([plain_patterns(network, h) for h in np.asarray(state.hidden)[:, c]])
        wanted = (chance[:, c] * mean[:, c]) @ each / exact[c]
        np.testing.assert_allclose(patterns[1, c], wanted, atol=2e-3)


def test_drawn_paths_have_the_moments_of_the_forecast(deepar):
    """Two days ahead the mixture over histories is wider than the law of a single one."""
    alone = replace(deepar, runs=deepar.runs[:1], _predicted={})
    predicted = replace(alone, forecaster=replace(deepar.forecaster, histories=4000)).predict(
        ORIGINS, 2
    )
    paths = predicted.sample(np.random.default_rng(1), 4000).sum(-1)
    mean, r = predicted.arrivals[0], predicted.dispersion[0]
    variance = mean + mean**2 / r
    assert (np.abs(paths.mean(0) - mean) < 6 * np.sqrt(variance / 4000)).all()
    np.testing.assert_allclose(paths.var(0), variance, rtol=0.25)


def test_a_forecast_never_looks_past_its_origin(drawn, deepar):
    panel, origins = drawn.panel, np.array([36])
    later = panel.patterns.copy()
    later[37:] = later[37:][::-1] + 5
    effort = panel.effort.copy()
    effort[38:] *= 3.0
    changed = replace(panel, counts=PatternCounts.of(later), effort=effort)
    other = replace(deepar, panel=changed, _predicted={})
    ours, theirs = (fit.predict(origins, 2) for fit in (deepar, other))
    for name in ("arrivals", "patterns", "dispersion"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-12)


@pytest.fixture(scope="module")
def again(drawn, ends, deepar):
    """Seed 2 alone, on a panel that differs after the validation days."""
    later = drawn.panel.patterns.copy()
    later[VALIDATION_END + 1 :] += 7
    return deepar.forecaster.fit(
        replace(drawn.panel, counts=PatternCounts.of(later)), **ends, seeds=[2]
    )


def test_days_after_validation_never_influence_a_fit(deepar, again):
    assert again.tried == tuple(one for one in deepar.tried if one.seed == 2)
    np.testing.assert_array_equal(
        again.runs[0].validation_objective, deepar.runs[1].validation_objective
    )


def test_the_same_seed_gives_the_same_numbers(drawn, deepar, again):
    """The same networks on the same counts draw the same histories."""
    same = replace(again, panel=drawn.panel)
    ours, theirs = (fit.predict(ORIGINS, 2) for fit in (deepar, same))
    for name in ("arrivals", "patterns", "dispersion"):
        np.testing.assert_allclose(getattr(ours, name)[1], getattr(theirs, name)[0], rtol=1e-12)
    assert not np.allclose(ours.arrivals[0], ours.arrivals[1])


def test_other_origins_and_longer_horizons_change_nothing(deepar):
    more, fewer = deepar.predict(np.array([34, 35, 36]), 3), deepar.predict(np.array([36]), 2)
    # Batches of other sizes may be added up in another order.
    for name in ("arrivals", "patterns", "dispersion"):
        found, wanted = (getattr(one, name) for one in (more, fewer))
        np.testing.assert_allclose(found[:, :2, 2], wanted[:, :, 0], rtol=1e-12)


def test_validation_chooses_the_width_for_each_seed(deepar):
    assert [(one.seed, one.width) for one in deepar.tried] == [(1, 2), (2, 2), (1, 3), (2, 3)]
    for run, width in zip(deepar.runs, deepar.widths, strict=True):
        tried = [one for one in deepar.tried if one.seed == run.seed]
        best = min(tried, key=lambda one: one.objective)
        assert (best.objective, best.width, best.epoch) == (
            run.best_objective,
            width,
            run.best_epoch,
        )
    assert deepar.settings["width"] == deepar.widths


def test_nothing_arrives_without_effort(drawn, ends, deepar):
    panel = drawn.panel
    effort, patterns = panel.effort.copy(), panel.patterns.copy()
    effort[::5, 0], patterns[::5, 0] = 0.0, 0
    closed = replace(panel, effort=effort, counts=PatternCounts.of(patterns))
    fit = replace(deepar.forecaster, widths=(2,)).fit(closed, **ends, seeds=[1])
    predicted = checked_prediction("deepar", fit, np.array([34, 35]), 1)
    arrivals = predicted.arrivals[0, 0]
    assert not arrivals[0, 0].any()
    assert (arrivals[0, 1] > 0).all()
    assert (arrivals[1] > 0).all()
    paths = predicted.sample(np.random.default_rng(1), 64)
    assert not paths[:, 0, 0, 0].any()
    assert paths[:, 0, 0, 1].any((0, 2)).all()


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


@pytest.mark.long
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
        patterns = fit.predict(origins, 1).patterns
        counts = panel.patterns[origins + 1].astype(np.float64)
        scores = [dgd.scoring.joint_nll(counts, of_seed[0]) for of_seed in patterns]
        assert np.mean(scores) <= papers
