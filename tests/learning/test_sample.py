"""Of very many units some are trained on: those that stand for all."""

import jax
import numpy as np
import pytest

import dgd
from dgd.learning import sample
from dgd.learning.sample import Sample
from dgd.panel.sequences import recorded_days
from dgd.processes.group import ALONE
from dgd.runtime import computing
from support.large_fits import first_fit, sparse_panel


@pytest.fixture(scope="module")
def fit() -> dgd.Fit:
    return first_fit(sparse_panel(40, days=30))


@pytest.fixture
def some(fit: dgd.Fit, monkeypatch: pytest.MonkeyPatch) -> Sample:
    """Ten of forty units."""
    of_a_unit = fit.split.validation_stop * 2 * 4 * 14
    monkeypatch.setattr(sample, "MOST_NUMBERS", 10 * of_a_unit)
    return Sample.of(fit.settings, fit.panel, fit.split, fit.features, ALONE)


def test_few_units_are_all_trained_on(fit: dgd.Fit) -> None:
    whole = Sample.of(fit.settings, fit.panel, fit.split, fit.features, ALONE)
    assert whole.is_everyone
    assert whole.of_all(fit.crowds[0]) is fit.crowds[0]


def test_cohorts_of_a_sample_carry_what_all_units_counted(fit: dgd.Fit, some: Sample) -> None:
    assert len(some.panel.units) == 10
    with computing():
        _, of_some = recorded_days(some.panel, some.maker, 0, 20, 50.0)
        _, of_all = recorded_days(fit.panel, fit.features, 0, 20, 50.0)
        np.testing.assert_array_equal(of_some.totals.arrivals, of_all.totals.arrivals)
        np.testing.assert_array_equal(of_some.totals.behaviors, of_all.totals.behaviors)
        scaled = of_some.times * of_some.arrivals.sum((0, 1))
    np.testing.assert_allclose(scaled, of_all.arrivals.sum((0, 1)))


def test_what_was_learned_serves_all_units(fit: dgd.Fit, some: Sample) -> None:
    """Nothing that is learned belongs to a unit; those beside the sample are like those in it."""
    few = fit.of_units(np.arange(10)).crowds[0]
    with computing():
        whole = some.of_all(few)
    for found, given in zip(jax.tree.leaves(whole), jax.tree.leaves(fit.crowds[0]), strict=True):
        np.testing.assert_array_equal(found, given)
    assert some.how == "10 units for all 40"


def test_the_fit_of_a_sample_forecasts_every_unit(
    fit: dgd.Fit, some: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    dates = fit.panel.dates
    found = dgd.DGD(epochs=1).fit(
        fit.panel, train_end=dates[17], validation_end=dates[24], seeds=[1], progress=False
    )
    assert found.summary()["trained by"].to_list() == ["10 units for all 40"]
    assert found.expected(np.array([25]), 2).arrivals.shape == (1, 2, 1, 40, 2)
