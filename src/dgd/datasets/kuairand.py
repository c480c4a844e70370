"""KuaiRand-Pure: seven kinds of feedback on recommended short videos, as daily counts.

Gao et al. 2022, CC BY-SA 4.0. Every exposure on the recommendation page is one
arrival. Users are cohorts fixed from earlier exposures; creators are units.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import polars as pl

from dgd.counting.buckets import hash_buckets
from dgd.counting.rates import rate_cohorts
from dgd.counting.units import top_units
from dgd.datasets.fetch import SOURCES, data_folder, missing
from dgd.datasets.windows import KUAIRAND_WINDOWS, Dataset, Tally, Window, refuse_empty_parts
from dgd.errors import InputError
from dgd.panel.panel import Panel
from dgd.tables import checks
from dgd.tables.clock import Clock

BEHAVIORS = {
    "is_click": "click",
    "long_view": "long_view",
    "is_like": "like",
    "is_follow": "follow",
    "is_comment": "comment",
    "is_forward": "forward",
    "is_hate": "hate",
}
COLUMNS = ("user_id", "video_id", "time_ms", "tab", *BEHAVIORS)
TIME_ZONE = "Asia/Shanghai"
RECOMMENDATION_PAGE = 1
BUCKETS = 64
YEAR = 2022
LATEST_MS = 4_102_444_800_000  # the year 2100: larger numbers are not milliseconds
HOUR_WAVES = ("hour sine", "hour cosine")
CREATORS = 4
SUMMARY_RETENTION = 0.5

VIDEOS = "video_features_basic_pure"
PUBLISHED: Mapping[str, tuple[str, ...]] = {
    "standard": (
        "log_standard_4_08_to_4_21_pure.csv",
        "log_standard_4_22_to_5_08_pure.csv",
    ),
    "random": ("log_random_4_22_to_5_08_pure.csv",),
}
LOG_NAME = re.compile(
    r"log_(standard|random)_(\d+)_(\d+)_to_(\d+)_(\d+)_pure"
    r"(?:_buckets_(\d+)_(\d+))?\.(?:parquet|csv)"
)


def kuairand(
    path: str | Path | None = None,
    window: str | Window = "standard",
    buckets: Sequence[int] | None = None,
    log: str | None = None,
    by_hour: bool = False,
) -> Dataset:
    """The exposures of one window: nine cohorts, five units, seven behaviours.

    **Arguments:**

    - `path`: a folder with the original CSV files or Parquet files of the same names;
        without it the folder DGD_DATA names, or the one `dgd data fetch kuairand` fills.
    - `window`: the paper's "standard" or "random", the "late" window, or your own dates.
    - `buckets`: which of the 64 hash buckets of users to keep; bucket 1 as in the
        paper, and 0 to 31 for the late window.
    - `log`: the log of a window of your own, "standard" unless you say "random".
    - `by_hour`: tell exposures of a day apart by their hour in Shanghai, for
        `DGD(supervision="events")`: the context columns are the hour's sine and cosine.

    Eight cohorts cross four quantile groups of the smoothed click rate with two of the
    exposure volume in the history of the standard log; users unknown to it are
    "new". Every cohort's reference size has one smoothing unit. Units are the
    four creators with most exposures in the warm-up; all others are "rest".
    """
    window, own_log, usual = _choose(window, log)
    kept = _check_buckets(usual if buckets is None else buckets)
    folder = _folder(data_folder(path))
    creators = _creators(folder)

    first = min(window.warmup_start, window.history[0])
    span = (window.warmup_start if own_log == "random" else first, window.test_end)
    exposures, tally = _exposures(folder, own_log, span, kept, creators)
    refuse_empty_parts(window, exposures["date"], "time_ms", "exposures")
    in_window = pl.col("date").is_between(window.warmup_start, window.test_end)
    events = tally.keep("in the window", exposures.filter(in_window))
    report = tally.report().with_columns(pl.lit(own_log).alias("log"))
    if own_log == "random":
        exposures, tally = _exposures(folder, "standard", window.history, kept, creators)
        tally.keep("in the history", exposures.filter(pl.col("date").is_between(*window.history)))
        report = report.vstack(tally.report().with_columns(pl.lit("standard").alias("log")))
    return Dataset(
        panel=_panel(events, exposures, window, HOUR_WAVES if by_hour else ()),
        window=window,
        report=report,
        thresholds={},
        summary_retention=SUMMARY_RETENTION,
    )


def _choose(window: str | Window, log: str | None) -> tuple[Window, str, Sequence[int]]:
    """The window's dates, its log and the buckets it usually keeps."""
    if log is not None and log not in PUBLISHED:
        raise InputError(f'log "{log}" is not known; choose standard or random.')
    if isinstance(window, Window):
        return window, log or "standard", (1,)
    if window not in KUAIRAND_WINDOWS:
        raise InputError(
            f'window "{window}" is not one of {", ".join(KUAIRAND_WINDOWS)}; choose one or hand '
            "over a dgd.datasets.Window."
        )
    own = "random" if window == "random" else "standard"
    if log not in (None, own):
        raise InputError(
            f'window "{window}" is a window of the {own} log; leave log out, or hand over a '
            "dgd.datasets.Window with your own dates."
        )
    return KUAIRAND_WINDOWS[window], own, range(32) if window == "late" else (1,)


def _check_buckets(buckets: Sequence[int]) -> list[int]:
    wrong = [bucket for bucket in buckets if bucket not in range(BUCKETS)]
    if wrong or not buckets:
        shown = f"names {wrong[0]}" if wrong else "is empty"
        raise InputError(f"buckets {shown}; name some of 0 to {BUCKETS - 1}.")
    return sorted(set(buckets))


def _folder(path: Path) -> Path:
    """The folder with the files, also inside a data folder or an unpacked archive."""
    inside = Path("KuaiRand-Pure") / "data"
    own = path / SOURCES["kuairand"].folder
    for folder in (own / inside, own, path / inside, path / "data", path):
        if any(folder.glob("log_*_pure*")) or any(folder.glob(f"{VIDEOS}.*")):
            return folder
    raise missing("kuairand", PUBLISHED["standard"][0], path)


@dataclass(frozen=True)
class LogFile:
    """A log file, the days of its `date` column, and the buckets it holds."""

    path: Path
    log: str
    first: date
    last: date
    buckets: range

    @staticmethod
    def named(path: Path) -> "LogFile | None":
        match = LOG_NAME.fullmatch(path.name)
        if match is None:
            return None
        log, *days, low, high = match.groups()
        first_month, first_day, last_month, last_day = map(int, days)
        try:
            first, last = date(YEAR, first_month, first_day), date(YEAR, last_month, last_day)
        except ValueError:
            return None
        return LogFile(
            path=path,
            log=log,
            first=first,
            last=last,
            buckets=range(BUCKETS) if low is None else range(int(low), int(high) + 1),
        )


def _log_files(
    folder: Path, log: str, span: tuple[date, date], buckets: Sequence[int]
) -> list[Path]:
    """Files that together hold every row of the days in `span`, none of them twice.

    Files are cut by the log's `date` column, which for some rows is one day
    later than the day in Shanghai: a day is complete only with the next one.
    """
    published = [LogFile.named(Path(name)) for name in PUBLISHED[log]]
    originals = [file for file in published if file is not None]
    begin, end = originals[0].first, originals[-1].last
    if span[0] < begin or span[1] > end:
        raise InputError(
            f"the {log} log of KuaiRand runs from {begin} to {end}, and the dates asked of it "
            f"from {span[0]} to {span[1]}; choose dates in that range."
        )
    found = [LogFile.named(path) for path in sorted(folder.iterdir(), reverse=True)]
    held = [f for f in found if f and f.log == log and set(buckets) <= set(f.buckets)]
    chosen: list[LogFile] = []
    for file in sorted(held, key=lambda f: len(f.buckets) * (f.last - f.first), reverse=True):
        if all(file.last < other.first or file.first > other.last for other in chosen):
            chosen.append(file)
    needed = min(span[1] + timedelta(days=1), end)
    for days in range((needed - span[0]).days + 1):
        day = span[0] + timedelta(days=days)
        if not any(file.first <= day <= file.last for file in chosen):
            name = next(f.path.name for f in originals if f.first <= day <= f.last)
            raise missing("kuairand", name, folder)
    useful = [f for f in chosen if f.first <= needed and f.last >= span[0]]
    return [file.path for file in sorted(useful, key=lambda f: f.first)]


def _numbers(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Whole-number columns of a CSV or Parquet file; anything else in them is refused."""
    csv = path.suffix == ".csv"
    try:
        scan = pl.scan_csv(path, infer_schema=False) if csv else pl.scan_parquet(path)
        schema = scan.collect_schema()
        checks.require_columns(schema.to_frame(), path.name, columns)
        whole = {
            column: _whole_of_float(column) if schema[column].is_float() else _whole(column)
            for column in columns
        }
        table = scan.select(**whole).collect()
        if table.height == 0:
            raise InputError(f"{path.name} has 0 rows; fetch it again.")
        for column in columns:
            low, high, fault = _limits(column)
            if not table[column].is_between(low, high).fill_null(False).all():
                raw = checks.number_rows(scan.select(column).collect())
                bad = ~whole[column].is_between(low, high).fill_null(False)
                checks.refuse(raw, path.name, column, bad, f"{fault}; fetch the file again.")
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{path.name} cannot be read ({error}); fetch it again.") from error
    return table


def _whole(column: str) -> pl.Expr:
    """The column as whole numbers, null where it holds anything else."""
    return pl.col(column).cast(pl.Int64, strict=False)


def _whole_of_float(column: str) -> pl.Expr:
    value = pl.col(column)
    return pl.when(value == value.floor()).then(value).cast(pl.Int64, strict=False)


def _limits(column: str) -> tuple[int, int, str]:
    """The least and greatest number a column may hold, and what is wrong with any other."""
    if column == "time_ms":
        return 0, LATEST_MS, "is not a time in milliseconds since 1970"
    if column in BEHAVIORS:
        return 0, 1, "is neither 0 nor 1"
    return -(2**63), 2**63 - 1, "is not a whole number"


def _creators(folder: Path) -> pl.DataFrame:
    """Which creator made each video of the candidate pool."""
    for suffix in (".parquet", ".csv"):
        file = folder / f"{VIDEOS}{suffix}"
        if file.is_file():
            videos = checks.number_rows(_numbers(file, ("video_id", "author_id")))
            checks.refuse_duplicates(videos, file.name, ["video_id"], "an author")
            return videos.drop(checks.ROW)
    raise missing("kuairand", f"{VIDEOS}.csv", folder)


def _exposures(
    folder: Path,
    log: str,
    span: tuple[date, date],
    buckets: Sequence[int],
    creators: pl.DataFrame,
) -> tuple[pl.DataFrame, Tally]:
    """Exposures on the recommendation page of the users in `buckets`, with date and creator."""
    tally = Tally("user_id", "users")
    files = _log_files(folder, log, span, buckets)
    rows = tally.keep("rows read", pl.concat(_numbers(file, COLUMNS) for file in files))
    rows = hash_buckets(rows, id="user_id", buckets=BUCKETS).assign(rows)
    rows = tally.keep("in the buckets", rows.filter(pl.col("bucket").is_in(buckets)))
    rows = tally.keep("tab 1", rows.filter(pl.col("tab") == RECOMMENDATION_PAGE))
    pool = rows.join(creators, on="video_id", how="inner", maintain_order="left")
    rows = tally.keep("video in the candidate pool", pool)
    moment = pl.from_epoch("time_ms", "ms").dt.replace_time_zone("UTC")
    local = moment.dt.convert_time_zone(TIME_ZONE)
    turn = local.dt.hour() * (math.tau / 24)
    waves = (turn.sin().alias(HOUR_WAVES[0]), turn.cos().alias(HOUR_WAVES[1]))
    dated = rows.rename(BEHAVIORS).with_columns(local.dt.date().alias("date"), *waves)
    return dated, tally


def _panel(
    events: pl.DataFrame, history: pl.DataFrame, window: Window, context: Sequence[str]
) -> Panel:
    cohorts = rate_cohorts(
        history, Clock("date"), person="user_id", behavior="click",
        start=window.history[0], end=window.history[1],
        reference_exposures=20, rate_groups=4, volume_groups=2, smoothing=1, newcomer_size=1,
    )  # fmt: skip
    units = top_units(
        events, Clock("date"), unit="author_id", n=CREATORS,
        start=window.warmup_start, end=window.warmup_end,
    )  # fmt: skip
    behaviors = list(BEHAVIORS.values())
    labelled = units.assign(cohorts.assign(events))
    keys = ["date", "unit", "cohort", *context, *behaviors]
    counts = labelled.group_by(keys).agg(pl.len().alias("count"))
    return Panel.from_counts(
        counts,
        behaviors=behaviors,
        context=context,
        sizes=cohorts.sizes,
        units=units.labels,
        cohorts=cohorts.labels,
        start=window.warmup_start,
        end=window.test_end,
    )
