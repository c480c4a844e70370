"""The controlled dynamics: a drift that only what is carried from day to day can follow."""

import numpy as np
import pytest

import dgd
from dgd import simulate
from dgd.paper.controlled_world import controlled_world
from dgd.paper.dynamics_recovery import PAPER, SEEDS, controlled_model, recover
from support.untrained import no_training


def test_responses_of_the_controlled_world_go_on_rising():
    """Through the training days and on through the test days, as the paper says of its own."""
    drawn = simulate(controlled_world(), 40, seed=1)
    rates = drawn.panel.behavior_counts.sum((1, 2)) / drawn.panel.arrivals.sum((1, 2))[:, None]
    first, middle, last = (
        rates[days].mean(0) for days in (slice(0, 5), slice(15, 20), slice(-5, None))
    )
    assert (first < middle).all()
    assert (middle < last).all()


def scores(summaries: str) -> dict[str, np.ndarray]:
    """Joint KL and marginal error of every seed, with dynamics and without."""
    world = controlled_world()
    return {
        dynamics: np.array(
            [recover(world, controlled_model(dynamics, summaries), seed) for seed in SEEDS]
        )
        for dynamics in ("feedback", "none")
    }


@pytest.mark.slow
def test_without_summaries_the_contrast_is_at_least_the_papers():
    """Mean KL without dynamics over mean KL with them; both errors ordered in every seed."""
    found = scores("none")
    assert (found["feedback"] < found["none"]).all()
    ratio = found["none"].mean(0) / found["feedback"].mean(0)
    for index, metric in enumerate(("joint KL", "marginal MAE")):
        assert ratio[index] > PAPER["Without dynamics", metric] / PAPER["DGD", metric]


@pytest.mark.long
def test_history_summaries_let_the_model_without_dynamics_follow_the_drift():
    """DGD is still ahead in every seed, by far less than the paper's contrast."""
    found = scores("history")
    assert (found["feedback"] < found["none"]).all()
    ratio = found["none"].mean(0) / found["feedback"].mean(0)
    assert ratio[0] < PAPER["Without dynamics", "joint KL"] / PAPER["DGD", "joint KL"]


def test_a_model_without_summaries_has_no_feature_made_of_counts(tmp_path):
    """And keeps that choice in its file."""
    drawn = simulate(controlled_world(), 20, seed=1)
    with no_training("dgd.estimator"):
        fit = dgd.DGD(start="training", summaries="none", innovations="none").fit(
            drawn.panel,
            train_end=drawn.panel.dates[13],
            validation_end=drawn.panel.dates[16],
            seeds=[1],
        )
    weekdays = ("Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    assert fit.features.names(drawn.panel) == weekdays
    assert fit.features.summaries(drawn.panel).shape == (21, 2, 2, 0)
    fit.save(tmp_path / "fit.dgd")
    again = dgd.load(tmp_path / "fit.dgd")
    assert again.settings.summaries == again.features.summarized == "none"
    origins = np.array([16, 17])
    ours, theirs = (one.predict(origins, 2).patterns for one in (fit, again))
    np.testing.assert_array_equal(ours, theirs)


def test_summaries_are_read_unless_they_are_left_out():
    assert dgd.DGD.paper().summaries == "history"
    with pytest.raises(dgd.InputError, match="choose one of auto, history, none"):
        dgd.DGD(summaries="some")
