"""Which files of KuaiRand-Pure hold the days asked for, each day once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from dgd.datasets.sources import SOURCES, missing_file
from dgd.errors import InputError

BUCKETS = 64
"""Into how many hash buckets users fall; a log file may hold some of them only."""
YEAR = 2022
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


def folder_of_logs(path: Path) -> Path:
    """The folder with the files, also inside a data folder or an unpacked archive."""
    inside = Path("KuaiRand-Pure") / "data"
    own = path / SOURCES["kuairand"].folder
    for folder in (own / inside, own, path / inside, path / "data", path):
        if any(folder.glob("log_*_pure*")) or any(folder.glob(f"{VIDEOS}.*")):
            return folder
    raise missing_file("kuairand", PUBLISHED["standard"][0], path)


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
        """What the file's name says it holds; `None` if it is not the name of a log."""
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


def log_files(
    folder: Path, log: str, span: tuple[date, date], buckets: Sequence[int]
) -> list[Path]:
    """Files that together hold every row of the days in `span`, none of them twice.

    Files are cut by the log's `date` column, which for some rows is one day
    later than the day in Shanghai: a day is complete only with the next one.

    Args:
        folder: The folder with the files.
        log: "standard" or "random".
        span: First and last day wanted, in Shanghai.
        buckets: The buckets of users wanted.

    Returns:
        The files, the earliest days first.

    Raises:
        InputError: The log does not reach that far, or a file is not there.
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
            raise missing_file("kuairand", name, folder)
    useful = [f for f in chosen if f.first <= needed and f.last >= span[0]]
    return [file.path for file in sorted(useful, key=lambda f: f.first)]
