"""A checkup of demand holds where all is well, and says what is wrong where something is."""

import json
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from dgd.choice import ChoiceFit
from dgd.choice.estimation.record import ALIKE, TYPES, CandidateMade, StartMade
from dgd.diagnostics import ChoiceCheckup, check_choice, demand_nodes
from dgd.diagnostics.demand_data import COLUMNS, ELASTICITIES, PRICES
from dgd.diagnostics.demand_nodes import MORE_NODES, substitution_at
from dgd.diagnostics.demand_record import INSTRUMENTS, PEOPLE, PRICE_EFFECT, SCATTER, STARTS
from dgd.learning.runs import REASONS, UNCONVERGED
from dgd.runtime import computing
from support.logit_markets import SENSITIVITY, alike_fit
from support.random_choice import make, random_demand, random_fit


@pytest.fixture(scope="module")
def fit() -> ChoiceFit:
    return alike_fit()


@pytest.fixture(scope="module")
def found(fit: ChoiceFit) -> ChoiceCheckup:
    return check_choice(fit)


@pytest.fixture(scope="module")
def untrained() -> ChoiceFit:
    """A fit without a record, of few nodes and people who are far apart."""
    markets = make()
    with computing():
        demand = random_demand(1, cohorts=1, nodes=2)
        wide = 4.0 * jnp.ones_like(demand.population.raw_diagonal)
        demand = eqx.tree_at(lambda d: d.population.raw_diagonal, demand, wide)
    fit = random_fit(markets, seeds=(1,))
    runs = (replace(fit.runs[0], parameters=demand),)
    settings = replace(fit.settings, nodes=2, method="early stopping")
    return replace(fit, runs=runs, settings=settings)


@pytest.fixture(scope="module")
def found_untrained(untrained: ChoiceFit) -> ChoiceCheckup:
    return check_choice(untrained)


def recorded(fit: ChoiceFit, **facts: Any) -> ChoiceFit:
    """The fit with other facts on its record."""
    assert fit.record is not None
    return replace(fit, record=replace(fit.record, **facts))


def row(checkup: ChoiceCheckup, words: str) -> dict[str, Any]:
    """The one check whose name begins so."""
    (one,) = [row for row in checkup.summary().to_dicts() if row["check"].startswith(words)]
    return one


def warned(checkup: ChoiceCheckup) -> dict[str, dict[str, Any]]:
    return {row["warning"]: row for row in checkup.warnings.to_dicts()}


def start(number: int, **facts: float) -> StartMade:
    usual = {"behind": 0.0, "slope": 1e-9, "elasticity": -2.0, "to_outside": 0.5, **facts}
    return StartMade(1, number, 30, converged=usual["slope"] < 1e-7, **usual)  # type: ignore[arg-type]


# A sound fit


def test_everything_holds_where_demand_is_a_logit(found: ChoiceCheckup) -> None:
    assert found.holds
    assert found.verdict == (
        "People stand at points, so that nothing is integrated. All 5 checks hold."
    )
    assert list(warned(found)) == ["prices are taken as given"], "a sentence, not an alarm"
    shown = [COLUMNS, PRICES, ELASTICITIES, PEOPLE, STARTS, PRICE_EFFECT, SCATTER]
    assert list(found.tables) == shown
    assert row(found, "scatter of shares")["holds"] is None
    effect = found.tables[PRICE_EFFECT].row(0, named=True)
    assert effect["price sensitivity"] == pytest.approx(SENSITIVITY, rel=1e-3)


def test_elasticities_are_the_fits_own(fit: ChoiceFit, found: ChoiceCheckup) -> None:
    own = fit.elasticities().filter(product=fit.markets.products[0])
    own = own.filter(own["product"] == own["price of"])["elasticity"]
    told = found.tables[ELASTICITIES].row(0, named=True)
    assert told["most elastic"] == pytest.approx(own.min())
    assert told["least elastic"] == pytest.approx(own.max())
    assert told["offers"] == len(own)


def test_a_checkup_is_told_as_json_and_in_a_notebook(found: ChoiceCheckup) -> None:
    told = json.loads(json.dumps(found.payload()))
    assert told["holds"]
    assert told["summary"] == found.summary().to_dicts()
    assert set(told["tables"]) == set(found.tables)
    assert told["warnings"] == found.warnings.to_dicts()
    assert "t-value of price sensitivity" in found._repr_html_()
    assert found.verdict in repr(found)


# What markets cannot tell


def test_a_price_that_follows_from_an_attribute_is_named(fit: ChoiceFit) -> None:
    attributes = fit.markets.attributes.copy()
    attributes[..., 1] = 2.0 * fit.markets.price + 1.0
    found = check_choice(replace(fit, markets=replace(fit.markets, attributes=attributes)))
    follows = row(found, "columns that follow")
    assert (follows["found"], follows["holds"]) == (1.0, False)
    assert found.tables[COLUMNS]["follows"].sum() == 1
    assert "follows from the others" in warned(found)["columns follow from others"]["where"]
    assert not found.holds
    assert "does not hold: columns that follow from others" in found.verdict


def test_an_odd_price_is_found(fit: ChoiceFit) -> None:
    price = fit.markets.price.copy()
    price[3, 1] *= 30.0
    found = check_choice(replace(fit, markets=replace(fit.markets, price=price)))
    far = row(found, "prices far from")
    assert (far["found"], far["holds"]) == (1.0, False)
    assert found.tables[PRICES]["over 10 times off"].to_list() == [0, 1, 0]
    assert "product b in market m3" in warned(found)["odd prices"]["where"]


def test_prices_beyond_those_trained_on_are_told(fit: ChoiceFit) -> None:
    price = fit.markets.price.copy()
    low, high = fit.price_range
    price[-1, 0] = high + 0.75 * (high - low)
    markets = replace(fit.markets, price=price)
    found = check_choice(replace(fit, markets=markets, training=markets.markets[:-1]))
    far = row(found, "prices beyond")
    assert far["found"] > far["bound"]
    assert not far["holds"]
    assert "prices far outside" in warned(found)


def test_inelastic_demand_is_told_by_the_sales_it_makes(fit: ChoiceFit) -> None:
    cheap = replace(fit.markets, price=0.1 * fit.markets.price)
    found = check_choice(replace(fit, markets=cheap))
    part = row(found, "part of sales")
    assert part["found"] == pytest.approx(1.0)
    assert not part["holds"]
    assert "36 of 36 offers" in warned(found)["inelastic demand"]["where"]


# Quadrature


def test_too_few_nodes_are_found_out(found_untrained: ChoiceCheckup) -> None:
    table = found_untrained.tables[MORE_NODES]
    assert table["nodes"].to_list() == [2, 5, 41]
    assert table["largest elasticity change"][0] == 0.0
    assert not row(found_untrained, "mean elasticity change with 41 nodes")["holds"]
    assert not row(found_untrained, "largest elasticity change")["holds"]
    assert found_untrained.verdict.startswith("2 nodes are not enough: with 41 own elasticities")
    assert "nodes=5" in warned(found_untrained)["too few nodes"]["advice"]


def test_markets_walked_in_blocks_say_the_same(
    untrained: ChoiceFit, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = substitution_at(untrained, untrained.parameters)
    monkeypatch.setattr(demand_nodes, "AT_ONCE", 64)
    for one, other in zip(whole, substitution_at(untrained, untrained.parameters), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


# The record of an estimation


def test_without_a_record_nothing_is_said_about_convergence(found_untrained: ChoiceCheckup) -> None:
    assert not {STARTS, PEOPLE, PRICE_EFFECT, SCATTER, INSTRUMENTS} & set(found_untrained.tables)
    none = warned(found_untrained)["no convergence and no standard errors"]
    assert "early stopping" in none["where"]
    assert "prices are taken as given" in warned(found_untrained)


def test_training_that_diverged_is_told(fit: ChoiceFit) -> None:
    lost = replace(fit.runs[0], reason=REASONS[2])
    assert "training diverged" in warned(check_choice(replace(fit, record=None, runs=(lost,))))


def test_starts_that_disagree_are_told(fit: ChoiceFit) -> None:
    apart = (start(1), start(2, behind=0.5, elasticity=-3.0, to_outside=0.2, slope=1e-3))
    found = check_choice(recorded(fit, chosen=TYPES, starts=apart, agree=False))
    assert row(found, "own elasticity between starts")["found"] == pytest.approx(1 / 3)
    assert not row(found, "own elasticity between starts")["holds"]
    assert not row(found, "diversion to outside between")["holds"]
    assert row(found, "part of starts that converged")["found"] == 0.5
    assert "starts disagree" in warned(found)
    assert found.tables[STARTS].height == 2


def test_starts_far_below_the_best_need_not_agree(fit: ChoiceFit) -> None:
    apart = (start(1), start(2, behind=50.0, elasticity=-3.0, to_outside=0.2))
    found = check_choice(recorded(fit, chosen=TYPES, starts=apart))
    assert row(found, "own elasticity between starts")["holds"]
    assert "starts disagree" not in warned(found)


def test_a_search_that_did_not_converge_is_told(fit: ChoiceFit) -> None:
    lost = replace(recorded(fit, slope=1e-3), runs=(replace(fit.runs[0], reason=UNCONVERGED),))
    found = check_choice(lost)
    assert not row(found, "largest slope")["holds"]
    assert warned(found)["search not converged"]["value"] == 1e-3


@pytest.mark.parametrize(
    ("sensitivity", "warning"),
    [(-0.5, "demand slopes upward"), (0.1, "price effect not told from none")],
)
def test_a_price_effect_must_be_told_from_none(
    fit: ChoiceFit, sensitivity: float, warning: str
) -> None:
    found = check_choice(recorded(fit, sensitivity=sensitivity, sensitivity_error=0.1))
    effect = row(found, "t-value")
    assert effect["found"] == pytest.approx(10 * sensitivity)
    assert not effect["holds"]
    assert "instruments=" in warned(found)[warning]["advice"]


def test_without_an_error_of_people_alike_that_of_the_estimate_counts(fit: ChoiceFit) -> None:
    found = check_choice(recorded(fit, sensitivity_error=0.0))
    effect = fit.coefficients().row(0, named=True)
    told = found.tables[PRICE_EFFECT].row(0, named=True)
    assert told["standard error"] == effect["standard error"]


@pytest.mark.parametrize(("f", "strong"), [(3.0, False), (30.0, True)])
def test_instruments_must_move_prices(fit: ChoiceFit, f: float, strong: bool) -> None:
    found = check_choice(recorded(fit, first_stage_f=f))
    assert row(found, "F of the instruments")["holds"] == strong
    assert ("weak instruments" in warned(found)) != strong
    assert "prices are taken as given" not in warned(found)


@pytest.mark.parametrize(
    ("facts", "holds", "warning"),
    [
        ({"chosen": TYPES, "gain": 40.0, "gain_error": 5.0}, True, None),
        ({"chosen": ALIKE, "gain": -3.0, "gain_error": 5.0}, True, None),
        ({"chosen": TYPES, "gain": 0.2, "gain_error": 5.0}, False, "types hardly told from none"),
        ({"chosen": TYPES, "gain": None}, None, "types were not judged"),
    ],
)
def test_types_must_have_earned_their_place(
    fit: ChoiceFit, facts: dict[str, Any], holds: bool | None, warning: str | None
) -> None:
    both = (CandidateMade(ALIKE, 3, -9.0, 0.02), CandidateMade(TYPES, 9, -4.0, 0.01))
    found = check_choice(recorded(fit, candidates=both, **facts))
    assert found.tables[PEOPLE]["held-out divergence"].to_list() == [0.02, 0.01]
    judged = [row for row in found.summary().to_dicts() if row["check"].startswith("gain of types")]
    assert [row["holds"] for row in judged] == ([] if holds is None else [holds])
    assert {one for one in warned(found) if one.startswith("types")} == ({warning} - {None})


def test_shares_that_scatter_are_told(fit: ChoiceFit) -> None:
    found = check_choice(recorded(fit, dispersion=50.0))
    assert row(found, "scatter of shares")["found"] == 50.0
    assert "absorb=" in warned(found)["shares scatter"]["advice"]
