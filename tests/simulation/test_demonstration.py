"""The demonstration compares what was recovered with the truth, and comes out ahead."""

import pytest

from dgd import DGD
from dgd.simulation import demonstration
from dgd.simulation.demonstration import SEEDS, Demonstration, demonstrate


@pytest.fixture(scope="module")
def brief() -> Demonstration:
    """As many training days as most tests have, so that nothing is compiled for it alone."""
    with pytest.MonkeyPatch.context() as patch:
        for name, days in {"TRAIN_DAYS": 28, "VALIDATION_DAYS": 7, "TEST_DAYS": 10}.items():
            patch.setattr(demonstration, name, days)
        return demonstrate(DGD(epochs=5))


def test_every_behavior_of_every_cohort_is_compared(brief: Demonstration) -> None:
    panel = brief.drawn.panel
    assert brief.recovery.height == len(panel.cohorts) * len(panel.behaviors)
    probabilities = brief.recovery.select("true", "recovered", "training average")
    assert probabilities.min_horizontal().min() > 0.0
    assert probabilities.max_horizontal().max() < 1.0
    assert (brief.divergence["joint KL"] > 0.0).all()


def test_one_and_seven_days_are_set_beside_the_last_day(brief: Demonstration) -> None:
    table, panel = brief.forecasts, brief.drawn.panel
    expected = [(days, name) for days in (1, 7) for name in ("arrivals", *panel.behaviors)]
    assert table.select("days ahead", "daily total").rows() == expected
    totals = panel.arrivals.sum((1, 2))
    first = table.row(0, named=True)
    assert first["happened (mean)"] == pytest.approx(totals[35:].mean())
    error = abs(totals[35:] - totals[34:-1]).mean()
    assert first["last-day error"] == pytest.approx(error)


def test_all_seeds_are_fitted(brief: Demonstration) -> None:
    assert brief.fit.seeds == SEEDS
    assert brief.fit.diverged == ()


def test_a_payload_holds_the_tables(brief: Demonstration) -> None:
    told = brief.payload()
    assert told.keys() == {"recovery", "divergence", "forecasts"}
    assert told["forecasts"] == brief.forecasts.to_dicts()
    assert [table.height for table in brief.tables().values()] == [3, 9, 3, 8]


@pytest.fixture(scope="module")
def whole() -> Demonstration:
    return demonstrate(DGD(epochs=60, patience=20))


@pytest.mark.slow
def test_dgd_comes_closer_to_the_truth_than_averages_and_the_last_day(
    whole: Demonstration,
) -> None:
    distance = dict(whole.divergence.rows())
    assert 0.0 < distance["dgd"] < distance["training average"]
    assert distance["dgd"] < distance["last day, smoothed"]


@pytest.mark.slow
def test_recovered_probabilities_are_nearer_than_the_training_average(
    whole: Demonstration,
) -> None:
    table = whole.recovery
    recovered = (table["recovered"] - table["true"]).abs().mean()
    average = (table["training average"] - table["true"]).abs().mean()
    assert recovered < average


@pytest.mark.slow
def test_forecasts_err_less_than_the_last_day(whole: Demonstration) -> None:
    assert whole.forecasts["dgd error"].sum() < whole.forecasts["last-day error"].sum()
