"""Estimation finds what is there, the same way every time, and files keep it."""

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.choice import (
    ChoiceFit,
    ChoiceModel,
    Demand,
    SimulatedMarkets,
    gaussian_world,
    simulate_markets,
)
from dgd.files.tensors import read_tensors, write_tensors
from dgd.storage import load_kind
from support.random_choice import SIZES, make, offers_table
from support.refusals import refused

TRAIN, VALIDATION, TEST = 36, 12, 12
"""As many markets as the page on choice trains on, so that one compilation serves both."""


@pytest.fixture(scope="module")
def drawn() -> SimulatedMarkets:
    return simulate_markets(gaussian_world(), TRAIN + VALIDATION + TEST, seed=5)


@pytest.fixture(scope="module")
def known(drawn: SimulatedMarkets) -> dgd.choice.Markets:
    return drawn.markets.select(drawn.markets.markets[: TRAIN + VALIDATION])


@pytest.fixture(scope="module")
def fit(known: dgd.choice.Markets) -> ChoiceFit:
    held_out = known.markets[TRAIN:]
    return ChoiceModel().fit(known, validation=held_out, seeds=[1, 2])


def test_simulated_counts_follow_the_true_shares(drawn: SimulatedMarkets):
    total = drawn.products.sum(1) + drawn.outside
    assert np.allclose(total, 1.0, atol=1e-12)
    assert np.abs(drawn.markets.count / 4000 - drawn.products).max() < 0.04
    again = simulate_markets(gaussian_world(), TRAIN + VALIDATION + TEST, seed=5)
    assert np.array_equal(again.markets.count, drawn.markets.count)
    assert drawn.truth_to_frame()["share"].to_list() == drawn.products.ravel().tolist()
    with refused("markets is 0"):
        simulate_markets(gaussian_world(), 0, seed=5)


def test_a_world_may_have_other_tastes_and_prices():
    """Where buying is worth more and prices are minded less, more is bought."""
    keen = gaussian_world(attribute_effect=(3, 0.8, 0.2), price_intercept=-1, prices=(1.0, 2.0))
    drawn, usual = (simulate_markets(world, 20, seed=5) for world in (keen, gaussian_world()))
    assert drawn.outside.mean() < 0.5 * usual.outside.mean()
    low, high = drawn.markets.price_range
    assert 1.0 <= low < high <= 2.0
    with refused("price_loading is [1.0]", "give 2 numbers"):
        gaussian_world(price_loading=[1.0])


def test_true_elasticities_are_found_again(fit: ChoiceFit, drawn: SimulatedMarkets):
    test = drawn.markets.select(drawn.markets.markets[TRAIN + VALIDATION :])
    keys = ["market", "product", "price of"]
    true = Demand((drawn.world.model,), test).elasticities_table()
    both = fit.elasticities(test).join(true, on=keys, suffix=" true")
    own = both.filter(pl.col("product") == pl.col("price of"))
    assert both.height == true.height == TEST * 9
    error = (own["elasticity"] - own["elasticity true"]).abs()
    assert error.mean() < 0.1 * own["elasticity true"].abs().mean()


def test_price_sensitive_people_are_found(fit: ChoiceFit):
    """The truth: more than half watch the price and do not care for quality."""
    for _, types in fit.segments().group_by("seed"):
        careful, others = types.sort("price sensitivity", descending=True).iter_rows(named=True)
        assert careful["price sensitivity"] > 3 * others["price sensitivity"]
        assert careful["taste for quality"] < others["taste for quality"]
        assert 0.45 < careful["share"] < 0.75


def test_the_same_seeds_give_the_same_numbers(fit: ChoiceFit, known: dgd.choice.Markets):
    again = ChoiceModel().fit(known, validation=known.markets[TRAIN:], seeds=[1, 2])
    assert again.runs[0].seed == fit.runs[0].seed
    np.testing.assert_allclose(again.runs[0].best_objective, fit.runs[0].best_objective, rtol=1e-12)
    np.testing.assert_allclose(again.predict()["share"], fit.predict()["share"], rtol=1e-9)


@pytest.mark.parametrize("population", ["fixed", "discrete", "point"])
def test_every_population_goes_the_same_way(population: str, known: dgd.choice.Markets, tmp_path):
    model = ChoiceModel(population=population, epochs=3, starts=1, types="kept")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three steps do not reach the top
        fit = model.fit(known, validation=0.5, seeds=[1])
    assert fit.runs[0].best_objective <= fit.runs[0].train_objective[0]
    types = {"fixed": 2, "discrete": 3, "point": 1}
    assert fit.segments().height == types[population]
    assert fit.elasticities().height == (TRAIN + VALIDATION) * 9
    fit.save(tmp_path / "fit.dgd")
    assert dgd.load(tmp_path / "fit.dgd").predict().equals(fit.predict())


def test_more_starts_never_reach_a_lower_likelihood(known: dgd.choice.Markets, fit: ChoiceFit):
    behind = fit.summary()["behind the best"]
    assert len(behind) == 4
    assert behind.min() == 0.0
    assert fit.summary()["converged"].all()


def test_progress_is_told(known: dgd.choice.Markets):
    told: list[tuple[int, int, float]] = []
    model = ChoiceModel(epochs=400, starts=1, types="kept", components=1, dim=1)
    model.fit(known, seeds=[7], progress=lambda *news: told.append(news))
    assert {seed for seed, _, _ in told} == {7}
    steps, values = [step for _, step, _ in told], [value for *_, value in told]
    assert max(steps) > 5
    assert values[-1] < values[0]


def test_a_fit_with_cohorts_and_varying_products_predicts_its_markets():
    fit = ChoiceModel(types="kept", starts=1, nodes=5, components=1, dim=1).fit(
        make(sizes=SIZES), validation=["center"], seeds=[1]
    )
    table = fit.predict()
    assert table.height == 16 + 5
    total = table.group_by("market").agg(pl.col("share").sum(), pl.col("count").sum())
    assert np.allclose(total["share"], 1.0)
    assert np.allclose(total["count"], 500.0)
    assert set(fit.segments()["cohort"]) == {"new", "old"}


def test_a_saved_fit_is_the_same_fit(fit: ChoiceFit, tmp_path: Path):
    path = tmp_path / "choice.dgd"
    fit.save(path)
    again = dgd.load(path)
    assert again.settings == fit.settings
    assert again.training == fit.training
    assert again.price_range == fit.price_range
    for table in (
        "predict", "elasticities", "diversion", "segments", "history", "summary", "coefficients",
    ):  # fmt: skip
        assert getattr(again, table)().equals(getattr(fit, table)())
    assert again.record == fit.record
    assert again.sentences() == fit.sentences()
    again.save(tmp_path / "again.dgd")
    assert (tmp_path / "again.dgd").read_bytes() == path.read_bytes()
    assert repr(again) == repr(fit)


def test_a_file_of_another_kind_is_named(fit: ChoiceFit, tmp_path: Path):
    path = tmp_path / "choice.dgd"
    fit.save(path)
    assert isinstance(load_kind(path, ChoiceFit), ChoiceFit)
    with pytest.raises(dgd.ModelFileError, match="holds a choice fit, and this needs a fit"):
        load_kind(path, dgd.Fit)


def test_an_incomplete_file_is_refused(fit: ChoiceFit, tmp_path: Path):
    path = tmp_path / "choice.dgd"
    fit.save(path)
    holds, facts, tensors = read_tensors(path)
    tensors["markets/prize"] = tensors.pop("markets/price")
    write_tensors(path, holds, facts, tensors)
    with pytest.raises(dgd.ModelFileError, match=r"not a complete dgd model.*markets/price"):
        dgd.load(path)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"components": 0}, ["components is 0"]),
        ({"starts": 0}, ["starts is 0"]),
        ({"learning_rate": -1.0}, ["learning_rate is -1"]),
        ({"penalty_weight": -1.0}, ["penalty_weight"]),
        ({"initial_scale": 0.01}, ["initial_scale", "from 0.051 to 10"]),
        ({"population": "normal"}, ["normal", "gaussian, fixed"]),
        ({"method": "adam"}, ["adam", "likelihood, early stopping"]),
        ({"quality": "seen"}, ["seen", "auto, control, inverted, none"]),
        ({"types": "some"}, ["some", "earned, kept"]),
        ({"dynamics": "yes"}, ["yes", "none, feedback"]),
    ],
    ids=str,
)
def test_wrong_settings_are_refused(settings, words: list[str]):
    with refused(*words):
        ChoiceModel(**settings)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seeds": []}, ["seeds is []"]),
        ({"seeds": [1, 1]}, ["each only once"]),
        ({"validation": 1.5}, ["1.5", "between 0 and 1"]),
        ({"validation": "north"}, ['["north"]']),
        ({"validation": ["nowhere"]}, ["nowhere", "correct the label"]),
        ({"validation": ["north", "south", "east", "west", "center"]}, ["every market"]),
    ],
    ids=str,
)
def test_wrong_calls_are_refused(options, words: list[str]):
    with refused(*words):
        ChoiceModel().fit(make(), **options)


def test_other_validation_markets_are_refused():
    with refused("cohorts of validation", "make both the same way"):
        ChoiceModel().fit(make(), validation=make(sizes=SIZES))
    with refused("validation was made with count=None"):
        ChoiceModel().fit(make(), validation=make().with_scaled_prices(1.0))
    with refused("single market"):
        ChoiceModel().fit(make().select(["north"]))


def test_columns_that_a_way_of_fitting_does_not_look_at_are_refused():
    table = offers_table().with_columns(cost=pl.col("price") ** 2, who=pl.col("market"))
    priced, repeated = make(table, instruments=["cost"]), make(table, household="who")
    for settings in ({"method": "early stopping"}, {"dynamics": "feedback"}):
        with refused("instruments", 'quality="none"'):
            ChoiceModel(**settings).fit(priced)
        with refused("households"):
            ChoiceModel(**settings).fit(repeated)
    with refused("households"):
        ChoiceModel(quality="inverted").fit(repeated)


def test_importing_and_fitting_is_quiet(known: dgd.choice.Markets):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ChoiceModel(population="point").fit(known, seeds=[1])
