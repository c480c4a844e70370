"""A process forgets its compiled programs before they take it down."""

import pytest

from dgd import runtime
from dgd.runtime import CLOSED_BETWEEN_LOOKS, areas_of_memory, computing


def test_the_share_of_memory_areas_is_a_share() -> None:
    assert 0.0 <= areas_of_memory() < 1.0


@pytest.mark.parametrize(("share", "times"), [(0.9, 1), (0.1, 0)])
def test_programs_are_forgotten_where_areas_run_out(
    monkeypatch: pytest.MonkeyPatch, share: float, times: int
) -> None:
    forgotten = []
    monkeypatch.setattr(runtime, "areas_of_memory", lambda: share)
    monkeypatch.setattr("jax.clear_caches", lambda: forgotten.append(1))
    for _ in range(CLOSED_BETWEEN_LOOKS):
        with computing():
            pass
    assert len(forgotten) == times
