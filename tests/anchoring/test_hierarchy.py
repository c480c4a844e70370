"""Units of which little is known are drawn to what all have in common."""

import numpy as np
import pytest

from dgd.anchoring.anchor import Anchor
from dgd.anchoring.arrival_anchor import ArrivalAnchor
from dgd.anchoring.hierarchy import Hierarchy
from dgd.anchoring.seasons import places
from dgd.anchoring.smoothing.shrunken import HALF_LIVES, Shrunken, shrunken_candidates
from dgd.anchoring.smoothing.smoothers import candidates
from dgd.anchoring.stored import anchor_restored, anchor_stored
from dgd.learning.unit_prior import MANY_UNITS
from dgd.panel.some_units import panel_of_units
from dgd.panel.split import Split
from support.sparse_units import SHARES, WEEK, sparse_units

SPLIT = Split(0, 24, 33)
FEW = 15
"""Arrivals of a unit in all 33 days, of which nothing can be told by itself."""


def deviance(counts: np.ndarray, expected: np.ndarray) -> float:
    ratio = np.where(counts > 0, counts / expected, 1.0)
    return float(2 * (counts * np.log(ratio) - counts + expected).mean())


def learned(seed: int, **options: float) -> Hierarchy:
    counts = sparse_units(seed, **options).panel.arrivals.astype(float)
    return Hierarchy.learned(counts, np.ones_like(counts), np.arange(len(counts)) % 7, 7)


@pytest.mark.parametrize(("shape", "strength"), [(0.7, 8.0), (3.0, 50.0)])
def test_moments_say_how_much_units_and_cells_differ(shape: float, strength: float) -> None:
    found = learned(1, units=2000, days=42, shape=shape, strength=strength)
    assert found.unit_strength == pytest.approx(shape, rel=0.2)
    assert found.cell_strength == pytest.approx(strength, rel=0.2)
    assert found.rate == pytest.approx(4 * 0.3, rel=0.1)
    np.testing.assert_allclose(found.shares, SHARES, rtol=0.1)
    np.testing.assert_allclose(found.rhythm, np.tile(WEEK[:, None], 4), rtol=0.1)


def test_units_that_differ_by_chance_alone_are_taken_for_one() -> None:
    counts = np.random.default_rng(2).poisson(0.3, (40, 500, 4)).astype(float)
    found = Hierarchy.learned(counts, np.ones_like(counts), np.zeros(40, int), 1)
    few = counts.sum(0)[None]
    rates = found.shrunken(few, np.full_like(few, 40.0))
    np.testing.assert_allclose(rates, 0.3, rtol=0.3)
    assert found.rhythm.shape == (1, 4)


def test_a_unit_without_exposure_has_the_rate_of_all_and_a_busy_one_its_own() -> None:
    common = Hierarchy(1.2, 2.0, 8.0, SHARES, np.ones((1, 4)))
    counts = np.array([[0.0] * 4, [3.0, 0, 0, 0], [0.0, 0, 0, 6000]])
    exposure = np.array([0.0, 5.0, 1000.0])[:, None] * np.ones(4)
    unseen, few, busy = common.shrunken(counts, exposure)
    np.testing.assert_allclose(unseen, 1.2 * SHARES)
    assert few.sum() == pytest.approx((3 + 2) / (5 + 2 / 1.2))
    assert 0.4 < few[0] / few.sum() < 1.0
    np.testing.assert_allclose(busy, [0, 0, 0, 6], atol=0.02)


def test_effort_is_an_exposure() -> None:
    """Twice the effort and twice the arrivals are the same rate."""
    common = Hierarchy(1.2, 2.0, 8.0, SHARES, np.ones((1, 4)))
    counts = np.array([[30.0, 20.0, 10.0, 5.0]])
    doubled = common.shrunken(counts * [2, 1, 1, 1], np.array([[80.0, 40, 40, 40]]))
    single = common.shrunken(counts, np.full((1, 4), 40.0))
    np.testing.assert_allclose(doubled, single, rtol=0.1)


def test_counts_fade_by_their_half_life() -> None:
    common = Hierarchy(1.2, 1.0, 1.0, SHARES, np.ones((1, 4)))
    walked = Shrunken(common, 1)
    for today in ([[8.0, 0, 0, 0]], *[[[0.0] * 4]] * 6):
        walked.see(np.array(today), np.ones((1, 4)), 0)
    keep = 2.0 ** (-1 / np.array(HALF_LIVES))
    faded = 8 * keep[:, None, None] ** 6 * np.eye(1, 4)
    days = (keep[:, None] ** np.arange(7)).sum(1)[:, None, None] * np.ones((1, 4))
    np.testing.assert_allclose(walked.ahead(0), common.shrunken(faded, days))


def test_few_units_have_no_shrunken_candidates_and_many_have() -> None:
    for units in (MANY_UNITS - 1, MANY_UNITS):
        panel = sparse_units(3, units=units).panel
        anchor = ArrivalAnchor.chosen(panel, SPLIT)
        more = shrunken_candidates(7) if units >= MANY_UNITS else 0
        assert anchor.cells.shape[1] == candidates(7) + more
        assert anchor.totals.shape[1] == candidates(7)
        assert len(anchor.hierarchies) == bool(more)


def test_forecasts_of_units_with_few_arrivals_gain_most(monkeypatch) -> None:
    """On days held out, beside the same anchor without them; nothing is lost by the others."""
    world = sparse_units(5, mean=0.2)
    panel, origin = world.panel, np.array([32])
    counts, truth = panel.arrivals[33:], world.rates[33:]
    few = panel.arrivals[:33].sum((0, 2)) < FEW
    drawn = ArrivalAnchor.chosen(panel, SPLIT).predict(panel, origin, 7)[:, 0]
    monkeypatch.setattr("dgd.anchoring.arrival_anchor.MANY_UNITS", 10**9)
    alone = ArrivalAnchor.chosen(panel, SPLIT).predict(panel, origin, 7)[:, 0]
    assert 0.2 < few.mean() < 0.9
    assert deviance(counts[:, few], drawn[:, few]) < 0.8 * deviance(counts[:, few], alone[:, few])
    assert deviance(counts[:, ~few], drawn[:, ~few]) < deviance(counts[:, ~few], alone[:, ~few])
    errors = [np.sqrt(((found - truth) ** 2).mean()) for found in (drawn, alone)]
    assert errors[0] < 0.6 * errors[1]


def test_a_part_of_the_units_is_drawn_to_what_all_have_in_common() -> None:
    panel = sparse_units(6, units=60, mean=0.2).panel
    anchor = ArrivalAnchor.chosen(panel, SPLIT)
    some = panel_of_units(panel, np.array([3, 7]))
    part = ArrivalAnchor(
        anchor.cycle,
        anchor.blocks,
        anchor.totals,
        np.eye(1, anchor.cells.shape[1], anchor.cells.shape[1] - 1).repeat(3, 0),
        np.ones(8),
        anchor.dispersion,
        anchor.effort,
        anchor.hierarchies,
    )
    arrivals = some.arrivals[:33].sum(0).astype(float)
    place = places(panel, np.arange(34), 7)
    days = anchor.hierarchies[0].rhythm[place[:33]].sum(0)
    rates = anchor.hierarchies[0].shrunken(arrivals, np.tile(days, (2, 1)))
    found = part.predict(some, np.array([32]), 1)[0, 0]
    ahead = rates * anchor.hierarchies[0].rhythm[place[33]]
    np.testing.assert_allclose(found / found.sum(), ahead / ahead.sum(), rtol=1e-6)


def test_what_was_learned_is_kept_in_a_file() -> None:
    effort = np.where(np.arange(40) % 3, 1.0, 2.0)
    panel = sparse_units(7, units=40, effort=effort).panel
    anchor = Anchor(None, ArrivalAnchor.chosen(panel, SPLIT))
    assert len(anchor.arrivals.hierarchies) == 2
    facts, tensors = anchor_stored(anchor)
    again = anchor_restored({"anchor": facts}, tensors, panel)
    here, there = (one.arrivals.predict(panel, np.array([30]), 3) for one in (anchor, again))
    np.testing.assert_array_equal(here, there)
    tensors["anchor/hierarchy 1/strengths"] = np.array([1.0, -1.0])
    with pytest.raises(ValueError, match="out of range"):
        anchor_restored({"anchor": facts}, tensors, panel)
