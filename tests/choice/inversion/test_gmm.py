"""Demand by instruments where prices follow quality: the truth comes back, with its errors."""

from dataclasses import replace

import numpy as np
import pytest

from dgd.choice import ChoiceDemand, Markets, Offers
from dgd.choice.fitted_offers import FittedOffers
from dgd.choice.inversion.gmm import estimate_quality
from dgd.choice.inversion.quality_estimate import QualityEstimate
from dgd.errors import InputError
from dgd.runtime import computing
from support.endogenous_markets import EndogenousTruth, endogenous_markets


def met(markets: Markets, demand: ChoiceDemand, quality: np.ndarray) -> np.ndarray:
    """Predicted less observed shares."""
    with computing():
        shares = demand.shares(FittedOffers(markets, quality).of(markets)).products
    observed = markets.count / markets.size[:, None]
    return np.abs(np.asarray(shares) - observed)[markets.available]


def own_elasticity(markets: Markets, demand: ChoiceDemand, quality: np.ndarray) -> float:
    with computing():
        offers: Offers = FittedOffers(markets, quality).of(markets)
        slopes = np.asarray(demand.price_derivatives(offers).products)
        shares = np.asarray(demand.shares(offers).products)
    own = np.einsum("mjj->mj", slopes)[markets.available]
    return float((own * markets.price[markets.available] / shares[markets.available]).mean())


@pytest.fixture(scope="module")
def endogenous() -> tuple[Markets, EndogenousTruth]:
    return endogenous_markets(11, 400, 0.9)


@pytest.fixture(scope="module")
def logit(endogenous: tuple[Markets, EndogenousTruth]) -> QualityEstimate:
    return estimate_quality(endogenous[0], heterogeneous=False, dim=1, nodes=1)


def test_elasticities_come_back_where_a_regression_without_instruments_is_far_off(
    endogenous: tuple[Markets, EndogenousTruth], logit: QualityEstimate
) -> None:
    markets, truth = endogenous
    found = own_elasticity(markets, logit.demand, logit.quality)
    assert truth.own_elasticity == pytest.approx(-4.0, abs=0.1)
    assert found == pytest.approx(truth.own_elasticity, rel=0.05)
    rows = markets.available
    value = np.log((markets.count / markets.outside[:, None])[rows])
    known = np.c_[markets.attributes[rows], markets.price[rows]]
    plain = -np.linalg.lstsq(known, value, rcond=None)[0][-1]
    assert plain < 0.7 * truth.price_coefficient


def test_quality_and_tastes_are_those_that_made_the_markets(
    endogenous: tuple[Markets, EndogenousTruth], logit: QualityEstimate
) -> None:
    markets, truth = endogenous
    rows = markets.available
    assert np.corrcoef(logit.quality[rows], truth.quality[rows])[0, 1] > 0.99
    assert not logit.quality[~rows].any()
    with computing():
        points = logit.demand.population.support().points
        tastes = np.asarray(logit.demand.tastes(points))[0, 0]
    assert np.abs(tastes[1:] - truth.tastes[1:]).max() < 0.05


def test_the_estimate_meets_every_share(
    endogenous: tuple[Markets, EndogenousTruth], logit: QualityEstimate
) -> None:
    assert met(endogenous[0], logit.demand, logit.quality).max() < 1e-12
    assert logit.converged
    assert logit.first_stage > 100
    assert logit.hansen is None


def test_the_truth_lies_within_the_errors_as_often_as_they_say() -> None:
    """Two dozen worlds: the price effect divided by its error scatters like a standard normal."""
    off = []
    for seed in range(24):
        markets, truth = endogenous_markets(100 + seed, 60, 0.9)
        found = estimate_quality(markets, heterogeneous=False, dim=1, nodes=1, steps=1)
        unit = float(found.demand.scales.price)
        error = found.standard_errors[-1]
        off.append((found.parameters[-1] - truth.price_coefficient * unit) / error)
    assert 0.7 < np.std(off) < 1.4
    assert abs(np.mean(off)) < 0.55


def test_draws_scatter_as_the_errors_say_and_meet_every_share(
    endogenous: tuple[Markets, EndogenousTruth], logit: QualityEstimate
) -> None:
    markets, _ = endogenous
    drawn = logit.draws(np.random.default_rng(5), 200)
    sensitivity = [np.logaddexp(0.0, float(demand.utility.price_intercept)) for demand, _ in drawn]
    assert np.std(sensitivity) == pytest.approx(logit.standard_errors[-1], rel=0.2)
    assert np.mean(sensitivity) == pytest.approx(logit.parameters[-1], rel=0.02)
    for demand, quality in drawn[:3]:
        assert met(markets, demand, quality).max() < 1e-12
    assert np.abs(drawn[0][1] - drawn[1][1]).max() > 1e-3


def test_absorbed_labels_give_the_effects_of_dummies() -> None:
    """Products absorbed, or a 0/1 column for each but the first: the same demand."""
    absorbed, _ = endogenous_markets(12, 80, 0.6, extra_costs=1, absorb=["product"])
    codes = absorbed.product[..., None] == np.arange(1, len(absorbed.products))
    plain = replace(
        absorbed,
        attributes=np.concatenate([absorbed.attributes, codes.astype(float)], -1),
        attribute_names=(*absorbed.attribute_names, *absorbed.products[1:]),
        columns=replace(absorbed.columns, absorb=()),
    )
    one, other = (
        estimate_quality(markets, heterogeneous=False, dim=1, nodes=1, steps=1)
        for markets in (absorbed, plain)
    )
    assert one.parameters[-1] == pytest.approx(other.parameters[-1], rel=1e-8)
    assert one.standard_errors[-1] == pytest.approx(other.standard_errors[-1], rel=1e-6)
    assert np.abs(one.quality - other.quality).max() < 1e-8
    assert met(absorbed, one.demand, one.quality).max() < 1e-12
    spread = np.asarray(other.demand.scales.spread)[3:]
    effects = np.asarray(other.demand.utility.attribute_effect)[3:] / spread
    assert np.abs(np.asarray(one.demand.utility.level_effect) - effects).max() < 1e-8


def test_attributes_that_labels_hold_are_left_to_them() -> None:
    """An attribute that never changes within a product has no effect of its own beside it."""
    markets, _ = endogenous_markets(12, 80, 0.6, absorb=["product"])
    attributes = markets.attributes.copy()
    attributes[..., 2] = np.where(markets.listed, np.sqrt(1.0 + markets.product), 0.0)
    found = estimate_quality(
        replace(markets, attributes=attributes), heterogeneous=False, dim=1, nodes=1
    )
    assert found.parameter_names == ("comfort", "sensitivity to price")
    assert np.asarray(found.demand.utility.attribute_effect)[2] == 0.0
    own = replace(markets, attributes=attributes)
    assert met(own, found.demand, found.quality).max() < 1e-12


def test_valid_instruments_pass_hansens_test_and_others_do_not() -> None:
    markets, truth = endogenous_markets(13, 300, 0.9, extra_costs=1)
    sound = estimate_quality(markets, heterogeneous=False, dim=1, nodes=1).hansen
    assert sound is not None
    assert sound.degrees == 1
    assert sound.p_value > 0.05
    assert sound.p_value < 0.999
    instruments = markets.instruments.copy()
    instruments[..., 1] += 2 * truth.quality
    spoiled = replace(markets, instruments=instruments)
    found = estimate_quality(spoiled, heterogeneous=False, dim=1, nodes=1).hansen
    assert found is not None
    assert found.p_value < 1e-6


@pytest.mark.parametrize("heterogeneous", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_demand_that_slopes_upward_is_warned_of(heterogeneous: bool) -> None:
    markets, truth = endogenous_markets(14, 100, 0.5)
    bad = replace(markets, instruments=truth.quality[..., None])
    with pytest.warns(UserWarning, match=r"slopes upward.*a unit of price adds 1\.\d+.*error 0\."):
        found = estimate_quality(bad, heterogeneous=heterogeneous, dim=1, nodes=5)
    sensitivity = np.logaddexp(0.0, float(found.demand.utility.price_intercept))
    assert 0 < sensitivity < 1e-5
    assert met(bad, found.demand, found.quality).max() < 1e-12


@pytest.mark.slow
def test_differences_between_people_come_back_with_instruments_from_rivals() -> None:
    """One cost is too few for five numbers; differences from rivals are added, and are enough."""
    markets, truth = endogenous_markets(1, 300, 0.9, spread=1.0)
    found = estimate_quality(markets, heterogeneous=True, dim=1, nodes=7, steps=2)
    assert found.converged
    assert found.gradient < 1e-6
    assert met(markets, found.demand, found.quality).max() < 1e-11
    elasticity = own_elasticity(markets, found.demand, found.quality)
    assert elasticity == pytest.approx(truth.own_elasticity, rel=0.05)
    named = dict(zip(found.parameter_names, found.parameters, strict=True))
    error = dict(zip(found.parameter_names, found.standard_errors, strict=True))
    loading = named["loading of comfort on 1"] / float(found.demand.scales.spread[1])
    assert abs(loading) == pytest.approx(truth.spread, abs=0.2)
    assert abs(named["loading of style on 1"]) < 3 * error["loading of style on 1"]
    assert found.hansen is not None
    assert found.hansen.p_value > 0.01


def test_draws_of_differing_people_stay_where_the_moments_allow() -> None:
    """Of few markets moments hardly tell; draws differ, meet every share and stay in reach."""
    markets, truth = endogenous_markets(2, 40, 0.5, spread=1.0)
    found = estimate_quality(markets, heterogeneous=True, dim=1, nodes=5, steps=1)
    elasticities = []
    for demand, quality in found.draws(np.random.default_rng(1), 8):
        assert met(markets, demand, quality).max() < 1e-11
        elasticities.append(own_elasticity(markets, demand, quality))
    assert np.std(elasticities) > 0.01
    assert np.all(np.abs(np.array(elasticities) / truth.own_elasticity - 1) < 0.6)


def test_what_cannot_be_estimated_is_refused() -> None:
    def refused(match: str, markets: Markets, **options: object) -> None:
        given = {"heterogeneous": False, "dim": 1, "nodes": 3, **options}
        with pytest.raises(InputError, match=match):
            estimate_quality(markets, **given)  # type: ignore[arg-type]

    markets, _ = endogenous_markets(15, 12, 0.5)
    refused("no instruments.*such as costs", endogenous_markets(15, 12, 0.5, instruments=[])[0])
    attribute = replace(markets, instruments=markets.attributes[..., 1:2])
    refused("instruments cost follow from the attributes", attribute)
    fixed = np.where(markets.available, markets.attributes[..., 1] + 9.0, np.nan)
    refused("price follows from the attributes", replace(markets, price=fixed))
    few = markets.select(["m0", "m1"])
    refused("11 numbers.*7 independent.*lower dim", few, heterogeneous=True, dim=4)
    refused("4 moments.*4 markets.*steps=1", markets.select([f"m{i}" for i in range(4)]))
    refused("constant=True", endogenous_markets(15, 12, 0.5, constant=False, absorb=["product"])[0])
    refused("steps is 3", markets, steps=3)
    refused("starts is 0", markets, starts=0)
