"""Training: the same seed gives the same numbers, and the best epoch is kept."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

import dgd
from dgd.learning.loop import Attempt, train_attempts
from dgd.learning.runs import REASONS, RUNNING
from dgd.learning.seeds import best_runs
from dgd.panel.pattern_counts import PatternCounts
from dgd.runtime import computing
from support.objectives import optimizer

TARGET = np.array([1.0, -2.0])


def parabola(parameters, data):
    """A loss whose minimum is known; validation prefers a point half way there."""
    return ((parameters - data.train) ** 2).sum(), ((parameters - data.validation) ** 2).sum()


def run(starts, **changes):
    settings = optimizer(**{"epochs": 100, "learning_rate": 0.05, "patience": 10, **changes})
    with computing():
        attempts = [
            Attempt.of(
                seed, "here", jnp.asarray(start), True, jnp.asarray(TARGET), jnp.asarray(TARGET / 2)
            )
            for seed, start in starts
        ]
        return train_attempts(attempts, parabola, settings)


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
    steps = optimizer(clip_norm=10.0).transformation()
    with computing():
        update = jax.jit(lambda gradient: steps.update(gradient, steps.init(gradient)))
        _, (_, (adam, _)) = update(jnp.asarray([300.0, 400.0]))
    np.testing.assert_allclose(adam.mu, 0.1 * np.array([6.0, 8.0]), rtol=1e-12)


def test_seeds_do_not_influence_each_other():
    together = run([(1, [3.0, 1.0]), (2, [-4.0, 2.0]), (3, [0.0, 9.0])])
    alone = run([(2, [-4.0, 2.0])])[0]
    np.testing.assert_array_equal(together[1].parameters, alone.parameters)
    np.testing.assert_array_equal(together[1].validation_objective, alone.validation_objective)


def test_the_best_start_of_a_seed_is_kept_and_what_is_not_trained_stays():
    def loss(parameters, data):
        away = parameters["free"] * data.fixed["still"] - data.train
        return (away**2).sum(), (away**2).sum()

    settings = optimizer(epochs=3, learning_rate=0.05, patience=10)
    still, near, far = np.array([2.0, 2.0]), TARGET / 2 + 0.3, TARGET + 5.0
    with computing():
        attempts = [
            Attempt.of(
                seed,
                name,
                {"free": jnp.asarray(first), "still": jnp.asarray(still)},
                {"free": True, "still": False},
                jnp.asarray(TARGET),
                None,
            )
            for seed, name, first in ((7, "far", far), (7, "near", near), (8, "far", far))
        ]
        kept = best_runs(attempts, loss, settings, None, False)
    assert [(run.seed, run.start) for run in kept] == [(7, "near"), (8, "far")]
    for run, first in zip(kept, (near, far), strict=True):
        np.testing.assert_array_equal(run.parameters["still"], still)
        assert (np.asarray(run.parameters["free"]) != first).all()


def assert_same(one, other):
    """The same program on the same numbers: equal to the last bit."""
    for ours, theirs in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def assert_same_run(one, other):
    assert one.facts == other.facts
    assert_same(one.tensors, other.tensors)


def test_the_same_seed_gives_the_same_fit(fit):
    """Whatever other seeds are fitted beside it."""
    dates = fit.panel.dates
    again = dgd.DGD(epochs=5).fit(
        fit.panel, train_end=dates[27], validation_end=dates[34], seeds=[2]
    )
    assert_same_run(again.runs[0], fit.runs[1])
    means = [np.asarray(crowd.population.means) for crowd in fit.crowds]
    assert (means[0] != means[1]).all()


def test_days_after_validation_never_influence_a_fit(fit):
    panel = fit.panel
    later = panel.patterns.copy()
    later[35:] = later[35:][::-1] + 5
    changed = replace(panel, counts=PatternCounts.of(later))
    other = dgd.DGD(epochs=5).fit(
        changed, train_end=panel.dates[27], validation_end=panel.dates[34], seeds=[1]
    )
    assert_same_run(other.runs[0], fit.runs[0])
    (facts, tensors), (same, numbers) = other.features.stored(), fit.features.stored()
    assert facts == same
    assert_same(tensors, numbers)


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
