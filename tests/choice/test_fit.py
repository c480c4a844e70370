"""Training finds what is there, the same way every time, and files keep it."""

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
    discrete_world,
    gaussian_world,
    simulate_markets,
)
from dgd.files.tensors import read_tensors, write_tensors
from dgd.paper.choice_recovery import SEEDS, recover
from dgd.storage import load_kind
from support.random_choice import SIZES, make, offers_table
from support.refusals import refused
from support.untrained import no_training

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


@pytest.mark.slow
@pytest.mark.parametrize("world", [gaussian_world, discrete_world], ids=["gaussian", "discrete"])
def test_learned_is_below_fixed_is_below_point(world):
    """Mean divergence from the truth in markets with attributes and prices never seen."""
    divergence = {
        population: np.mean([recover(world(), population, seed) for seed in SEEDS])
        for population in ("gaussian", "fixed", "point")
    }
    assert divergence["gaussian"] < divergence["fixed"] < divergence["point"]


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


def test_the_same_seed_gives_the_same_numbers(fit: ChoiceFit, known: dgd.choice.Markets):
    alone = ChoiceModel().fit(known, validation=known.markets[TRAIN:], seeds=[2])
    assert alone.runs[0].best_objective == fit.runs[1].best_objective
    ours, theirs = alone.segments(), fit.segments().filter(pl.col("seed") == 2)
    assert ours.columns == theirs.columns
    assert ours["type"].to_list() == theirs["type"].to_list() == [1, 2]
    for column in ours.columns[3:]:
        np.testing.assert_allclose(ours[column], theirs[column], rtol=1e-12)
    assert fit.runs[0].best_objective != fit.runs[1].best_objective


def test_validation_markets_may_be_labels_markets_or_a_fraction(known: dgd.choice.Markets):
    model = ChoiceModel(epochs=2, starts=1)
    labels = known.markets[TRAIN:]
    named = model.fit(known, validation=labels, seeds=[1])
    apart = model.fit(
        known.select(known.markets[:TRAIN]), validation=known.select(labels), seeds=[1]
    )
    assert named.training == apart.training == known.markets[:TRAIN]
    assert named.runs[0].best_objective == apart.runs[0].best_objective
    drawn = model.fit(known, validation=VALIDATION / (TRAIN + VALIDATION), seeds=[1])
    assert len(drawn.training) == TRAIN
    assert drawn.training != named.training


@pytest.mark.parametrize("population", ["fixed", "discrete", "point"])
def test_every_population_goes_the_same_way(population: str, known: dgd.choice.Markets, tmp_path):
    model = ChoiceModel(population=population, epochs=3, starts=1)
    fit = model.fit(known, validation=0.25, seeds=[1])
    assert fit.runs[0].best_objective <= fit.runs[0].validation_objective[0]
    types = {"fixed": 2, "discrete": 3, "point": 1}
    assert fit.segments().height == types[population]
    assert fit.elasticities().height == (TRAIN + VALIDATION) * 9
    fit.save(tmp_path / "fit.dgd")
    assert dgd.load(tmp_path / "fit.dgd").predict().equals(fit.predict())


def test_several_starts_never_validate_worse_than_one(known: dgd.choice.Markets, fit: ChoiceFit):
    held_out = known.markets[TRAIN:]
    single = ChoiceModel(starts=1).fit(known, validation=held_out, seeds=[1, 2])
    for one, best in zip(single.runs, fit.runs, strict=True):
        assert best.seed == one.seed
        assert best.best_objective <= one.best_objective


def test_the_units_of_the_table_do_not_matter(known: dgd.choice.Markets):
    """Prices in cents, and an attribute counted from elsewhere, make the same demand."""
    table = known.rows().with_columns(pl.col("price") * 100, pl.col("style") * 50 + 1900)
    table, attributes = table.drop("available"), ["quality", "style"]
    other = dgd.choice.Markets.from_table(table, attributes=attributes, market_size=4000)
    model = ChoiceModel(epochs=20, starts=1)
    one, same = (model.fit(m, validation=0.25, seeds=[1]) for m in (known, other))
    keys = ["market", "product", "price of"]
    assert np.allclose(one.predict()["share"], same.predict()["share"], atol=1e-6)
    both = one.elasticities().join(same.elasticities(), on=keys, suffix=" same")
    assert np.allclose(both["elasticity"], both["elasticity same"], atol=1e-5)
    types, again = one.segments(), same.segments()
    assert np.allclose(types["price sensitivity"], 100 * again["price sensitivity"], rtol=1e-4)
    assert np.allclose(types["taste for style"], 50 * again["taste for style"], atol=1e-4)


def test_progress_is_told(known: dgd.choice.Markets):
    told: list[tuple[int, int, float]] = []
    model = ChoiceModel(epochs=2, starts=1)
    model.fit(known, seeds=[7], progress=lambda *news: told.append(news))
    assert told[-1][:2] == (7, 2)


def test_a_fit_with_cohorts_and_varying_products_predicts_its_markets():
    with pytest.warns(UserWarning, match=r"\d+ parameters are learned from 11 observed shares"):
        fit = ChoiceModel(epochs=3, starts=1, nodes=5).fit(
            make(sizes=SIZES), validation=["center"], seeds=[1]
        )
    table = fit.predict()
    assert table.height == 16 + 5
    total = table.group_by("market").agg(pl.col("share").sum(), pl.col("count").sum())
    assert np.allclose(total["share"], 1.0)
    assert np.allclose(total["count"], 500.0)
    assert set(fit.segments()["cohort"]) == {"new", "old"}


def test_attributes_that_follow_from_others_are_remarked_on():
    table = offers_table().with_columns(twice=2 * pl.col("style") + 1)
    markets = make(table, attributes=["quality", "style", "twice"])
    model = ChoiceModel(components=1, dim=1)
    with (
        no_training("dgd.choice.estimator"),
        pytest.warns(UserWarning, match="follow from the others"),
    ):
        model.fit(markets, validation=["east"], seeds=[1])


def test_a_saved_fit_is_the_same_fit(fit: ChoiceFit, tmp_path: Path):
    path = tmp_path / "choice.dgd"
    fit.save(path)
    again = dgd.load(path)
    assert again.settings == fit.settings
    assert again.training == fit.training
    assert again.price_range == fit.price_range
    for table in ("predict", "elasticities", "diversion", "segments", "history", "summary"):
        assert getattr(again, table)().equals(getattr(fit, table)())
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


def test_importing_and_fitting_is_quiet(known: dgd.choice.Markets):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ChoiceModel(epochs=2, starts=1).fit(known, seeds=[1])
