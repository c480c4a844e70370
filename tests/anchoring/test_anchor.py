"""The anchor of a fit: no look ahead, no departures no change, evidence decides, files keep it."""

from dataclasses import replace

import numpy as np
import pytest

import dgd
from dgd.anchoring.evidence import BELIEVED, LEAST_PAIRS, POOLS, earned_share
from dgd.anchoring.weighing import block_of, blocks_of, soft_weights
from dgd.forecasting.pool import pool
from dgd.panel.pattern_counts import PatternCounts
from support.refusals import refused


def moved(days: int, gain: float, noise: float) -> np.ndarray:
    """Losses of pools of which the model's part gains `gain` a day, with noise."""
    rng = np.random.default_rng(1)
    daily = gain + noise * rng.standard_normal(days)
    return 5 - np.array(POOLS)[:, None] * daily


def test_no_evidence_is_hardly_followed() -> None:
    assert earned_share(moved(14, -1.0, 0.5)) == 0
    assert earned_share(moved(14, 0.02, 0.5)) < 2 * BELIEVED
    assert earned_share(moved(LEAST_PAIRS - 1, 1.0, 0.01)) == 0


def test_a_share_given_in_advance_stays_unless_it_did_harm() -> None:
    first = POOLS[1]
    level = 5 - np.array(POOLS)[:, None] * np.tile([-1.0, 0.9], 7)
    assert earned_share(level, first) == first, "a loss within chance"
    assert earned_share(moved(14, -1.0, 0.3), first) == 0
    assert earned_share(moved(14, 1.0, 0.3), first) > 0.99
    assert earned_share(moved(LEAST_PAIRS - 1, 1.0, 0.01), first) == 0, "too few days to tell"


def test_much_evidence_is_followed_in_full() -> None:
    assert earned_share(moved(14, 1.0, 0.3)) > 0.99
    few = 5 - np.array(POOLS)[:, None] * np.array([0.1, 0.0, 2.5, 1.0, -0.1])
    assert earned_share(few) < 0.4, "five days prove little"


def test_without_a_share_the_forecast_is_the_anchor_exactly(fit: dgd.Fit) -> None:
    origins = np.array([30, 36])
    alone = replace(fit, anchor=replace(fit.anchor, pattern_share=0.0, arrival_share=0.0))
    found = alone.predict(origins, 3)
    panel = fit.panel
    for seed in range(2):
        np.testing.assert_array_equal(
            found.patterns[seed], fit.anchor.patterns.predict(panel, origins, 3)
        )
        np.testing.assert_array_equal(
            found.arrivals[seed], fit.anchor.arrivals.predict(panel, origins, 3)
        )


def test_a_forecast_is_the_pool_of_anchor_and_model(fit: dgd.Fit) -> None:
    origins = np.array([30, 36])
    half = replace(fit.anchor, pattern_share=0.5, arrival_share=0.25)
    found = replace(fit, anchor=half).predict(origins, 2)
    model = fit.unanchored.predict(origins, 2)
    own = half.patterns.predict(fit.panel, origins, 2)
    np.testing.assert_allclose(found.patterns, (own + model.patterns) / 2, rtol=1e-12)
    volume = half.arrivals.predict(fit.panel, origins, 2)
    np.testing.assert_allclose(found.arrivals, 0.75 * volume + 0.25 * model.arrivals, rtol=1e-12)


def test_later_days_move_neither_the_choice_nor_earlier_forecasts(fit: dgd.Fit) -> None:
    patterns = fit.panel.patterns.copy()
    patterns[35:] = patterns[35:][:, ::-1] * 3
    later = replace(fit.unanchored, panel=replace(fit.panel, counts=PatternCounts.of(patterns)))
    ours, theirs = (
        replace(one, anchor=dgd.DGD(innovations="none")._anchor(one)).predict(np.array([30, 34]), 5)
        for one in (fit.unanchored, later)
    )
    np.testing.assert_array_equal(ours.arrivals, theirs.arrivals)
    np.testing.assert_array_equal(ours.patterns, theirs.patterns)


def test_forecasts_do_not_depend_on_the_other_origins(fit: dgd.Fit) -> None:
    one, two = fit.predict(np.array([30]), 3), fit.predict(np.array([30, 36]), 3)
    np.testing.assert_allclose(one.patterns[:, :, 0], two.patterns[:, :, 0], rtol=1e-12)
    np.testing.assert_allclose(one.arrivals[:, :, 0], two.arrivals[:, :, 0], rtol=1e-12)


@pytest.mark.parametrize(
    ("changed", "patterns", "arrivals"),
    [
        ({"anchor": "none"}, False, True),
        ({"arrival_anchor": "none"}, True, False),
        ({"anchor": "none", "arrival_anchor": "none"}, False, False),
    ],
)
def test_parts_can_be_left_out(fit: dgd.Fit, changed, patterns: bool, arrivals: bool) -> None:
    model = dgd.DGD(epochs=5, innovations="none", **changed)
    anchor = model._anchor(fit.unanchored)
    assert (anchor is not None) == (patterns or arrivals)
    found = replace(fit, anchor=anchor).predict(np.array([30]), 1)
    alone = fit.unanchored.predict(np.array([30]), 1)
    if not patterns:
        np.testing.assert_array_equal(found.patterns, alone.patterns)
    if not arrivals:
        np.testing.assert_array_equal(found.arrivals, alone.arrivals)
        assert found.dispersion == fit.settings.dispersion


def test_the_paper_preset_has_no_anchor() -> None:
    paper = dgd.DGD.paper()
    assert (paper.anchor, paper.arrival_anchor) == ("none", "none")


def test_an_unknown_part_is_refused() -> None:
    with refused("tilts", "both, shared, swings, weekdays, none"):
        dgd.DGD(tilts="all")


def test_weights_favour_what_did_well_and_drop_the_tail() -> None:
    losses = np.linspace(0, 1, 60)[None].repeat(2, 0)
    weights = soft_weights(losses, 0.1, own=0.5, most=40)
    np.testing.assert_allclose(weights.sum(1), 1.0)
    assert (np.diff(weights[:, :40]) < 0).all()
    assert not weights[:, 40:].any()


def test_steps_take_the_weights_of_the_last_block_reached() -> None:
    blocks = blocks_of(np.arange(30))
    assert [block_of(step, blocks) for step in (1, 2, 3, 6, 7, 40)] == [0, 0, 1, 1, 2, 2]
    assert blocks_of(np.arange(6)) == (1, 3)


def test_a_model_that_diverged_has_no_share() -> None:
    losses = moved(14, 1.0, 0.3)
    losses[3:] = np.nan
    assert earned_share(losses) == 0


def test_a_pool_without_a_share_is_the_anchor_bit_by_bit() -> None:
    anchor, model = np.array([0.1, 0.3]), np.full((2, 2), np.nan)
    np.testing.assert_array_equal(pool(anchor, model, 0.0), [[0.1, 0.3], [0.1, 0.3]])


def test_a_file_keeps_the_anchor(fit: dgd.Fit, tmp_path) -> None:
    fit.save(tmp_path / "fit.dgd")
    loaded = dgd.load(tmp_path / "fit.dgd")
    here, there = (one.predict(np.array([28, 30]), 9) for one in (fit, loaded))
    np.testing.assert_array_equal(here.patterns, there.patterns)
    np.testing.assert_array_equal(here.arrivals, there.arrivals)
    np.testing.assert_array_equal(here.dispersion, there.dispersion)
