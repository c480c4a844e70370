"""Sizes that were not given come from the counts, and sizes that cannot be right are refused."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

import dgd
from dgd.learning import cost, sizing
from dgd.panel.pattern_counts import PatternCounts
from dgd.panel.split import Split
from support.refusals import refused
from support.small_counts import ENDS, panel_of
from support.untrained import untrained

LARGE = 1_009_843


def shop(arrivals: int, **options: Any) -> dgd.Panel:
    """One cell with so many arrivals a day, a tenth of which click, for six weeks."""
    days = [date(2024, 1, 1) + timedelta(days=number) for number in range(42)]
    clicks = arrivals // 10
    rows = [(d, y, clicks if y else arrivals - clicks) for d in days for y in (0, 1)]
    table = pl.DataFrame(rows, schema=["date", "click", "count"], orient="row")
    return dgd.Panel.from_counts(table, unit=None, cohort=None, behaviors=["click"], **options)


def test_a_million_arrivals_without_sizes_are_forecast_as_a_million() -> None:
    fit = untrained(dgd.DGD(start="training"), shop(LARGE))
    forecast = fit.forecast(1).arrivals.sum()
    assert 0.8 * LARGE < forecast < 1.2 * LARGE
    assert fit.panel.size[0, 0, 0] == LARGE
    assert not fit.panel.sized


def test_small_counts_keep_a_size_of_one() -> None:
    panel = panel_of(28)
    assert np.all(sizing.fitting_sizes(panel, Split.of(panel, **ENDS, warmup_end=None)).size == 1)


def test_later_days_start_from_the_sizes_of_the_fit() -> None:
    panel = shop(LARGE)
    fit = untrained(dgd.DGD(start="training"), panel)
    longer = shop(LARGE, end="2024-02-12")
    again = fit.update(longer)
    assert again.panel.days == panel.days + 1
    assert np.all(again.panel.size == LARGE)


def test_sizes_do_not_look_at_later_days() -> None:
    panel = panel_of(28)
    split = Split.of(panel, **ENDS, warmup_end=None)
    patterns = panel.patterns.copy()
    patterns[split.train_stop :] *= 10_000
    later = replace(panel, counts=PatternCounts.of(patterns))
    with pytest.warns(UserWarning, match=r"more than the model can express.*give larger sizes"):
        assert np.all(sizing.fitting_sizes(later, split).size == 1)


def test_sizes_far_beyond_the_counts_are_refused() -> None:
    with refused("unit all", "6 arrivals a day", "1e+09", "less than the model", "smaller numbers"):
        untrained(dgd.DGD(), shop(6, sizes={"all": 1e9}))


def test_sizes_far_below_the_counts_are_refused() -> None:
    with refused("size of 1 are", "more than the model can express", "larger numbers"):
        untrained(dgd.DGD(), shop(LARGE, sizes={"all": 1.0}))


def test_a_unit_first_seen_after_training_is_named() -> None:
    panel = panel_of(28)
    patterns = panel.patterns.copy()
    patterns[:14, 1] = 0
    later = replace(panel, counts=PatternCounts.of(patterns))
    with pytest.warns(
        UserWarning, match=r"unit south had no arrivals.*2024-01-14.*next to nothing"
    ):
        sizing.fitting_sizes(later, Split.of(later, **ENDS, warmup_end=None))


def test_a_model_beyond_memory_is_refused_with_its_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "memory", lambda: 10**6)
    with refused("components 64, nodes 7", "takes about", "this machine has 1 MB", "lower"):
        untrained(dgd.DGD(components=64), panel_of(36))
