"""The crowd in words: what a table of types says, and nothing that it does not."""

from typing import Any

import polars as pl
import pytest

import dgd
from dgd.learning.response_types import CONTACTS, PER_PERSON, SHARE, rate_of
from dgd.learning.type_words import crowd_sentences

BEHAVIORS = ("buy", "return")


def types(*rows: tuple[float, float, tuple[float, ...]], seed: int = 1, cohort: str = "B2B") -> Any:
    """Types by share, share of contacts and rates."""
    return pl.DataFrame(
        [
            {
                "seed": seed,
                "cohort": cohort,
                "type": number,
                SHARE: share,
                PER_PERSON: contacts / share,
                CONTACTS: contacts,
                **{rate_of(name): rate for name, rate in zip(BEHAVIORS, rates, strict=False)},
            }
            for number, (share, contacts, rates) in enumerate(rows, 1)
        ]
    )


def said(table: pl.DataFrame, behaviors: tuple[str, ...] = BEHAVIORS) -> str:
    (text,) = crowd_sentences(table, 1, behaviors)
    return text


def test_types_that_differ_are_compared() -> None:
    table = types((1 / 3, 2 / 3, (0.04, 0.2)), (2 / 3, 1 / 3, (0.5, 0.1)))
    assert said(table) == (
        "A third of B2B make two thirds of the arrivals, rarely show buy and show return in a "
        "fifth of their arrivals; the others come a quarter as often, show return half as often "
        "and show buy in half of their arrivals."
    )


def test_rates_that_hardly_differ_are_not_told() -> None:
    text = said(types((0.5, 0.8, (0.3, 0.21)), (0.5, 0.2, (0.6, 0.2))))
    assert "buy" in text
    assert "return" not in text


def test_types_that_only_come_differently_are_said_to_do_the_same() -> None:
    assert said(types((0.2, 0.72, (0.3, 0.02)), (0.8, 0.28, (0.3, 0.02)))) == (
        "A fifth of B2B make 72 % of the arrivals; the others come seldom. In what they do they "
        "are much alike: they show buy in 30 % and return in 2 % of their arrivals."
    )


def test_types_that_hardly_differ_are_said_to_be_alike() -> None:
    text = said(types((0.5, 0.52, (0.3, 0.1)), (0.5, 0.48, (0.31, 0.11))))
    assert text == (
        "People of B2B answer much alike and come about equally often: they show buy in 30 % "
        "and return in a tenth of their arrivals."
    )


def test_a_type_that_is_nearly_empty_is_no_type() -> None:
    text = said(types((0.01, 0.01, (0.9, 0.9)), (0.99, 0.99, (0.25, 0.0))))
    assert text.startswith("People of B2B are in effect of one type")
    assert "buy in a quarter and return in 1 % of" in text
    assert "one type" in said(types((1.0, 1.0, (0.25, 0.0))))


def test_a_small_type_with_many_contacts_is_told() -> None:
    text = said(types((0.01, 0.4, (0.9, 0.9)), (0.99, 0.6, (0.25, 0.0))))
    assert text.startswith("1 % of B2B make two fifths of the arrivals")


@pytest.mark.parametrize(("other", "disagree"), [(0.6, True), (0.3, False)])
def test_seeds_that_disagree_on_shares_are_named(other: float, disagree: bool) -> None:
    rates = ((0.1, 0.1), (0.5, 0.5))
    table = pl.concat(
        types((share, 0.7, rates[0]), (1 - share, 0.3, rates[1]), seed=seed)
        for seed, share in ((1, 0.2), (2, other))
    )
    assert ("The seeds disagree on how many they are: 20 to 60 %" in said(table)) == disagree


def test_three_types_have_a_clause_each() -> None:
    table = types(
        (0.1, 0.5, (0.6, 0.1)), (0.3, 0.3, (0.3, 0.1)), (0.6, 0.2, (0.05, 0.1)), cohort="x; y"
    )
    assert said(table) == (
        "A tenth of x; y make half of the arrivals and show buy in three fifths of their "
        "arrivals; another 30 % make 30 % and show buy half as often; the others come seldom "
        "and rarely show buy."
    )


def test_the_only_cohort_of_a_table_without_any_has_no_name() -> None:
    table = types((1 / 3, 2 / 3, (0.1, 0.1)), (2 / 3, 1 / 3, (0.5, 0.1)), cohort="all")
    assert said(table).startswith("A third of the people make")


def test_only_the_largest_of_many_differences_are_told() -> None:
    names = tuple("abcdefgh")
    table = pl.concat(
        [
            types((0.5, 0.5, ()), (0.5, 0.5, ())),
            pl.DataFrame({rate_of(name): [0.1, 0.3 + n / 20] for n, name in enumerate(names)}),
        ],
        how="horizontal",
    )
    text = said(table, names)
    assert "show h in" in text
    assert "show a in" not in text
    alike = table.with_columns(pl.lit(0.2).alias(rate_of(name)) for name in names)
    assert "and 2 more less often" in said(alike, names)


def test_every_cohort_of_a_fit_has_its_sentence(fit: dgd.Fit) -> None:
    told = fit.crowd_in_words()
    assert len(told) == len(fit.panel.cohorts)
    for text, cohort in zip(told, fit.panel.cohorts, strict=True):
        assert str(cohort) in text
        assert text.endswith(".")
