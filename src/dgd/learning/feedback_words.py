"""What is carried from day to day, in sentences: how long it lasts and what it moves.

How long something lasts is told only where it moves something: a retention that nothing
depends on is as arbitrary as where training left it.
"""

from collections.abc import Sequence

import polars as pl

from dgd.learning.carried_days import ENVIRONMENT
from dgd.learning.feedback_moves import half_life
from dgd.panel.grids import ARRIVALS
from dgd.tables.plain_numbers import listed, sentence

HARDLY = 2.0
"""Per cent of arrivals or odds below which nothing is moved."""
MOST_TOLD = 3
MANY = 100.0
"""Per cent from which on factors are told."""
SURPRISE = 10.0
"""Per cent by which arrivals exceed what was expected, in the sentence on the environment."""
APART = 1.5
"""Half-lives of seeds are told by both ends where these are further apart than that ratio."""
NOTHING = "Nothing is carried from one {} to the next: every {} starts afresh."
NAMES = {"memory": "what people remember", "shift": "what experience has changed in people"}
"""How sentences call what is carried; other states go by their own name."""


def feedback_sentences(dynamics: pl.DataFrame, moves: pl.DataFrame, period: str) -> tuple[str, ...]:
    """A sentence or two for every state that is carried.

    Args:
        dynamics: the table of `fit.dynamics`, every seed in it.
        moves: what each state moves, of every seed.
        period: what a step of time is called.
    """
    states = moves["state"].unique(maintain_order=True).to_list()
    if not states:
        return (NOTHING.format(period, period),)
    return tuple(
        sentence(_of_state(name, dynamics, moves.filter(state=name), period)) for name in states
    )


def _of_state(name: str, dynamics: pl.DataFrame, moves: pl.DataFrame, period: str) -> str:
    called = "the arrival environment" if name == ENVIRONMENT else NAMES.get(name, name)
    largest = moves.group_by("on", maintain_order=True).agg(
        pl.col("percent").mean(), pl.col("percent").max().alias("most")
    )
    moved = largest.filter(pl.col("most") >= HARDLY).sort("percent", descending=True)
    if not moved.height:
        return f"{called} hardly moves anything here, so how long it lasts cannot be told."
    lasts = _lasting(_factor(dynamics, f"{name} retention"), period)
    if name == ENVIRONMENT:
        first = _correction(_factor(dynamics, "common correction"), period, lasts)
    else:
        first = f"half of {called} is gone after {lasts}."
    low_and_high = f"between its low and its high {period}s it moves"
    return f"{first} {sentence(low_and_high)} {_moved(moved)}."


def _factor(dynamics: pl.DataFrame, name: str) -> Sequence[float]:
    return dynamics.filter(factor=name)["value"].to_list()


def _lasting(kept: Sequence[float], period: str) -> str:
    """The half-life, by its ends where seeds disagree."""
    lives = sorted(half_life(value) for value in kept)
    low, high, mean = lives[0], lives[-1], sum(lives) / len(lives)
    if low > 0 and high / low > APART:
        return f"{_number(low)} to {_number(high)} {period}s, as seeds have it"
    if mean < 1:
        return f"less than a {period}" if period != "hour" else "less than an hour"
    return f"{_number(mean)} {period}{'' if _number(mean) == '1' else 's'}"


def _number(value: float) -> str:
    """Whole from 10 on, a decimal below where it is not whole."""
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}".removesuffix(".0")


def _correction(gains: Sequence[float], period: str, lasts: str) -> str:
    gain = sum(gains) / len(gains)
    expected = 100 * ((1 + SURPRISE / 100) ** gain - 1)
    return (
        f"after a {period} with {SURPRISE:.0f} % more arrivals than expected, "
        f"{_number(expected)} % more are expected of the next; half of that is gone after {lasts}."
    )


def _moved(moved: pl.DataFrame) -> str:
    told = [
        f"{'arrivals' if on == ARRIVALS else f'the odds of {on}'} by {_up_to(percent)}"
        for on, percent, _ in moved.head(MOST_TOLD).iter_rows()
    ]
    return listed(told)


def _up_to(percent: float) -> str:
    """In per cent, or by a factor where that is easier to read."""
    if percent < MANY:
        return f"up to {_number(percent)} %"
    return f"a factor of up to {_number(1 + percent / 100)}"
