"""Numbers are called by a simple name only where they are near it."""

import pytest

from dgd.tables.plain_numbers import fraction_words, listed, percent, sentence, times_words


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.33, "a third"),
        (0.5, "half"),
        (0.66, "two thirds"),
        (0.101, "a tenth"),
        (0.76, "three quarters"),
        (0.54, "54 %"),
        (0.12, "12 %"),
        (0.07, "7 %"),
        (0.001, "less than 1 %"),
        (0.9999, "more than 99 %"),
        (0.0, "0 %"),
        (1.0, "100 %"),
    ],
)
def test_a_share_is_a_fraction_where_it_is_near_one(share: float, words: str) -> None:
    assert fraction_words(share) == words


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (2.0, "twice as"),
        (1.85, "twice as"),
        (0.14, "a seventh as"),
        (0.48, "half as"),
        (1.5, None),
        (7.0, None),
        (0, None),
    ],
)
def test_a_ratio_is_called_simple_where_it_is(ratio: float, words: str | None) -> None:
    assert times_words(ratio) == words


def test_lists_and_sentences() -> None:
    assert [listed(list(names)) for names in ("a", "ab", "abc")] == ["a", "a and b", "a, b and c"]
    assert sentence("a third of B") == "A third of B"
    assert percent(0.125) == "12 %"
