"""Past origins: as many as days allow, as far ahead as memory allows, never beyond validation."""

import numpy as np
import pytest

import dgd
from dgd.forecasting import hindsight
from dgd.forecasting.hindsight import Hindsight

DAYS = np.arange(7, 35)


def test_origins_are_the_days_before_and_effort_reaches_as_far(drawn: dgd.Simulated) -> None:
    back = Hindsight.of(drawn.panel, DAYS, first_origin=0)
    assert np.array_equal(back.origins, DAYS - 1)
    assert back.steps == (1, 3, 7, 14)
    assert back.stop == 35
    assert len(back.panel.known_dates) >= 33 + 14 + 1
    assert Hindsight.of(drawn.panel, DAYS, first_origin=10).origins[0] == 10


def test_large_panels_look_less_far_ahead_before_they_look_at_fewer_days(
    drawn: dgd.Simulated, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = drawn.panel.patterns[0].size
    monkeypatch.setattr(hindsight, "MOST_EXPECTED", 3 * 25 * cells)
    some = Hindsight.of(drawn.panel, DAYS, first_origin=0)
    assert some.steps == (1, 3)
    assert len(some.origins) >= 14
    monkeypatch.setattr(hindsight, "MOST_EXPECTED", 5 * cells)
    few = Hindsight.of(drawn.panel, DAYS, first_origin=0)
    assert few.steps == (1,)
    assert 2 <= len(few.origins) <= 5


def test_more_cells_have_fewer_paths_but_some(drawn: dgd.Simulated) -> None:
    back = Hindsight.of(drawn.panel, DAYS, first_origin=0)
    assert back.paths(1) == hindsight.PATHS
    assert back.paths(10**9) == hindsight.FEWEST_PATHS
    assert back.reach(2) == 3
    assert back.reach(365) == 14
