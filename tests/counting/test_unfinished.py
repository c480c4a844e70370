"""A log that ends in the middle of a day or a week: what is not over is left out, and said."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl
import pytest

import dgd
from support.shell import done

MONDAY = datetime(2022, 1, 3, tzinfo=UTC)


def log_until(end: datetime, closing: int = 22) -> pl.DataFrame:
    """An event every half hour from eight to `closing`, from a Monday to `end`."""
    times = []
    moment = MONDAY
    while moment <= end:
        if 8 <= moment.hour < closing:
            times.append(moment)
        moment += timedelta(minutes=30)
    return pl.DataFrame({"ts": times, "click": [n % 2 for n in range(len(times))]})


def counted(log: pl.DataFrame, **options: Any) -> tuple[pl.DataFrame, dgd.CountReport]:
    reports: list[dgd.CountReport] = []
    counts = dgd.count_events(
        log,
        dgd.Clock("ts", timezone="UTC"),
        behaviors=["click"],
        report=reports.append,
        **options,
    )
    return counts, reports[0]


@pytest.mark.parametrize("closing", [14, 22, 24])
def test_a_day_cut_at_noon_is_left_out(closing: int) -> None:
    log = log_until(MONDAY + timedelta(days=20, hours=11), closing)
    counts, report = counted(log)
    assert counts["date"].max() == date(2022, 1, 22)
    assert (report.unfinished, report.unfinished_from) == (7, date(2022, 1, 23))
    assert report.counted + report.unfinished == report.rows == log.height


def test_a_whole_day_is_kept() -> None:
    counts, report = counted(log_until(MONDAY + timedelta(days=20, hours=23)))
    assert counts["date"].max() == date(2022, 1, 23)
    assert report.unfinished == 0
    assert report.unfinished_from is None


def test_a_named_end_keeps_everything() -> None:
    counts, report = counted(log_until(MONDAY + timedelta(days=20, hours=11)), end="2022-01-23")
    assert counts["date"].max() == date(2022, 1, 23)
    assert report.unfinished == 0


def test_a_week_cut_on_wednesday_is_left_out() -> None:
    log = log_until(MONDAY + timedelta(days=23, hours=23))
    counts, report = counted(log, period="week")
    assert counts["date"].max() == date(2022, 1, 17)
    assert report.unfinished_from == date(2022, 1, 24)
    assert counts["count"].sum() + report.unfinished == log.height


def test_a_shop_closed_at_weekends_ends_its_weeks_on_friday() -> None:
    log = log_until(MONDAY + timedelta(days=25, hours=23)).filter(pl.col("ts").dt.weekday() < 6)
    counts, report = counted(log, period="week")
    assert counts["date"].max() == date(2022, 1, 24)
    assert report.unfinished == 0


def test_too_few_days_tell_nothing() -> None:
    _, report = counted(log_until(MONDAY + timedelta(days=4, hours=11)))
    assert report.unfinished == 0


def test_the_shell_says_what_was_left_out(tmp_path: Any) -> None:
    log = tmp_path / "log.csv"
    log_until(MONDAY + timedelta(days=20, hours=11)).with_columns(
        pl.col("ts").dt.strftime("%Y-%m-%dT%H:%M:%SZ")
    ).write_csv(log)
    options = ["--time", "ts", "--timezone", "UTC", "--behaviors", "click"]
    said = done("count", log, *options, "--output", tmp_path / "counts.csv").stdout
    assert "7 events from 2022-01-23 on, a day that is not over, left out; name --end" in said
