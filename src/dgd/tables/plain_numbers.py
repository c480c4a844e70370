"""Shares, ratios and lists as people say them: a third, twice as often, this and that."""

from collections.abc import Sequence

FRACTIONS = {
    "a twentieth": 1 / 20,
    "a tenth": 1 / 10,
    "a sixth": 1 / 6,
    "a fifth": 1 / 5,
    "a quarter": 1 / 4,
    "a third": 1 / 3,
    "two fifths": 2 / 5,
    "half": 1 / 2,
    "three fifths": 3 / 5,
    "two thirds": 2 / 3,
    "three quarters": 3 / 4,
    "four fifths": 4 / 5,
    "nine tenths": 9 / 10,
}
NEAR, NEAR_RATIO = 0.015, 0.1
"""How far a share, and by how much of itself a share or a ratio, may be from what it is called."""
TIMES = {
    "a tenth as": 1 / 10,
    "a seventh as": 1 / 7,
    "a sixth as": 1 / 6,
    "a fifth as": 1 / 5,
    "a quarter as": 1 / 4,
    "a third as": 1 / 3,
    "half as": 1 / 2,
    "twice as": 2,
    "three times as": 3,
    "four times as": 4,
    "five times as": 5,
    "ten times as": 10,
}


def fraction_words(share: float) -> str:
    """A simple fraction where the share is near one, else per cent."""
    name, value = min(FRACTIONS.items(), key=lambda named: abs(named[1] - share))
    if abs(value - share) <= min(NEAR, NEAR_RATIO * value):
        return name
    return percent(share)


def percent(share: float) -> str:
    """Whole per cent; what would round to none or all of them is said to be close to it."""
    if 0 < share < 0.005:
        return "less than 1 %"
    if 0.995 < share < 1:
        return "more than 99 %"
    return f"{100 * share:.0f} %"


def times_words(ratio: float) -> str | None:
    """The nearest simple ratio, as in "twice as"; none where none is near."""
    name, value = min(TIMES.items(), key=lambda named: abs(ratio / named[1] - 1))
    return name if abs(ratio / value - 1) <= NEAR_RATIO else None


def listed(words: Sequence[str]) -> str:
    """One, one and another, or this, that and the third."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def sentence(text: str) -> str:
    """`text` with its first letter large, whatever the others are."""
    return text[:1].upper() + text[1:]
