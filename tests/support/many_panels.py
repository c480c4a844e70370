"""Small panels and settings that train in a moment: what is tested is who fits them, and when."""

from typing import Any

import dgd
from support.small_counts import ENDS, panel_of

LIGHT = dgd.DGD(
    epochs=3,
    components=1,
    nodes=3,
    dynamics="none",
    calendar="none",
    summaries="none",
    expected_weight=0.0,
    start="warmup",
)
ASKED: dict[str, Any] = {**ENDS, "seeds": [1]}
ENDLESS = dgd.DGD(**{**LIGHT.as_dict(), "epochs": 100_000_000, "patience": 100_000_000})
"""Without an end of its process such a fit would not end."""


def panel(seed: int) -> dgd.Panel:
    return panel_of(24, seed)


def unreadable() -> dgd.Panel:
    raise OSError("the disk is gone")
