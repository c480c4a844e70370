"""Smoothers of arrivals, and the anchor made of them."""

from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.anchoring.arrival_anchor import ArrivalAnchor
from dgd.anchoring.exposure import Exposed
from dgd.anchoring.smoothing.means import PLAIN_GAINS, WEEKDAY_GAINS
from dgd.anchoring.smoothing.smoothers import are_means, candidates, smoothed_days
from dgd.model.effort import EffortCurve
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.split import Split

WEEK = np.array([0.0, 60, 50, 40, 50, 70, 30])


def panel_of(totals: np.ndarray, effort: np.ndarray | None = None) -> dgd.Panel:
    days = [date(2024, 1, 1) + timedelta(days=n) for n in range(len(totals))]
    counts = pl.DataFrame({"date": days, "click": 0, "count": totals.astype(int)})
    table = None if effort is None else pl.DataFrame({"date": days, "effort": effort})
    return dgd.Panel.from_counts(
        counts.filter(pl.col("count") > 0),
        unit=None,
        cohort=None,
        behaviors=["click"],
        effort=table,
        start=days[0],
        end=days[-1],
    )


def anchor_of(panel: dgd.Panel) -> ArrivalAnchor:
    dates = panel.dates
    return ArrivalAnchor.chosen(panel, Split.of(panel, dates[-29], dates[-15], dates[13]))


def test_a_plain_level_is_a_fading_mean() -> None:
    arrivals = np.random.default_rng(0).poisson(20.0, (40, 3)).astype(float)
    *_, last = smoothed_days(arrivals, np.zeros(40, int), 1)
    plain = last.ahead(0, 1)[: len(PLAIN_GAINS)]
    for gain, found in zip(PLAIN_GAINS, plain, strict=True):
        weights = (1 - gain) ** np.arange(39, -1, -1.0)
        np.testing.assert_allclose(found, weights @ arrivals / weights.sum(), rtol=1e-10)


def test_a_weekday_mean_is_that_of_its_own_days() -> None:
    arrivals = np.random.default_rng(0).poisson(20.0, (40, 2)).astype(float)
    *_, last = smoothed_days(arrivals, np.arange(40) % 7, 7)
    own = arrivals[np.arange(40) % 7 == 3]
    weekdays = last.ahead(3, 1)[are_means(7)][-len(WEEKDAY_GAINS) :]
    for gain, found in zip(WEEKDAY_GAINS, weekdays, strict=True):
        weights = (1 - gain) ** np.arange(len(own) - 1, -1, -1.0)
        np.testing.assert_allclose(found, weights @ own / weights.sum(), rtol=1e-10)


def test_a_rhythm_of_the_week_is_followed_ahead() -> None:
    """Closed days are closed and busy ones busy, however far ahead."""
    rng = np.random.default_rng(4)
    totals = rng.poisson(np.tile(WEEK, 16))
    panel = panel_of(totals)
    expected = anchor_of(panel).predict(panel, np.array([panel.days - 1]), 14)[:, 0].sum((1, 2))
    truth = np.tile(WEEK, 2)
    assert expected[truth == 0].max() < 2
    np.testing.assert_allclose(expected[truth > 0], truth[truth > 0], rtol=0.25)


def test_a_risen_level_is_followed() -> None:
    rng = np.random.default_rng(4)
    totals = rng.poisson(np.concatenate([np.tile(WEEK, 12), np.tile(2 * WEEK, 6)]))
    panel = panel_of(totals)
    expected = anchor_of(panel).predict(panel, np.array([panel.days - 1]), 7)[:, 0].sum()
    assert 1.6 * WEEK.sum() < expected < 2.4 * WEEK.sum()


def test_what_effort_explains_is_not_taken_for_the_level() -> None:
    rng = np.random.default_rng(6)
    effort = np.where(rng.uniform(size=112) < 0.5, 1.0, 3.0)
    panel = panel_of(rng.poisson(30 * effort), effort)
    anchor = anchor_of(panel)
    origins = np.arange(90, 110)
    expected = anchor.predict(panel, origins, 1)[0].sum((1, 2))
    np.testing.assert_allclose(expected, 30 * effort[origins + 1], rtol=0.25)
    blind = anchor_of(panel_of(panel.arrivals.sum((1, 2))))
    assert blind.totals.shape[1] * 2 == anchor.totals.shape[1] == 2 * candidates(7)


def test_the_unit_of_effort_does_not_move_the_anchor() -> None:
    rng = np.random.default_rng(6)
    effort = np.where(rng.uniform(size=112) < 0.5, 1.0, 3.0)
    totals = rng.poisson(30 * effort**0.5)
    origins, found = np.arange(90, 110), []
    for scale in (1.0, 4096.0):
        panel = panel_of(totals, scale * effort)
        dates = panel.dates
        split = Split.of(panel, dates[-29], dates[-15], dates[13])
        curve = EffortCurve(np.array([0.5]), np.zeros(1), np.array([2.0 * scale]))
        found.append(ArrivalAnchor.chosen(panel, split, curve).predict(panel, origins, 1)[0])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
    np.testing.assert_allclose(found[0].sum((1, 2)), 30 * effort[origins + 1] ** 0.5, rtol=0.25)


def test_without_effort_on_a_day_the_rate_of_the_day_before_stands() -> None:
    counts, effort = np.array([[4.0], [0.0], [6.0]]), np.array([[2.0], [0.0], [2.0]])
    np.testing.assert_array_equal(Exposed(counts, effort)._per_effort(), [[2.0], [2.0], [3.0]])


@pytest.mark.parametrize("r", [3.0, 1e9])
def test_scatter_is_learned_from_past_errors(r: float) -> None:
    rng = np.random.default_rng(8)
    mean = np.full(150, 80.0)
    totals = rng.negative_binomial(r, r / (r + mean)) if r < 1e6 else rng.poisson(mean)
    found = anchor_of(panel_of(totals)).dispersion[0, 0]
    assert 2.0 < found < 4.5 if r < 1e6 else found > 50


def test_efforts_that_differ_between_cells_do_not_let_later_days_in(drawn: dgd.Simulated) -> None:
    """Forecasts from an early origin are the same whether later ones are asked for or not."""
    rng = np.random.default_rng(3)
    effort = rng.uniform(0.5, 2.0, drawn.panel.effort.shape)
    patterns = drawn.panel.patterns.copy()
    patterns[36:, 0] *= 9
    panel = replace(drawn.panel, effort=effort, counts=PatternCounts.of(patterns))
    anchor = ArrivalAnchor.chosen(panel, Split(0, 25, 33))
    alone, beside = (anchor.predict(panel, np.array(o), 2) for o in ([34], [34, 37]))
    np.testing.assert_array_equal(alone[:, 0], beside[:, 0])
