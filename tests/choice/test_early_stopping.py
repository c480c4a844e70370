"""The paper's protocol: Adam, stopped by validation markets, one parameter set per seed."""

import numpy as np
import pytest

import dgd
from dgd.choice import ChoiceModel, ChoiceSettings, discrete_world, gaussian_world, simulate_markets
from dgd.paper.choice_recovery import SEEDS, recover
from support.refusals import refused

TRAIN = 36


@pytest.fixture(scope="module")
def known() -> dgd.choice.Markets:
    return simulate_markets(gaussian_world(), 48, seed=5).markets


@pytest.mark.slow
@pytest.mark.parametrize("world", [gaussian_world, discrete_world], ids=["gaussian", "discrete"])
def test_learned_is_below_fixed_is_below_point(world):
    """Mean divergence from the truth in markets with attributes and prices never seen."""
    divergence = {}
    for population in ("gaussian", "fixed", "point"):
        settings = ChoiceSettings(population=population, method="early stopping", epochs=180)
        divergence[population] = np.mean([recover(world(), settings, seed) for seed in SEEDS])
    assert divergence["gaussian"] < divergence["fixed"] < divergence["point"]


def test_every_seed_has_its_parameters_at_its_best_epoch(known: dgd.choice.Markets, tmp_path):
    model = ChoiceModel(method="early stopping", epochs=4, starts=2)
    fit = model.fit(known, validation=known.markets[TRAIN:], seeds=[1, 2])
    assert fit.seeds == (1, 2)
    assert fit.training == known.markets[:TRAIN]
    for run in fit.runs:
        assert run.best_objective == run.validation_objective.min()
    assert fit.runs[0].best_objective != fit.runs[1].best_objective
    fit.save(tmp_path / "fit.dgd")
    assert dgd.load(tmp_path / "fit.dgd").predict().equals(fit.predict())
    with refused("early stopping", 'method="likelihood"'):
        fit.elasticities(level=90)


def test_validation_markets_may_be_labels_markets_or_a_fraction(known: dgd.choice.Markets):
    model = ChoiceModel(method="early stopping", epochs=2, starts=1)
    labels = known.markets[TRAIN:]
    named = model.fit(known, validation=labels, seeds=[1])
    apart = model.fit(
        known.select(known.markets[:TRAIN]), validation=known.select(labels), seeds=[1]
    )
    assert named.training == apart.training == known.markets[:TRAIN]
    np.testing.assert_allclose(named.runs[0].best_objective, apart.runs[0].best_objective)
    drawn = model.fit(known, validation=0.25, seeds=[1])
    assert len(drawn.training) == TRAIN
    assert drawn.training != named.training
