"""A page about demand says what was decided, how sure it is, and what products cost."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from dgd.choice import ChoiceFit
from dgd.choice.estimation.record import ALIKE
from dgd.report.page import choice_findings
from dgd.report.page.choice_findings import ChoiceFindings, choice_found
from dgd.report.page.choice_sections import (
    demand_watch,
    elasticity_section,
    estimate_section,
    firm_section,
    people_section,
)
from dgd.runtime import computing
from support.logit_markets import alike_fit
from support.random_choice import make, random_fit


@pytest.fixture(scope="module")
def fit() -> ChoiceFit:
    return alike_fit()


@pytest.fixture(scope="module")
def found(fit: ChoiceFit) -> ChoiceFindings:
    with computing():
        return choice_found(fit)


@pytest.fixture(scope="module")
def stopped_early() -> ChoiceFindings:
    with computing():
        return choice_found(random_fit(make(), seeds=(1,)))


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def section(page: Path, name: str) -> str:
    return page.read_text("utf-8").split(f'<section id="{name}"')[1].split("</section>")[0]


def test_the_estimate_has_its_convergence_and_coefficients(found: ChoiceFindings) -> None:
    told = words(estimate_section(found).body)
    assert "Search: converged; largest slope" in told
    assert "People: everyone is alike" in told
    assert "settings" not in told.lower()
    for name in found.fit.coefficients()["coefficient"]:
        assert name in told
    assert "standard error" in told


def test_own_elasticities_have_their_ranges(found: ChoiceFindings) -> None:
    assert found.own is not None
    assert found.own.columns == ["market", "product", "elasticity", "low", "high"]
    assert found.own.height == found.fit.markets.available.sum()
    assert (found.own["low"] <= found.own["high"]).all()
    assert "with the range of 90 %" in words(elasticity_section(found).body)


def test_of_too_many_elasticities_it_is_said_that_ranges_are_left_out(
    fit: ChoiceFit, found: ChoiceFindings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice_findings, "MOST_RANGED", 10)
    assert choice_findings._own_elasticities(fit) is None
    told = words(elasticity_section(replace(found, own=None)).body)
    assert "no ranges are shown here" in told


def test_where_all_are_alike_no_types_are_drawn(found: ChoiceFindings) -> None:
    asked = people_section(found).body
    assert "whether people differ was not asked" in asked
    assert "chart" not in asked
    record = replace(found.fit.record, chosen=ALIKE, gain=-2.0, gain_error=1.0)
    judged = people_section(replace(found, fit=replace(found.fit, record=record))).body
    assert "The data show no difference between people: one more unit" in judged


def test_firms_have_costs_and_markups(found: ChoiceFindings) -> None:
    body = words(firm_section(found).body)
    for word in ("red", "blue", "cost", "markup", "lerner", "In every market"):
        assert word in body
    assert found.costs.table.height == found.fit.markets.available.sum()


def test_costs_below_zero_are_warned_of(found: ChoiceFindings) -> None:
    cheap = replace(found.fit.markets, price=0.01 * found.fit.markets.price)
    costs = choice_findings._costs(replace(found.fit, markets=cheap))
    told = firm_section(replace(found, costs=costs)).body
    assert '<p class="warning">The implied cost of product a' in told


def test_a_refusal_of_costs_is_told_in_their_place(found: ChoiceFindings) -> None:
    dear = replace(found.fit.markets, price=1e6 * found.fit.markets.price)
    costs = choice_findings._costs(replace(found.fit, markets=dear))
    assert costs.table is None
    assert "share of 0" in firm_section(replace(found, costs=costs)).body


def test_doubts_about_the_estimate_are_to_be_watched(found: ChoiceFindings) -> None:
    lost = replace(found.fit.record, chosen="types", agree=False, first_stage_f=2.0)
    told = words(demand_watch(replace(found, fit=replace(found.fit, record=lost))).body)
    assert "Starts that are as likely as the best disagree" in told
    assert "hardly move price" in told
    assert "Prices may follow demand" in told


def test_a_fit_that_was_stopped_early_has_neither_ranges_nor_firms(
    stopped_early: ChoiceFindings,
) -> None:
    assert stopped_early.own is None
    assert stopped_early.costs is None
    assert firm_section(stopped_early) is None
    told = words(estimate_section(stopped_early).body)
    assert told == "This method says nothing about convergence, and has no standard errors."
    assert "ranges" not in words(elasticity_section(stopped_early).body)
    assert "chart" in people_section(stopped_early).body


def test_the_page_says_it_all(alike_page: Path) -> None:
    assert "Search: converged" in words(section(alike_page, "estimate"))
    assert "Types of choosers" not in section(alike_page, "data")
    assert "markup" in section(alike_page, "firms")
