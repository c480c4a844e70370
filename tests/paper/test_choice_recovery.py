"""Choices under new prices: which representation comes closest to the truth.

The generators are ours, so the paper's figures are no bounds; its order is the claim.
"""

import pytest

from dgd.paper.choice_recovery import MODELS, PROTOCOLS, WORLDS, choice_recovery
from dgd.paper.models import Scored
from dgd.paper.windows import Windows


def quiet(_: str) -> None:
    """No progress."""


@pytest.mark.slow
def test_learned_is_ahead_of_fixed_is_ahead_of_point_in_every_seed():
    """On both generators, by the paper's protocol and by the library's."""
    table = choice_recovery(Scored(Windows(None, quiet), quiet))
    found = {(row["model"], row["window"]): row["scores"] for row in table.iter_rows(named=True)}
    for window in WORLDS:
        for protocol in PROTOCOLS:
            seeds = zip(*(found[f"{model}, {protocol}", window] for model in MODELS), strict=True)
            for learned, fixed, point in seeds:
                assert learned < fixed < point
