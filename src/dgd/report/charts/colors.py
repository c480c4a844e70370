"""The few colours of charts: the same meaning has the same colour wherever it is drawn.

Most are those of Okabe and Ito, which people who see fewer colours can tell apart. What matters is
said in words or by shape as well.
"""

from collections.abc import Sequence

import altair as alt

OBSERVED = "#555555"
"""What was counted."""
EXPECTED = "#0072b2"
"""What the model expects, as things are planned."""
CHANGED = "#e69f00"
"""What it expects after a change."""
REFERENCE = "#222222"
"""What something is held against: the even spread, a promise, the model in question."""
CHANCE = "#9ecae1"
"""What chance alone gives."""
BETTER, WORSE, UNDECIDED = "#009e73", "#d55e00", "#666666"
"""More and fewer, within and beyond a bound, ahead and behind; and what cannot be told."""
NARROWEST, WIDEST = (107, 174, 214), (222, 235, 247)
"""Ranges of the lowest and of the highest level, as red, green and blue."""
TRAINING, VALIDATION, TEST = "#56b4e9", "#cc79a7", EXPECTED
"""Forecasts of days that were learned from, chosen on, and only forecast."""
LABELS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#332288",
    "#999933",
    "#882255",
    "#44aa99",
)
"""Cohorts, products and seeds, in their order."""


def label_scale(labels: Sequence[str | int]) -> alt.Scale:
    """Every label in its colour, the first colours again where labels are many."""
    return alt.Scale(domain=list(labels), range=list(LABELS))


def range_shade(at: int, number: int) -> str:
    """The colour of the range that is the `at`-th of a `number` of levels, the lowest first."""
    share = at / max(number - 1, 1)
    mixed = (round(a + share * (b - a)) for a, b in zip(NARROWEST, WIDEST, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)
