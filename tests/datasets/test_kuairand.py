"""KuaiRand-Pure is counted by the paper's rules, from the original files or Parquet."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest

from dgd.counting import hash_bucket
from dgd.datasets import KUAIRAND_WINDOWS, Dataset, Window, kuairand
from dgd.errors import InputError
from support.real_data import real_data

EARLY = "log_standard_4_08_to_4_21_pure"
LATER = "log_standard_4_22_to_5_08_pure"
RANDOM = "log_random_4_22_to_5_08_pure"
PARTIAL = "log_standard_4_25_to_5_08_pure_buckets_0_31"
VIDEOS = "video_features_basic_pure"

USERS = [user for user in range(5000) if hash_bucket(user) == 1][:9]
OTHER_BUCKET = next(user for user in range(5000) if hash_bucket(user) == 40)
FIRST_DAY = date(2022, 4, 8)
Row = dict[str, object]


def event(user: int, day: date, video: int = 0, hour: int = 12, **changes: object) -> Row:
    """One row of a log, in the columns of the original files."""
    moment = datetime(day.year, day.month, day.day, hour, tzinfo=ZoneInfo("Asia/Shanghai"))
    marks = dict.fromkeys(
        ("is_click", "is_like", "is_follow", "is_comment", "is_forward", "is_hate", "long_view"), 0
    )
    return {
        "user_id": user,
        "video_id": video,
        "date": int(f"{day:%Y%m%d}"),
        "hourmin": hour * 100,
        "time_ms": int(moment.timestamp() * 1000),
        **marks,
        "play_time_ms": 1000,
        "duration_ms": 2000,
        "profile_stay_time": 0,
        "comment_stay_time": 0,
        "is_profile_enter": 0,
        "is_rand": 0,
        "tab": 1,
    } | changes


def every_day(first: date, last: date, users: Sequence[int] = USERS[:8]) -> list[Row]:
    """Each user sees a video a day; the later a user in the list, the more often a click."""
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    return [
        event(user, day, video=place % 6, is_click=int(place * 2 > n % 16))
        for n, day in enumerate(days)
        for place, user in enumerate(users)
    ]


def write(folder: Path, name: str, rows: list[Row], suffix: str = ".csv") -> None:
    table = pl.DataFrame(rows)
    file = folder / f"{name}{suffix}"
    table.write_csv(file) if suffix == ".csv" else table.write_parquet(file)


def videos() -> list[Row]:
    return [{"video_id": video, "author_id": 100 + video, "tag": "a,b"} for video in range(6)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The data set as its authors publish it, small."""
    write(tmp_path, EARLY, every_day(FIRST_DAY, date(2022, 4, 21)))
    write(tmp_path, LATER, every_day(date(2022, 4, 22), date(2022, 5, 8)))
    write(tmp_path, RANDOM, every_day(date(2022, 4, 22), date(2022, 5, 8), USERS[4:9]))
    write(tmp_path, VIDEOS, videos())
    return tmp_path


def add(folder: Path, name: str, *rows: Row) -> None:
    """Put further rows at the end of a log."""
    file = folder / f"{name}.csv"
    pl.concat([pl.read_csv(file), pl.DataFrame(rows)]).write_csv(file)


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
    expected, found = (kuairand(place, window, buckets=(1,)).panel for place in (folder, other))
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
        event(user, date(2022, 4, 9), hour=hour % 24, is_click=int(hour % 8 < place))
        for place, user in enumerate(USERS[:8])
        for hour in range(16 if place % 2 else 8)
    ]
    training = every_day(date(2022, 4, 13), date(2022, 4, 21))
    extra = [event(USERS[7], date(2022, 4, 13)), *(2 * [event(USERS[0], date(2022, 4, 13))])]
    write(folder, EARLY, [*history, *training, *extra])
    dataset = kuairand(folder, "standard")
    assert list(dataset.sizes.values()) == [2] * 8 + [1]
    first_training_day = dataset.panel.place("2022-04-13", "day")
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


# --- which files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("inside", ["kuairand_pure", "kuairand_pure/KuaiRand-Pure/data", "data"])
def test_the_files_are_found_inside_a_data_folder(folder, inside, monkeypatch):
    place = folder / inside
    place.mkdir(parents=True)
    for file in folder.glob("*.csv"):
        file.rename(place / file.name)
    monkeypatch.setenv("DGD_DATA", str(folder))
    assert kuairand().panel.arrivals.sum() == 31 * 8


def test_a_day_held_by_two_files_is_counted_once(folder):
    before = kuairand(folder, "late").panel
    rows = pl.read_csv(folder / f"{LATER}.csv").filter(pl.col("date") >= 20220425)
    rows.write_parquet(folder / f"{PARTIAL}.parquet")
    pl.read_csv(folder / f"{LATER}.csv").write_parquet(folder / f"{LATER}.parquet")
    np.testing.assert_array_equal(kuairand(folder, "late").panel.patterns, before.patterns)


def test_the_late_window_needs_no_earlier_file(folder):
    (folder / f"{EARLY}.csv").unlink()
    assert kuairand(folder, "late").panel.arrivals.sum() == 14 * 8


@pytest.mark.parametrize(
    ("window", "gone"),
    [
        ("standard", EARLY),
        ("standard", LATER),
        ("late", LATER),
        ("random", RANDOM),
        ("random", EARLY),
        ("standard", VIDEOS),
    ],
)
def test_a_missing_file_is_answered_with_its_name_and_publisher(folder, window, gone):
    (folder / f"{gone}.csv").unlink()
    with pytest.raises(
        InputError, match=rf"{gone}\.csv of KuaiRand-Pure .*kuairand\.com.*zenodo.*10439422"
    ):
        kuairand(folder, window)


def test_an_empty_folder_is_answered_with_what_belongs_there(tmp_path):
    with pytest.raises(InputError, match=f"{EARLY}.csv of KuaiRand-Pure is not in"):
        kuairand(tmp_path)


def test_a_file_with_some_buckets_does_not_answer_for_others(tmp_path):
    write(tmp_path, PARTIAL, every_day(date(2022, 4, 25), date(2022, 5, 8)), ".parquet")
    write(tmp_path, VIDEOS, videos())
    assert kuairand(tmp_path, "late").panel.arrivals.sum() == 14 * 8
    with pytest.raises(InputError, match=rf"{LATER}\.csv"):
        kuairand(tmp_path, "late", buckets=(1, 40))


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("time_ms", "noon", '"noon" .and 1 more rows. is not a time in milliseconds'),
        ("time_ms", "1649390400000000", "is not a time in milliseconds since 1970"),
        ("time_ms", None, "missing .and 1 more rows. is not a time"),
        ("is_click", "2", '"2" .and 1 more rows. is neither 0 nor 1'),
        ("long_view", None, "is neither 0 nor 1"),
        ("user_id", "anna", '"anna" .and 1 more rows. is not a whole number'),
        ("tab", None, "is not a whole number"),
    ],
)
def test_a_bad_value_is_named_with_file_row_column_and_number(folder, column, value, message):
    file = folder / f"{EARLY}.csv"
    table = pl.read_csv(file, infer_schema=False)
    bad = [*table[column].to_list()[:-2], value, value]
    table.with_columns(pl.Series(column, bad, dtype=pl.String)).write_csv(file)
    row = table.height - 1
    with pytest.raises(InputError, match=rf"{EARLY}\.csv row {row}, column {column}: .*{message}"):
        kuairand(folder)


def test_half_a_click_is_refused_in_parquet_too(folder):
    rows = pl.read_csv(folder / f"{EARLY}.csv").with_columns(pl.col("is_click") * 0.5)
    rows.write_parquet(folder / f"{EARLY}.parquet")
    with pytest.raises(InputError, match=r"column is_click: 0\.5 .*is neither 0 nor 1"):
        kuairand(folder)


def test_a_missing_column_is_named(folder):
    file = folder / f"{EARLY}.csv"
    pl.read_csv(file).drop("long_view").write_csv(file)
    with pytest.raises(InputError, match='has no column "long_view"; its columns are user_id'):
        kuairand(folder)


@pytest.mark.parametrize("text", ["", "user_id,video_id\n"])
def test_an_empty_log_is_refused(folder, text):
    (folder / f"{EARLY}.csv").write_text(text)
    with pytest.raises(InputError, match=rf"{EARLY}\.csv"):
        kuairand(folder)


def test_a_log_with_a_header_only_is_refused(folder):
    file = folder / f"{EARLY}.csv"
    pl.read_csv(file).head(0).write_csv(file)
    with pytest.raises(InputError, match="has 0 rows"):
        kuairand(folder)


def test_a_video_with_two_authors_is_refused(folder):
    write(folder, VIDEOS, [*videos(), {"video_id": 3, "author_id": 7, "tag": ""}])
    with pytest.raises(InputError, match="rows 4 and 7 both give an author for video_id 3"):
        kuairand(folder)


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
