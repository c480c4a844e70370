"""Who won a backtest, in words a person can pass on: a sentence per horizon and score."""

from typing import Any

import numpy as np
import polars as pl

from dgd.scoring.pairing import CONFIDENCE, fewest_origins

WORDS = {
    "joint_nll": "joint NLL",
    "behavior_count_mae": "error of behaviour counts",
    "arrival_mae": "error of arrivals",
}
DECIMALS = {"joint_nll": 4, "behavior_count_mae": 2, "arrival_mae": 2}
MOST_DECIMALS = 8
"""A smaller difference is shown as none."""


def verdict_on(comparison: pl.DataFrame, opponents: int, period: str) -> tuple[str, ...]:
    """A sentence per row of `compare_with_best`, and one on how the opponents were picked."""
    said = tuple(_sentence(row, period) for row in comparison.iter_rows(named=True))
    if opponents > 1:
        model = comparison["model"][0]
        said += (
            f"The opponent of {model} is each time the best of {opponents} others, "
            "picked with hindsight, which favours the opponent.",
        )
    return said


def _sentence(row: dict[str, Any], period: str) -> str:
    horizon, word = row["horizon"], WORDS[row["metric"]]
    ahead = f"{horizon} {period}{'s' if horizon > 1 else ''} ahead"
    ranked = [(row["score"], row["model"]), (row["opponent_score"], row["opponent"])]
    if any(np.isnan(score) for score, _ in ranked):
        return f"{ahead}: nothing arrived on the test {period}s, so nobody has a {word}."
    (least, winner), (most, loser) = sorted(ranked, key=lambda one: one[0])
    places = _decimals(row)
    if round(row["difference"], MOST_DECIMALS) == 0 or least == most:
        return f"{ahead}: {winner} and {loser} have the same {word}, {least:,.{places}f}."
    won = (
        f"{ahead}: {winner} has the lowest {word}, {least:,.{places}f} "
        f"against {most:,.{places}f} of {loser}"
    )
    return f"{won} ({_chance(row, places)})."


def _chance(row: dict[str, Any], places: int) -> str:
    """The difference as the winner's score minus the loser's, and whether it is chance."""
    origins = row["origins"]
    if not np.isfinite(row["difference"]):
        return "something happened that was forecast to be impossible"
    difference = f"difference {-abs(row['difference']):.{places}f}"
    if row["low"] is None:
        return (
            f"{difference}; {origins} origins are too few to tell it from chance, "
            f"{fewest_origins(row['horizon'])} are needed"
        )
    ends = [row["low"], row["high"]]
    low, high = ends if row["difference"] < 0 else [-end for end in reversed(ends)]
    told = "more than chance" if row["p_value"] < 1 - CONFIDENCE else "not told apart from chance"
    return (
        f"{difference}, {CONFIDENCE:.0%} interval {low:.{places}f} to {high:.{places}f} "
        f"over {origins} origins: {told}"
    )


def _decimals(row: dict[str, Any]) -> int:
    """As many as the score usually has, or enough for two figures of a small difference."""
    usual, size = DECIMALS[row["metric"]], abs(row["difference"])
    if not 0 < size < np.inf:
        return usual
    return min(max(usual, 1 - int(np.floor(np.log10(size)))), MOST_DECIMALS)
