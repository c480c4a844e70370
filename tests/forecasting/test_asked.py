"""What is asked of counts is answered alike for recorded, expected and drawn ones."""

import numpy as np
import pytest

import dgd
from dgd.forecasting.asked import Asked, counted_series


@pytest.fixture(scope="module")
def counts(drawn: dgd.Simulated) -> np.ndarray:
    return counted_series(drawn.panel.patterns[:5])


def test_series_are_arrivals_and_behaviours(drawn: dgd.Simulated, counts: np.ndarray) -> None:
    assert np.array_equal(counts[..., 0], drawn.panel.arrivals[:5])
    assert np.array_equal(counts[..., 1:], drawn.panel.behavior_counts[:5])


@pytest.mark.parametrize("by", [(), ("date",), ("unit", "cohort"), ("date", "unit", "cohort")])
def test_parts_add_up_to_every_total(
    drawn: dgd.Simulated, counts: np.ndarray, by: tuple[str, ...]
) -> None:
    asked = Asked.of(drawn.panel, (*by, "behavior"))
    found = asked.answered(counts)
    assert np.array_equal(found.sum((0, 1, 2)), counts.sum((0, 1, 2)))
    lengths = {"date": 5, "unit": 2, "cohort": 3}
    assert found.shape[:3] == tuple(n if axis in by else 1 for axis, n in lengths.items())
    assert asked.labels(drawn.panel, drawn.panel.dates[:5]).height == found.size


def test_sums_and_ratios_are_taken_of_totals(drawn: dgd.Simulated, counts: np.ndarray) -> None:
    asked = Asked.of(
        drawn.panel,
        ("date",),
        sums={"reactions": ["like", "share"]},
        ratios={
            "likes per click": ("like", "click"),
            "reactions per arrival": ("reactions", "arrivals"),
        },
    )
    found = asked.answered(counts)[:, 0, 0]
    total = counts.sum((1, 2))
    assert asked.series == ("arrivals", "reactions", "likes per click", "reactions per arrival")
    np.testing.assert_array_equal(found[:, 1], total[:, 2] + total[:, 3])
    np.testing.assert_allclose(found[:, 2], total[:, 2] / total[:, 1])
    np.testing.assert_allclose(found[:, 3], (total[:, 2] + total[:, 3]) / total[:, 0])


def test_a_ratio_over_nothing_is_not_a_number(drawn: dgd.Simulated, counts: np.ndarray) -> None:
    asked = Asked.of(drawn.panel, (), ratios={"likes per click": ("like", "click")})
    found = asked.answered(np.zeros_like(counts))
    assert np.isnan(found[..., 1]).all()
    assert (found[..., 0] == 0).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"by": ["week"]}, 'by names "week"'),
        ({"by": [], "sums": {"x": ["buy"]}}, 'sum "x" names "buy"'),
        ({"by": [], "sums": {"x": []}}, 'sum "x" is empty'),
        ({"by": [], "ratios": {"x": ("like", "buy")}}, 'ratio "x" names "buy"'),
    ],
)
def test_what_is_not_there_is_refused_by_name(
    drawn: dgd.Simulated, given: dict[str, object], said: str
) -> None:
    with pytest.raises(dgd.InputError, match=said):
        Asked.of(drawn.panel, **given)  # type: ignore[arg-type]
