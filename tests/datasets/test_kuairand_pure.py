"""KuaiRand-Pure is counted by the paper's rules, from the original files or Parquet."""

from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from dgd import InputError
from dgd.datasets import KUAIRAND_WINDOWS, Dataset, Window, kuairand
from support.real_data import real_data
from support.small_kuairand import (
    EARLY,
    FIRST_DAY,
    LATER,
    OTHER_BUCKET,
    PARTIAL,
    USERS,
    add,
    event,
    every_day,
    publish,
    write,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return publish(tmp_path)


def removed(dataset: Dataset, rule: str) -> int:
    return dataset.report.filter(pl.col("rule") == rule)["rows_removed"][0]


# --- the real rows ------------------------------------------------------------------------------


def test_the_papers_standard_test_count_comes_out():
    window = Window("2022-04-25", "2022-04-26", "2022-04-27", "2022-04-28", "2022-05-08")
    dataset = kuairand(real_data("kuairand_pure"), window, buckets=(1,))
    test = dataset.parts.row(by_predicate=pl.col("part") == "test", named=True)
    assert (test["days"], test["events"]) == (10, 1881)


def test_the_late_window_fills_nine_cohorts_and_five_units():
    dataset = kuairand(real_data("kuairand_pure"), "late")
    assert dataset.panel.patterns.shape == (14, 5, 9, 128)
    assert tuple(dataset.parts["events"]) == (15885, 34862, 14192, 21625)
    assert dataset.panel.arrivals.sum((0, 1)).min() > 0
    assert dataset.panel.arrivals.sum((0, 2)).min() > 0


def test_late_reference_sizes_are_the_warm_ups_users_and_one_unit_each():
    log = pl.read_parquet(real_data("kuairand_pure") / "kuairand_pure" / f"{PARTIAL}.parquet")
    moment = pl.from_epoch("time_ms", "ms").dt.replace_time_zone("UTC")
    day = moment.dt.convert_time_zone("Asia/Shanghai").dt.date()
    warmup = log.filter(pl.col("tab") == 1, day.is_between(date(2022, 4, 25), date(2022, 4, 27)))
    sizes = kuairand(real_data("kuairand_pure"), "late").sizes
    assert sum(sizes.values()) == warmup["user_id"].n_unique() + 9
    assert list(sizes.values()) == [1714, 614, 672, 348, 1479, 560, 417, 550, 1]


def test_the_late_report_accounts_for_every_real_row():
    dataset = kuairand(real_data("kuairand_pure"), "late")
    report = dataset.report
    assert report["rows_kept"][0] == 114_055
    assert report["rows_kept"][-1] == dataset.panel.arrivals.sum()
    assert report["rows_kept"][0] - report["rows_removed"].sum() == report["rows_kept"][-1]


# --- the rules ------------------------------------------------------------------------------------


def test_standard_window_reads_the_original_files(folder):
    dataset = kuairand(folder, "standard")
    assert dataset.window == KUAIRAND_WINDOWS["standard"]
    assert tuple(dataset.parts["events"]) == (5 * 8, 9 * 8, 7 * 8, 10 * 8)
    assert dataset.panel.behaviors == (
        "click", "long_view", "like", "follow", "comment", "forward", "hate",
    )  # fmt: skip
    assert sum(dataset.sizes.values()) == 8 + 9
    assert dataset.summary_retention == 0.5


def test_random_window_takes_its_cohorts_from_the_standard_history(folder):
    dataset = kuairand(folder, "random")
    assert tuple(dataset.parts["events"]) == (3 * 5, 4 * 5, 3 * 5, 7 * 5)
    assert sum(dataset.sizes.values()) == 8 + 9
    new = dataset.panel.cohorts.index("new")
    assert dataset.panel.arrivals[:, :, new].sum() == 17, "the ninth user is not in the history"
    assert dataset.report["log"].unique(maintain_order=True).to_list() == ["random", "standard"]


def test_random_history_ends_before_the_random_log(folder):
    add(folder, LATER, event(USERS[8], date(2022, 4, 22)))
    dataset = kuairand(folder, "random")
    assert sum(dataset.sizes.values()) == 8 + 9


@pytest.mark.parametrize("window", ["standard", "random", "late"])
def test_parquet_gives_the_same_panel_as_csv(folder, tmp_path_factory, window):
    other = tmp_path_factory.mktemp("parquet")
    for file in folder.glob("*.csv"):
        pl.read_csv(file).write_parquet(other / f"{file.stem}.parquet")
    expected, found = (kuairand(path, window, buckets=(1,)).panel for path in (folder, other))
    np.testing.assert_array_equal(found.patterns, expected.patterns)
    np.testing.assert_array_equal(found.size, expected.size)


@pytest.mark.parametrize(
    ("rule", "row"),
    [
        ("in the buckets", event(OTHER_BUCKET, date(2022, 4, 10))),
        ("tab 1", event(USERS[0], date(2022, 4, 10), tab=0)),
        ("video in the candidate pool", event(USERS[0], date(2022, 4, 10), video=99)),
        ("in the window", event(USERS[0], date(2022, 4, 7))),
    ],
)
def test_each_rule_removes_its_rows_and_says_so(folder, rule, row):
    before = kuairand(folder, "standard").panel
    add(folder, EARLY, row)
    dataset = kuairand(folder, "standard")
    assert removed(dataset, rule) == 1
    np.testing.assert_array_equal(dataset.panel.patterns, before.patterns)
    np.testing.assert_array_equal(dataset.panel.size, before.size)


def test_days_come_from_the_timestamp_in_shanghai(folder):
    before = kuairand(folder, "standard").panel
    late_evening = event(USERS[0], date(2022, 4, 21), hour=23, date=20220422)
    early_morning = event(USERS[0], date(2022, 4, 22), hour=0)
    add(folder, LATER, late_evening, early_morning)
    after = kuairand(folder, "standard").panel
    more = (after.arrivals - before.arrivals).sum((1, 2))
    days = {str(day): int(extra) for day, extra in zip(after.dates, more, strict=True) if extra}
    assert days == {"2022-04-21": 1, "2022-04-22": 1}


def test_more_buckets_bring_more_users(folder):
    add(folder, EARLY, *every_day(FIRST_DAY, date(2022, 4, 21), [OTHER_BUCKET]))
    both = kuairand(folder, "standard", buckets=(40, 1))
    assert sum(both.sizes.values()) == 9 + 9


def test_cohorts_cross_click_rates_with_volumes(folder):
    history = [
        event(user, date(2022, 4, 9), hour=hour % 24, is_click=int(hour % 8 < index))
        for index, user in enumerate(USERS[:8])
        for hour in range(16 if index % 2 else 8)
    ]
    training = every_day(date(2022, 4, 13), date(2022, 4, 21))
    extra = [event(USERS[7], date(2022, 4, 13)), *(2 * [event(USERS[0], date(2022, 4, 13))])]
    write(folder, EARLY, [*history, *training, *extra])
    dataset = kuairand(folder, "standard")
    assert list(dataset.sizes.values()) == [2] * 8 + [1]
    first_training_day = dataset.panel.index("2022-04-13", "day")
    arrivals = dataset.panel.arrivals[first_training_day].sum(0)
    seen = dict(zip(dataset.panel.cohorts, arrivals.tolist(), strict=True))
    assert seen["rate 4 volume 2"] == 2, "user 7 clicks most and sees many videos"
    assert seen["rate 1 volume 1"] == 3, "user 0 never clicks and sees few"
    assert seen["new"] == 0


def test_units_are_the_most_exposed_creators_of_the_warm_up(folder):
    later = [event(USERS[0], date(2022, 4, 25), video=5) for _ in range(30)]
    early = [event(USERS[0], date(2022, 4, 9), video=4) for _ in range(5)]
    add(folder, LATER, *later)
    add(folder, EARLY, *early)
    # Videos 0 and 1 have two viewers each; 2, 3 and 5 one each, so the smaller ids win.
    assert kuairand(folder, "standard").panel.units == ("100", "101", "104", "102", "rest")


def test_a_window_of_ones_own_may_take_the_random_log(folder):
    window = Window("2022-04-23", "2022-04-24", "2022-04-26", "2022-04-28", "2022-04-30")
    dataset = kuairand(folder, window, log="random")
    assert dataset.panel.arrivals.sum() == 8 * 5
    assert dataset.report["log"][0] == "random"


# --- choices that leave nothing to count ---------------------------------------------------------


def test_a_range_without_exposures_is_named(folder):
    file = folder / f"{EARLY}.csv"
    pl.read_csv(file).filter(pl.col("date") > 20220412).write_csv(file)
    with pytest.raises(InputError, match=r"time_ms has none of its .* exposures in the warm-up"):
        kuairand(folder)


def test_users_without_exposures_are_refused(folder):
    with pytest.raises(InputError, match="no exposures are left"):
        kuairand(folder, buckets=(63,))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"window": "early"}, 'window "early" is not one of standard, random, late'),
        ({"buckets": ()}, "buckets is empty"),
        ({"buckets": (1, 64)}, "buckets names 64; name some of 0 to 63"),
        ({"log": "both"}, 'log "both" is not known'),
        ({"window": "late", "log": "random"}, "a window of the standard log"),
    ],
)
def test_an_impossible_choice_is_refused(folder, arguments, message):
    with pytest.raises(InputError, match=message):
        kuairand(folder, **arguments)


def test_dates_outside_the_log_are_refused(folder):
    window = Window("2022-04-23", "2022-04-24", "2022-04-26", "2022-04-28", "2022-05-09")
    with pytest.raises(InputError, match="runs from 2022-04-08 to 2022-05-08"):
        kuairand(folder, window)
