"""Training: the same seed gives the same numbers, and the best epoch is kept."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import dgd
from dgd.learning.loop import REASONS, RUNNING, Optimizer, train
from dgd.runtime import computing


def parabola(parameters, data):
    """A loss whose minimum is known; validation prefers a point half way there."""
    away = parameters - data
    return (away**2).sum(), ((parameters - 0.5 * data) ** 2).sum()


def run(starts, **changes):
    optimizer = Optimizer(epochs=100, learning_rate=0.05, patience=10)
    with computing():
        given = [(seed, jnp.asarray(start)) for seed, start in starts]
        return train(given, parabola, jnp.asarray([1.0, -2.0]), replace(optimizer, **changes))


def test_validation_chooses_the_epoch():
    (only,) = run([(1, [0.0, 0.0])])
    assert only.best_epoch == int(np.argmin(only.validation_objective))
    assert only.best_objective == only.validation_objective.min()
    assert len(only.validation_objective) == only.best_epoch + 11
    assert only.reason == "validation stopped improving"


def test_the_start_is_kept_when_nothing_beats_it():
    (only,) = run([(1, [0.5, -1.0])])
    assert only.best_epoch == 0
    np.testing.assert_allclose(only.parameters, [0.5, -1.0])


def test_training_ends_after_the_last_epoch():
    (only,) = run([(1, [30.0, 30.0])], epochs=33)
    assert len(only.train_objective) == 34
    assert only.best_epoch == 33
    assert only.reason == REASONS[RUNNING]


def test_gradients_are_clipped_to_the_norm_before_adam_sees_them():
    steps = Optimizer(clip_norm=10.0).transformation()
    with computing():
        _, (_, (adam, _)) = steps.update(jnp.asarray([300.0, 400.0]), steps.init(jnp.zeros(2)))
    np.testing.assert_allclose(adam.mu, 0.1 * np.array([6.0, 8.0]), rtol=1e-12)


def test_seeds_do_not_influence_each_other():
    together = run([(1, [3.0, 1.0]), (2, [-4.0, 2.0]), (3, [0.0, 9.0])])
    alone = run([(2, [-4.0, 2.0])])[0]
    np.testing.assert_array_equal(together[1].parameters, alone.parameters)
    np.testing.assert_array_equal(together[1].validation_objective, alone.validation_objective)


@pytest.fixture(scope="module")
def small():
    drawn = dgd.simulate(dgd.example_world(arrivals=15), 40, seed=3)
    ends = {"train_end": drawn.panel.dates[25], "validation_end": drawn.panel.dates[32]}
    return drawn, ends


def test_the_same_seed_gives_the_same_fit(small):
    drawn, ends = small
    model = dgd.DGD(epochs=5, patience=5)
    first = model.fit(drawn.panel, **ends, seeds=[1, 2])
    again = model.fit(drawn.panel, **ends, seeds=[2])
    origins = np.array([32, 35])
    for ours, theirs in zip(first.predict(origins, 2), again.predict(origins, 2), strict=True):
        np.testing.assert_array_equal(ours[1], theirs[0])
        assert not np.array_equal(ours[0], ours[1])


def test_days_after_validation_never_influence_a_fit(small):
    drawn, ends = small
    panel = drawn.panel
    later = panel.patterns.copy()
    later[33:] = later[33:][::-1] + 5
    changed = replace(panel, patterns=later)
    model = dgd.DGD(epochs=5, patience=5)
    one = model.fit(panel, **ends, seeds=[1])
    other = model.fit(changed, **ends, seeds=[1])
    np.testing.assert_array_equal(
        one.runs[0].validation_objective, other.runs[0].validation_objective
    )
    origin = np.array([32])
    np.testing.assert_array_equal(one.predict(origin, 1)[1], other.predict(origin, 1)[1])


def test_paper_preset_has_the_papers_values():
    paper = dgd.DGD.paper()
    values = {
        "components": 2, "nodes": 7, "dim": 1, "dispersion": 50.0, "learning_rate": 0.025,
        "clip_norm": 10.0, "count_weight": 0.05, "expected_weight": 0.15,
        "penalty_weight": 0.001, "epochs": 120, "patience": 20, "start": "warmup",
        "behavior_penalty": 1.0, "calendar_penalty": 1.0, "summary_retention": 0.85,
    }  # fmt: skip
    assert {name: getattr(paper, name) for name in values} == values
    assert dgd.DGD.paper(epochs=300).epochs == 300
