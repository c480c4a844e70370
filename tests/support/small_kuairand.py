"""KuaiRand-Pure as its authors publish it, with nine users and six videos."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import polars as pl

from dgd.counting import hash_bucket

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
        event(user, day, video=index % 6, is_click=int(index * 2 > n % 16))
        for n, day in enumerate(days)
        for index, user in enumerate(users)
    ]


def write(folder: Path, name: str, rows: list[Row], suffix: str = ".csv") -> None:
    table = pl.DataFrame(rows)
    file = folder / f"{name}{suffix}"
    table.write_csv(file) if suffix == ".csv" else table.write_parquet(file)


def videos() -> list[Row]:
    return [{"video_id": video, "author_id": 100 + video, "tag": "a,b"} for video in range(6)]


def publish(folder: Path) -> Path:
    """Write the whole data set into `folder`."""
    write(folder, EARLY, every_day(FIRST_DAY, date(2022, 4, 21)))
    write(folder, LATER, every_day(date(2022, 4, 22), date(2022, 5, 8)))
    write(folder, RANDOM, every_day(date(2022, 4, 22), date(2022, 5, 8), USERS[4:9]))
    write(folder, VIDEOS, videos())
    return folder


def add(folder: Path, name: str, *rows: Row) -> None:
    """Put further rows at the end of a log."""
    file = folder / f"{name}.csv"
    pl.concat([pl.read_csv(file), pl.DataFrame(rows)]).write_csv(file)
