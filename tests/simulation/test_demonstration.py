"""The demonstration recovers the truth better than what needs no model."""

import pytest

from dgd.estimator import DGD
from dgd.simulation.demonstration import SEEDS, Demonstration, demonstrate


@pytest.fixture(scope="module")
def shown() -> Demonstration:
    return demonstrate(DGD(epochs=60, patience=20))


def test_dgd_comes_closer_to_the_truth_than_averages_and_the_last_day(
    shown: Demonstration,
) -> None:
    distance = dict(shown.divergence.rows())
    assert 0.0 < distance["dgd"] < distance["training average"]
    assert distance["dgd"] < distance["last day, smoothed"]


def test_every_behavior_of_every_cohort_is_compared(shown: Demonstration) -> None:
    panel = shown.drawn.panel
    assert shown.recovery.height == len(panel.cohorts) * len(panel.behaviors)
    probabilities = shown.recovery.select("true", "recovered", "training average")
    assert probabilities.min_horizontal().min() > 0.0
    assert probabilities.max_horizontal().max() < 1.0


def test_recovered_probabilities_are_nearer_than_the_training_average(
    shown: Demonstration,
) -> None:
    table = shown.recovery
    recovered = (table["recovered"] - table["true"]).abs().mean()
    average = (table["training average"] - table["true"]).abs().mean()
    assert recovered < average


def test_one_and_seven_days_are_set_beside_the_last_day(shown: Demonstration) -> None:
    table = shown.forecasts
    quantities = ["arrivals", *shown.drawn.panel.behaviors]
    expected = [(days, name) for days in (1, 7) for name in quantities]
    assert table.select("days ahead", "daily total").rows() == expected
    assert table["dgd error"].sum() < table["last-day error"].sum()


def test_all_seeds_are_fitted(shown: Demonstration) -> None:
    assert shown.fit.seeds == SEEDS
    assert shown.fit.diverged == ()
