"""Counting refuses what it cannot count, in one sentence, and drops nothing silently."""

import json
import logging
import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from dgd import Clock, CountReport, InputError, Panel, count_events
from dgd.cli.count import count as count_command
from support.shell import done
from support.shell import run as shell

NOON = datetime(2022, 4, 21, 12, tzinfo=UTC)


def log_of(**columns: Any) -> pl.DataFrame:
    """Four events, a day apart, with `columns` replaced or added."""
    times = [NOON + timedelta(days=k) for k in range(4)]
    return pl.DataFrame(
        {"ts": times, "store": ["a", "b", "a", "b"], "click": [0, 1, 1, 0]} | columns
    )


def counted(log: Any, clock: Clock | None = None, **options: Any) -> pl.DataFrame:
    clock = clock or Clock("ts", timezone="UTC")
    return count_events(log, clock, **{"behaviors": ["click"], **options})


def test_counts_become_a_panel_without_more_words() -> None:
    panel = Panel.from_counts(counted(log_of(), unit="store"), behaviors=["click"])
    assert panel.arrivals.sum() == 4
    assert panel.units == ("a", "b")
    assert panel.cohorts == ("all",)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(-(10**9), 4 * 10**9), min_size=1, max_size=30),
    st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "Pacific/Apia"]),
)
def test_any_instant_falls_on_the_day_its_zone_says(seconds: list[int], zone: str) -> None:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    days = Counter(
        (epoch + timedelta(seconds=s)).astimezone(ZoneInfo(zone)).date() for s in seconds
    )
    log = pl.DataFrame({"ts": seconds, "click": [1] * len(seconds)})
    counts = counted(log, Clock("ts", timezone=zone, time_unit="s"), end="2199-12-30")
    assert dict(counts.select("date", "count").iter_rows()) == dict(days)


def test_weeks_begin_on_monday() -> None:
    counts = counted(log_of(), period="week")
    assert set(counts["date"]) == {date(2022, 4, 18)}
    assert counts["count"].sum() == 4


def test_floats_booleans_and_text_are_behaviors_if_they_say_yes_or_no() -> None:
    expected = counted(log_of())
    for same in ([0.0, 1.0, 1.0, 0.0], [False, True, True, False], ["0", "true", "TRUE", "False"]):
        assert counted(log_of(click=same)).equals(expected)


def test_whole_numbers_that_pandas_made_floats_stay_labels() -> None:
    counts = counted(log_of(store=[7.0, None, 7.0, 8.0]), unit="store", missing=-1)
    assert counts["unit"].unique().sort().to_list() == [-1, 7, 8]


def test_a_text_label_for_missing_turns_numbers_into_text() -> None:
    counts = counted(log_of(store=[7, None, 7, 8]), unit="store", missing="unknown")
    assert counts["unit"].unique().sort().to_list() == ["7", "8", "unknown"]


def test_a_number_for_missing_leaves_other_numbers_as_they_are() -> None:
    log = log_of(store=["a", None, "a", "b"], group=[1, 2, None, 2])
    counts = counted(log, unit="store", cohort="group", missing=0)
    assert set(counts["unit"]) == {"0", "a", "b"}
    assert set(counts["cohort"]) == {0, 1, 2}


def test_mixed_python_objects_in_pandas_are_reported_by_value() -> None:
    pd = pytest.importorskip("pandas")
    log = log_of().to_pandas()
    log["click"] = pd.Series([0, 1, "maybe", 0], dtype=object)
    with pytest.raises(InputError, match='column click: "maybe" is neither 0 nor 1, in 1 row;'):
        counted(log)


def test_what_a_range_leaves_out_is_reported() -> None:
    reports: list[CountReport] = []
    counted(log_of(), start="2022-04-22", end="2022-04-23", report=reports.append)
    report = reports[0]
    assert (report.rows, report.counted, report.before_start, report.after_end) == (4, 2, 1, 1)
    assert (report.first, report.last) == (date(2022, 4, 22), date(2022, 4, 23))


def test_what_a_range_leaves_out_is_logged_if_nobody_listens(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, "dgd"):
        counted(log_of(), start="2022-04-22")
    assert "left out 1 of 4 events: 1 before start" in caplog.text


def test_missing_labels_are_counted_in_the_report() -> None:
    reports: list[CountReport] = []
    log = log_of(store=[None, "b", None, "b"])
    counted(log, unit="store", missing="unknown", report=reports.append)
    assert (reports[0].missing_unit, reports[0].missing_cohort) == (2, 0)


def test_a_context_may_be_called_what_the_report_calls_its_own() -> None:
    log = log_of(missing_unit=[3, 3, 4, 4])
    counts = counted(log, unit="store", context=["missing_unit"])
    assert set(counts["missing_unit"]) == {3, 4}


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "unparseable times": (
        {"ts": ["2022-04-21T00:00:00Z", "soon", "later", "2022-02-30T00:00:00Z"]}, {},
        r'column ts: "2022-02-30T00:00:00Z" is not a time .* in 3 rows; write it like',
    ),
    "missing times": (
        {"ts": [NOON, None, None, NOON]}, {}, r"column ts is missing in 2 rows; fill it in",
    ),
    "text times that name no zone": (
        {"ts": ["2022-04-21 10:00:00"] * 4}, {}, r'"2022-04-21 10:00:00" .* 4 rows; say stored_in=',
    ),
    "timestamps that name no zone": (
        {"ts": [NOON.replace(tzinfo=None)] * 4}, {}, r"timestamps without a zone; say stored_in=",
    ),
    "timestamps without a day boundary": (
        {}, {"clock": Clock("ts")},
        r'column ts holds timestamps; say in which zone a day begins, .*timezone=".*" in its Clock',
    ),
    "numbers without a unit": ({"ts": [1, 2, 3, 4]}, {}, r"numbers; say .*time_unit=.* its Clock"),
    "numbers in the wrong unit": (
        {"ts": [1_650_000_000_000] * 4}, {"clock": Clock("ts", "UTC", time_unit="s")},
        r"column ts: 1650000000000 .* in 4 rows; check time_unit",
    ),
    "a zone for times that have one": (
        {}, {"clock": Clock("ts", "UTC", stored_in="UTC")},
        r"with a zone, so stored_in has no meaning; leave it out of its Clock",
    ),
    "a unit for times that are not numbers": (
        {"ts": [NOON.date()] * 4}, {"clock": Clock("ts", "UTC", time_unit="s")},
        r"holds dates, so time_unit has no meaning; leave it out of its Clock",
    ),
    "text times without a day boundary": (
        {"ts": ["2022-04-21T10:00:00Z"] * 4}, {"clock": Clock("ts")},
        r'"2022-04-21T10:00:00Z" .* 4 rows; write dates .* or give its Clock timezone=',
    ),
    "what is no time at all": (
        {"ts": [True] * 4}, {}, r"column ts holds Boolean, which is not a time; hand over dates",
    ),
    "behaviors beyond 0 and 1": (
        {"click": [0, 1, 2, 3]}, {}, r"column click: 2 is neither 0 nor 1, in 2 rows",
    ),
    "behaviors between 0 and 1": (
        {"click": [0.0, 1.0, 0.5, None]}, {},
        r"column click: 0.5 is neither 0 nor 1, in 1 row \(and it is missing in 1 row\)",
    ),
    "behaviors that are NaN": (
        {"click": [0.0, 1.0, float("nan"), 1.0]}, {},
        r"column click: NaN is neither 0 nor 1, in 1 row;",
    ),
    "missing behaviors": (
        {"click": [True, None, None, None]}, {}, r"column click is missing in 3 rows",
    ),
    "words for behaviors": ({"click": ["yes"] * 4}, {}, r'column click: "yes" .* in 4 rows'),
    "a missing column": (
        {}, {"unit": "shop"}, r'no column "shop"; its columns are ts, store, click',
    ),
    "missing labels": (
        {"store": ["a", None, None, "b"]}, {"unit": "store"},
        r'column store is missing in 2 rows; name their unit with missing="unknown"',
    ),
    "labels that are not whole": (
        {"store": [1.5, 1, 2, 3]}, {"unit": "store"}, r"column store: 1.5 is not a label",
    ),
    "a range without events": (
        {}, {"start": "2023-01-01", "end": "2023-02-01"},
        r"none of its 4 rows from 2023-01-01 to 2023-02-01: they run from 2022-04-21 to 2022-04-24",
    ),
    "a range back to front": (
        {}, {"start": "2022-04-23", "end": "2022-04-22"}, r"start 2022-04-23 is after end",
    ),
    "a start that is no date": ({}, {"start": "soon"}, r'start "soon" is not a date'),
    "hours of dates": (
        {"ts": [NOON.date()] * 4}, {"period": "hour"}, r"holds dates, which have no hours",
    ),
    "years of two digits": (
        {"ts": ["22-04-21"] * 4}, {}, r'"22-04-21" is not a time dgd can read, in 4 rows; write it',
    ),
    "a year typed without its century": (
        {"ts": ["2022-04-21", "0022-04-22", "2022-04-23", "2022-04-24"]}, {},
        r"column ts: 0022-04-22 is not between 1900 and 2199, in 1 row; correct it, or leave it",
    ),
    "a year far away": (
        {"ts": [date(2022, 4, 21), date(9999, 12, 31), date(2202, 4, 22), date(2022, 4, 22)]}, {},
        r"column ts: 2202-04-22 is not between 1900 and 2199, in 2 rows; correct it, or leave it",
    ),
    "ids that floats cannot tell apart": (
        {"store": [1.0, None, float(2**53), 1e18]}, {"unit": "store", "missing": -1},
        r"column store: 9007199254740992 in row 3 is a float too large .* text or as",
    ),
    "whole numbers of more than 64 bits": (
        {"store": pl.Series([2**64 - 1, 1, 2, 3], dtype=pl.UInt64)}, {"unit": "store"},
        r"column store: 18446744073709551615 is not a label; use whole numbers of at most 64 bits",
    ),
    "a behavior named like a key": (
        {"unit": [0, 1, 0, 1]}, {"behaviors": ["unit"]}, r'behaviors names "unit"',
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", REFUSED)
def test_bad_input_is_refused_in_one_sentence(fault: str) -> None:
    columns, options, message = REFUSED[fault]
    with pytest.raises(InputError, match=message) as refusal:
        counted(log_of(**columns), **options)
    assert len(re.findall(r"\.(?:\s|$)", str(refusal.value))) == 1


def test_ids_of_19_digits_beside_a_missing_one_stay_apart_or_are_refused() -> None:
    pd = pytest.importorskip("pandas")
    ids = [1234567890123456789, 1234567890123456788, None, 1234567890123456788]
    log = log_of().to_pandas()
    with pytest.raises(InputError, match="in row 1 is a float too large to tell ids apart"):
        counted(log.assign(store=ids), unit="store", missing=-1)
    told = counted(log.assign(store=pd.array(ids, dtype="Int64")), unit="store", missing=-1)
    assert sorted(set(told["unit"])) == [-1, ids[1], ids[0]]


def test_decimals_of_19_digits_stay_apart() -> None:
    ids = [1234567890123456789, 1234567890123456788]
    store = pl.Series(ids * 2).cast(pl.Decimal(38, 0))
    assert set(counted(log_of(store=store), unit="store")["unit"]) == set(ids)


def test_a_far_day_outside_the_range_asked_for_is_left_out() -> None:
    far = [date(2022, 4, 21), date(9999, 12, 31), date(2022, 4, 23), date(2022, 4, 24)]
    assert counted(log_of(ts=far), Clock("ts"), end="2022-04-30")["count"].sum() == 3


@pytest.mark.parametrize(
    ("times", "zone", "ways_out"),
    [
        (["2022-04-21 10:00:00"] * 4, "UTC", ["UTC"]),
        (["2022-04-21 10:00:00"] * 4, "Asia/Tokyo", ["UTC", "Asia/Tokyo"]),
        ([NOON.replace(tzinfo=None)] * 4, "UTC", ["UTC"]),
        ([NOON.replace(tzinfo=None)] * 4, "Asia/Tokyo", ["UTC", "Asia/Tokyo"]),
    ],
)
def test_no_way_out_is_named_twice(times: list[Any], zone: str, ways_out: list[str]) -> None:
    with pytest.raises(InputError) as refusal:
        counted(log_of(ts=times), Clock("ts", zone))
    assert re.findall(r'stored_in="([^"]*)"', str(refusal.value)) == ways_out


def test_an_empty_log_is_refused() -> None:
    with pytest.raises(InputError, match="events has no rows"):
        counted(log_of().clear())


def test_what_is_not_a_table_is_refused() -> None:
    with pytest.raises(InputError, match="a dict is not a table"):
        counted({"ts": [1]})


app = typer.Typer()
app.command()(count_command)
OPTIONS = ["--time", "ts", "--timezone", "UTC", "--behaviors", "click", "--unit", "store"]


def run_count(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_shell_counts_a_glob_as_python_counts_the_whole(tmp_path: Path, ending: str) -> None:
    log = log_of()
    for index, part in enumerate((log.head(1), log.tail(3))):
        path = tmp_path / f"part{index}.{ending}"
        part.write_csv(path) if ending == "csv" else part.write_parquet(path)
    if ending == "csv":
        for path in tmp_path.glob("*.csv"):
            path.write_text(path.read_text().replace("+0000", "Z"))
    output = tmp_path / "out" / "counts.parquet"
    output.parent.mkdir()
    result = run_count(f"{tmp_path}/part*.{ending}", *OPTIONS, "--output", str(output), "--json")
    assert result.exit_code == 0, result.output
    assert pl.read_parquet(output).equals(counted(log, unit="store"))
    assert json.loads(result.stdout)["counted"] == 4
    assert [path.name for path in output.parent.iterdir()] == ["counts.parquet"]


def test_the_shell_leaves_nothing_behind_when_it_refuses(tmp_path: Path) -> None:
    log_of(click=[0, 1, 2, 1]).write_parquet(tmp_path / "log.parquet")
    output = tmp_path / "counts.csv"
    result = run_count(str(tmp_path / "log.parquet"), *OPTIONS, "--output", str(output))
    assert isinstance(result.exception, InputError)
    assert "column click: 2" in str(result.exception)
    assert not output.exists()


def test_the_shell_names_a_file_that_is_not_there(tmp_path: Path) -> None:
    result = run_count(str(tmp_path / "nothing*.csv"), *OPTIONS)
    assert "matches no file" in str(result.exception)


def test_the_shell_tells_what_it_left_out(tmp_path: Path) -> None:
    log_of().write_parquet(tmp_path / "log.parquet")
    output = tmp_path / "counts.csv"
    result = run_count(
        str(tmp_path / "log.parquet"), *OPTIONS, "--output", str(output), "--end", "2022-04-22"
    )
    assert result.exit_code == 0, result.output
    assert "2 events after --end, left out" in result.output


def test_the_shell_refuses_in_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("ts,store,click\n2022-04-21 10:00:00,a,1\n")
    refused = shell("count", tmp_path / "log.csv", *OPTIONS, "--output", tmp_path / "counts.csv")
    last = refused.stderr.splitlines()[-1]
    assert last.startswith("dgd: events column ts")
    assert last.endswith("say --stored-in UTC, as it names no zone.")


def test_the_shell_keeps_labels_with_leading_zeros_apart(tmp_path: Path) -> None:
    lines = ["ts,store,click", "2022-04-21,007,1", "2022-04-21,7,1"]
    (tmp_path / "log.csv").write_text("\n".join(lines))
    done("count", tmp_path / "log.csv", *OPTIONS, "--output", tmp_path / "counts.csv")
    written = pl.read_csv(tmp_path / "counts.csv", infer_schema=False)
    assert written["unit"].to_list() == ["007", "7"]
