"""KuaiRand-Pure: seven kinds of feedback on recommended short videos, as daily counts.

Gao et al. 2022, CC BY-SA 4.0. Every exposure on the recommendation page is one
arrival. Users are cohorts fixed from earlier exposures; creators are units.
"""

import math
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import polars as pl

from dgd.counting.buckets import hash_buckets
from dgd.counting.rates import rate_cohorts
from dgd.counting.units import top_units
from dgd.datasets.dataset import Dataset
from dgd.datasets.kuairand_logs import BUCKETS, PUBLISHED, folder_of_logs, log_files
from dgd.datasets.kuairand_rows import BEHAVIORS, LOG_COLUMNS, read_creators, read_numbers
from dgd.datasets.sources import data_folder
from dgd.datasets.tallies import Tally
from dgd.datasets.windows import KUAIRAND_WINDOWS, Window, refuse_empty_parts, window_named
from dgd.errors import InputError
from dgd.panel.panel import Panel
from dgd.tables.clock import Clock

TIME_ZONE = "Asia/Shanghai"
RECOMMENDATION_PAGE = 1
HOUR_WAVES = ("hour sine", "hour cosine")
CREATORS = 4


def kuairand(
    path: str | Path | None = None,
    window: str | Window = "standard",
    buckets: Sequence[int] | None = None,
    log: str | None = None,
    by_hour: bool = False,
) -> Dataset:
    """The exposures of one window: nine cohorts, five units, seven behaviours.

    Eight cohorts cross four quantile groups of the smoothed click rate with two of the
    exposure volume in the history of the standard log; users unknown to it are
    "new". Every cohort's reference size has one smoothing unit. Units are the
    four creators with most exposures in the warm-up; all others are "rest".

    Args:
        path: A folder with the original CSV files or Parquet files of the same names;
            without it the folder DGD_DATA names, or the one `dgd data fetch kuairand` fills.
        window: The paper's "standard" or "random", the "late" window, or your own dates.
        buckets: Which of the 64 hash buckets of users to keep; bucket 1 as in the
            paper, and 0 to 31 for the late window.
        log: The log of a window of your own, "standard" unless you say "random".
        by_hour: Tell exposures of a day apart by their hour in Shanghai, for
            `DGD(supervision="events")`: the context columns are the hour's sine and cosine.

    Returns:
        The panel, its window, and a report of what each rule removed.

    Raises:
        InputError: A file is not there or not whole, or the choice of window, log or
            buckets leaves nothing to count.
    """
    window, own_log, usual = _choose(window, log)
    kept = _check_buckets(usual if buckets is None else buckets)
    folder = folder_of_logs(data_folder(path))
    creators = read_creators(folder)

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
        panel=_panel_of_exposures(events, exposures, window, HOUR_WAVES if by_hour else ()),
        window=window,
        report=report,
        thresholds={},
        summary_retention=0.5,
    )


def _choose(window: str | Window, log: str | None) -> tuple[Window, str, Sequence[int]]:
    """The window's dates, its log and the buckets it usually keeps."""
    if log is not None and log not in PUBLISHED:
        raise InputError(f'log "{log}" is not known; choose standard or random.')
    if isinstance(window, Window):
        return window, log or "standard", (1,)
    known = window_named(window, KUAIRAND_WINDOWS)
    own = "random" if window == "random" else "standard"
    if log not in (None, own):
        raise InputError(
            f'window "{window}" is a window of the {own} log; leave log out, or hand over a '
            "dgd.datasets.Window with your own dates."
        )
    return known, own, range(32) if window == "late" else (1,)


def _check_buckets(buckets: Sequence[int]) -> list[int]:
    wrong = [bucket for bucket in buckets if bucket not in range(BUCKETS)]
    if wrong or not buckets:
        shown = f"names {wrong[0]}" if wrong else "is empty"
        raise InputError(f"buckets {shown}; name some of 0 to {BUCKETS - 1}.")
    return sorted(set(buckets))


def _exposures(
    folder: Path,
    log: str,
    span: tuple[date, date],
    buckets: Sequence[int],
    creators: pl.DataFrame,
) -> tuple[pl.DataFrame, Tally]:
    """Exposures on the recommendation page of the users in `buckets`, with date and creator."""
    tally = Tally("user_id", "users")
    files = log_files(folder, log, span, buckets)
    rows = tally.keep("rows read", pl.concat(read_numbers(file, LOG_COLUMNS) for file in files))
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


def _panel_of_exposures(
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
        country="CN",
        start=window.warmup_start,
        end=window.test_end,
    )
