"""Periods and places in order, sums of what was bought, and what is refused."""

import numpy as np
import polars as pl
import pytest

from dgd.choice import Scales
from dgd.choice.dynamics.history import HistoryOf
from dgd.choice.dynamics.purchases import Usual
from dgd.errors import InputError
from dgd.runtime import computing
from support.moving_choice import PERIODS, PLACES, weekly, weekly_table
from support.random_choice import make


def test_whole_numbers_are_ordered_by_size_and_texts_by_letters():
    numbers = HistoryOf.by(weekly()).of(weekly())
    dated = weekly_table().with_columns(
        pl.format("2026-{}-01", pl.col("week").cast(pl.String).str.zfill(2)).alias("week")
    )
    texts = HistoryOf.by(weekly(dated)).of(weekly(dated))
    assert np.array_equal(numbers.period, texts.period)
    assert numbers.period[0] == len(PERIODS) - 1
    as_written = weekly_table().with_columns(pl.col("week").cast(pl.String))
    wrong = HistoryOf.by(weekly(as_written)).of(weekly(as_written))
    assert wrong.period[0] == PERIODS.index(12) - 2  # "10" < "11" < "12" < "8" < "9"


def test_markets_of_one_place_and_period_add_up_and_missing_ones_are_not_known():
    markets = weekly()
    past = HistoryOf.by(markets).of(markets)
    at = list(
        dict.fromkeys(markets.marks["city"].labels[i] for i in markets.marks["city"].of_market)
    )
    assert past.opportunities[1, at.index("north")] == 800
    assert past.opportunities[2, at.index("south")] == 0
    assert np.asarray(past.opportunities).sum() == markets.size.sum()
    assert np.asarray(past.bought).sum() == markets.count.sum()
    content = np.einsum("mj,mja->a", markets.count, markets.attributes)
    assert np.allclose(np.asarray(past.content).sum((0, 1)), content)


def test_without_places_all_markets_of_a_period_share_one():
    markets = weekly(place=None)
    past = HistoryOf.by(markets).of(markets)
    assert past.bought.shape == (len(PERIODS), 1)
    assert past.bought.sum() == markets.count.sum()


def test_only_periods_that_expectations_lead_on_from_are_walked():
    table = weekly_table()
    recorded = HistoryOf.by(weekly(table.filter(pl.col("week") < PERIODS[2])))
    everything = recorded.of(weekly(table))
    assert everything.ahead.shape == (2, 3)
    next_week = recorded.of(weekly(table.filter(pl.col("week") == PERIODS[2])))
    assert next_week.ahead.shape == (0, 0)
    assert HistoryOf.by(weekly(table)).of(weekly(table)).ahead.shape == (0, 0)


def test_changed_markets_keep_the_past_that_was_recorded():
    markets = weekly()
    past = HistoryOf.by(markets)
    before, after = past.of(markets), past.of(markets.with_prices({"a": 9.0}))
    assert all(np.array_equal(x, y) for x, y in zip(before, after, strict=True))


def test_later_markets_join_what_is_recorded():
    table = weekly_table()
    first, later = (
        weekly(table.filter(part)) for part in (pl.col("week") < 11, pl.col("week") >= 11)
    )
    joined = HistoryOf.by(first).with_later(later).of(later)
    whole = HistoryOf.by(weekly(table)).of(later)
    for name in set(whole._fields) - {"home"}:
        assert np.allclose(getattr(joined, name), getattr(whole, name)), name
    with pytest.raises(InputError, match="period 8 of place 'north' is already recorded; leave"):
        HistoryOf.by(first).with_later(weekly(table.filter(pl.col("week") == 8)))


def test_usual_purchases_are_means_over_the_recorded_periods_of_a_place():
    markets = weekly()
    with computing():
        scales = Scales.plain(3)
        past = HistoryOf.by(markets).of(markets)
        usual = Usual.of(past, scales, len(PLACES))
        rates, dose = np.asarray(usual.rates), np.asarray(usual.dose)
    home, known = np.asarray(past.home), np.asarray(past.opportunities) > 0
    for column, row in enumerate(home):
        seen = known[:, column]
        size = np.asarray(past.opportunities)[seen, column]
        inside = np.asarray(past.bought)[seen, column] / size
        quality = np.asarray(past.content)[seen, column, 1] / size
        assert np.isclose(dose[row], inside.mean())
        assert np.isclose(rates[row, 0], inside.mean())
        assert np.isclose(rates[row, 1], quality.mean())
    assert np.allclose(rates[-1], rates[:-1].mean(0))


def test_markets_that_say_no_period_or_no_sales_are_refused():
    with pytest.raises(InputError, match=r'no period; name its column .* period="week"'):
        HistoryOf.by(make())
    uncounted = weekly().with_prices({"a": 1.0})
    with pytest.raises(InputError, match="count=None; only counted ones are a history"):
        HistoryOf.by(uncounted)
    texts = weekly(weekly_table().with_columns(pl.format("week {}", "week").alias("week")))
    with pytest.raises(InputError, match="whole numbers like 8 and some are texts like 'week"):
        HistoryOf.by(weekly()).of(texts)
    with pytest.raises(
        InputError, match="since is 13, which is no period; choose one from 8 to 12"
    ):
        HistoryOf.by(weekly()).of(weekly(), since=13)
