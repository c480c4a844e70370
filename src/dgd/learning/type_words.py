"""The types of a crowd in a sentence for each cohort: how many, how often, and what they do.

A type is compared with the one that is seen most often. Only differences that matter are told;
where there are none, the cohort's rates are.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from dgd.learning.response_types import CONTACTS, PER_PERSON, SHARE, rate_of
from dgd.tables.plain_numbers import fraction_words, listed, percent, sentence, times_words

EMPTY = 0.02
"""A type of fewer people and contacts than that is not worth a clause."""
MORE_OFTEN = 1.25
"""From this ratio on, people come, do or leave out more often than others."""
A_LITTLE_LESS = 0.7
"""Above this ratio, and below the one that is told at all, people come a little less often."""
FURTHER = 0.02
"""Rates that differ by less are alike, whatever their ratio."""
DISAGREED = 0.25
"""Seeds whose shares of a type lie further apart than that do not agree on it."""
HARDLY_EVER, RARELY, NEARLY_ALWAYS = 0.01, 0.1, 0.95
MOST_TOLD, MOST_LISTED = 3, 6
"""How many behaviours a clause tells of, and a list of rates."""
NOBODYS_NAME = "all"
"""The label of the only cohort of a table that names none."""

Row = dict[str, Any]


def crowd_sentences(types: pl.DataFrame, seed: int, behaviors: Sequence[str]) -> tuple[str, ...]:
    """One text per cohort, from the response types of the seed to tell of.

    Args:
        types: the table of `fit.response_types`, every seed in it.
    """
    cohorts = types["cohort"].unique(maintain_order=True)
    told = []
    for cohort in cohorts:
        own = types.filter(cohort=cohort)
        name = "the people" if list(cohorts) == [NOBODYS_NAME] else str(cohort)
        rows = own.filter(seed=seed).to_dicts()
        told.append(sentence(_of_cohort(name, rows, own, behaviors)))
    return tuple(told)


def _of_cohort(name: str, rows: list[Row], own: pl.DataFrame, behaviors: Sequence[str]) -> str:
    kept = [row for row in rows if row[SHARE] >= EMPTY or row[CONTACTS] >= EMPTY]
    people = name if name == "the people" else f"people of {name}"
    rates = _rates_listed(rows, behaviors)
    if len(rows) == 1:
        return f"{people} are described as one type: {rates}."
    if len(kept) == 1:
        return f"{people} are in effect of one type, next to nobody is of another: {rates}."
    differing = _differing(kept, behaviors)
    if not differing and not _comes_differently(kept):
        return f"{people} answer much alike and come about equally often: {rates}."
    first, *middle, last = kept
    clauses = [
        f"{fraction_words(first[SHARE])} of {name} make {fraction_words(first[CONTACTS])} of the "
        f"arrivals{_doing(first, None, differing)}",
        *(
            f"another {fraction_words(row[SHARE])} make {fraction_words(row[CONTACTS])}"
            f"{_doing(row, first, differing)}"
            for row in middle
        ),
        f"the others {_coming(last, first)}{_doing(last, first, differing)}",
    ]
    alike = "" if differing else f" In what they do they are much alike: {rates}."
    return f"{'; '.join(clauses)}.{alike}{_disagreement(own)}"


def _differing(rows: list[Row], behaviors: Sequence[str]) -> list[str]:
    """The behaviours in which any type differs from the first, those that differ most first."""

    def largest(behavior: str) -> float:
        first, *others = (row[rate_of(behavior)] or 0.0 for row in rows)
        return max((abs(rate - first) for rate in others if _differ(rate, first)), default=0.0)

    told = sorted((name for name in behaviors if largest(name) > 0), key=largest, reverse=True)
    return told[:MOST_TOLD]


def _differ(one: float, other: float) -> bool:
    """By how much it is shown, or by how much it is left out."""
    if abs(one - other) < FURTHER:
        return False
    return _ratio(one, other) >= MORE_OFTEN or _ratio(1 - one, 1 - other) >= MORE_OFTEN


def _ratio(one: float, other: float) -> float:
    """The larger in multiples of the smaller."""
    low, high = sorted((one, other))
    return high / low if low > 0 else float("inf")


def _comes_differently(rows: list[Row]) -> bool:
    often = [row[PER_PERSON] or 0.0 for row in rows]
    return _ratio(max(often), min(often)) >= MORE_OFTEN


def _coming(row: Row, first: Row) -> str:
    often, most = row[PER_PERSON] or 0.0, first[PER_PERSON] or 0.0
    if not most or _ratio(often, most) < MORE_OFTEN:
        return "come about as often"
    if often / most < RARELY:
        return "come seldom"
    if often / most > A_LITTLE_LESS:
        return "come a little less often"
    simple = times_words(often / most)
    return f"come {simple} often" if simple else f"come {percent(often / most)} as often"


def _doing(row: Row, first: Row | None, behaviors: Sequence[str]) -> str:
    """What the type does, beside the `first` one where that is another."""
    if not behaviors:
        return ""
    by_phrase: dict[str, list[str]] = {}
    exact = []
    for name in behaviors:
        rate = row[rate_of(name)] or 0.0
        phrase = _phrase(rate, None if first is None else first[rate_of(name)] or 0.0)
        if phrase is None:
            exact.append(f"{name} in {fraction_words(rate)}")
        else:
            by_phrase.setdefault(phrase, []).append(name)
    said = [phrase.format(listed(names)) for phrase, names in by_phrase.items()]
    if exact:
        said.append(f"show {listed(exact)} of their arrivals")
    return f", {', '.join(said[:-1])} and {said[-1]}" if said[1:] else f" and {said[0]}"


def _phrase(rate: float, first: float | None) -> str | None:
    """How often that is in a word, with a gap for the behaviours; none where a number is due."""
    word = _rarity(rate)
    if first is None or (word and word != _rarity(first)):
        return f"{word} show {{}}" if word else None
    if not _differ(rate, first):
        return "show {} as often"
    simple = times_words(rate / first) if first > 0 else None
    if simple:
        return f"show {{}} {simple} often"
    return f"show {{}} {'less' if rate < first else 'more'} often" if word else None


def _rarity(rate: float) -> str:
    """The word for rates that need no number."""
    if rate < HARDLY_EVER:
        return "hardly ever"
    return "rarely" if rate < RARELY else "nearly always" if rate > NEARLY_ALWAYS else ""


def _rates_listed(rows: list[Row], behaviors: Sequence[str]) -> str:
    """The cohort's own rates: those of its types, weighed by their contacts."""
    whole = {
        name: sum(row[CONTACTS] * (row[rate_of(name)] or 0.0) for row in rows) for name in behaviors
    }
    most = sorted(whole, key=lambda name: -whole[name])[:MOST_LISTED]
    shown = listed([f"{name} in {fraction_words(whole[name])}" for name in most])
    left = len(whole) - len(most)
    return f"they show {shown} of their arrivals{f', and {left} more less often' if left else ''}"


def _disagreement(own: pl.DataFrame) -> str:
    """Whether the seeds tell other shares of those who come most often."""
    shares: Iterable[float] = own.filter(type=1)[SHARE].to_list()
    low, high = min(shares), max(shares)
    if high - low < DISAGREED:
        return ""
    return (
        " The seeds disagree on how many they are: "
        f"{100 * low:.0f} to {100 * high:.0f} % come most often."
    )
