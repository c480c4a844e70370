"""How much more than the bare engine does counting cost?

Writes a log of generated events in Parquet and counts it twice, each run in a process
of its own: once with `dgd.count_events`, once with the same group-by written by hand
in Polars. The bare query finds the day as dgd does (milliseconds since 1970 to a UTC
timestamp, converted to Asia/Shanghai, date taken), groups by day, unit, cohort and
the seven behaviour columns, and takes the number of rows of each group, on the same
streaming engine. It checks nothing; dgd refuses unreadable times, missing labels and
behaviours that are neither 0 nor 1, and sorts the table it returns.

    python benchmarks/counting.py --events 100_000_000 --directory /somewhere/with/room

Targets: peak memory under 2 GB, no more than 1.5 times the time of the bare group-by.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import polars as pl

from dgd.counting import count_events
from dgd.tables.clock import Clock

BEHAVIORS = ["click", "like", "follow", "comment", "forward", "profile", "long_view"]
RATES = [0.4, 0.02, 0.005, 0.003, 0.002, 0.03, 0.25]
UNITS = ["creator 1", "creator 2", "creator 3", "creator 4", "rest"]
COHORTS = [f"rate {r} volume {v}" for r in (1, 2, 3, 4) for v in (1, 2)] + ["new"]
ZONE = "Asia/Shanghai"
FIRST_MS, DAYS = 1_649_347_200_000, 31
ROWS_PER_FILE = 5_000_000
MEMORY_LIMIT_GB, TIME_LIMIT = 2.0, 1.5


def generate(directory: Path, events: int) -> None:
    """Write `events` rows, a file at a time, times in no order within the month."""
    rng = np.random.default_rng(20260915)
    for number, first in enumerate(range(0, events, ROWS_PER_FILE)):
        rows = min(ROWS_PER_FILE, events - first)
        uniform = rng.random((len(BEHAVIORS), rows), dtype=np.float32)
        pl.DataFrame(
            {
                "time_ms": FIRST_MS + rng.integers(0, DAYS * 86_400_000, rows),
                "unit": pl.Series(UNITS)[rng.integers(0, len(UNITS), rows)],
                "cohort": pl.Series(COHORTS)[rng.integers(0, len(COHORTS), rows)],
                **{b: (uniform[h] < RATES[h]).astype(np.int8) for h, b in enumerate(BEHAVIORS)},
            }
        ).write_parquet(directory / f"events-{number:05}.parquet", compression="zstd")


def count_bare(pattern: str) -> pl.DataFrame:
    instant = pl.col("time_ms").cast(pl.Datetime("ms", "UTC"))
    day = instant.dt.convert_time_zone(ZONE).dt.date().alias("date")
    log = pl.scan_parquet(pattern)
    grouped = log.group_by(day, "unit", "cohort", *BEHAVIORS).agg(pl.len().alias("count"))
    return grouped.collect(engine="streaming")


def count_dgd(pattern: str) -> pl.DataFrame:
    table: pl.DataFrame = count_events(
        pl.scan_parquet(pattern),
        Clock("time_ms", timezone=ZONE, time_unit="ms"),
        unit="unit",
        cohort="cohort",
        behaviors=BEHAVIORS,
    )
    return table


QUERIES = {"bare": count_bare, "dgd": count_dgd}


def run_here(query: str, pattern: str) -> None:
    """Run one query in this process and print its time, memory and a digest of its table."""
    began, worked = time.perf_counter(), time.process_time()
    table = QUERIES[query](pattern)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - worked
    keys = ["date", "unit", "cohort", *BEHAVIORS]
    digest = int(table.select([*keys, pl.col("count").cast(pl.Int64)]).with_columns(
        pl.col(BEHAVIORS).cast(pl.Int64)
    ).sort(keys).hash_rows().sum())  # fmt: skip
    print(
        json.dumps(
            {
                "seconds": seconds,
                "cpu_seconds": cpu_seconds,
                "peak_gb": peak_gb(),
                "groups": table.height,
                "events": int(table["count"].sum()),
                "digest": digest,
            }
        )
    )


def peak_gb() -> float:
    """The most memory this process ever held.

    On Linux from /proc: `ru_maxrss` also remembers the process that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 1024**2
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**3


def run_apart(query: str, pattern: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--query", query, "--directory", pattern]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def compare(directory: Path, repeats: int) -> dict[str, Any]:
    """Run both queries in turn; the median run of each counts, and its largest memory.

    Every run is kept: on a shared machine the spread says how far to trust the ratio.
    CPU seconds suffer less from neighbours than the clock does.
    """
    pattern = str(directory / "events-*.parquet")
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in QUERIES}
    for _ in range(repeats):
        for name in QUERIES:
            runs[name].append(run_apart(name, pattern))
    if runs["bare"][0]["digest"] != runs["dgd"][0]["digest"]:
        raise SystemExit("the two tables differ")
    typical = {name: median(run["seconds"] for run in those) for name, those in runs.items()}
    cpu = {name: median(run["cpu_seconds"] for run in those) for name, those in runs.items()}
    peak = {name: max(run["peak_gb"] for run in those) for name, those in runs.items()}
    return {
        "events": runs["dgd"][0]["events"],
        "groups": runs["dgd"][0]["groups"],
        "seconds": typical,
        "cpu_seconds": cpu,
        "peak_gb": peak,
        "ratio": typical["dgd"] / typical["bare"],
        "cpu_ratio": cpu["dgd"] / cpu["bare"],
        "within_limits": typical["dgd"] <= TIME_LIMIT * typical["bare"]
        and peak["dgd"] < MEMORY_LIMIT_GB,
        "runs": runs,
    }


def show(result: dict[str, Any]) -> None:
    print(f"{result['events']:,} events, {result['groups']:,} groups")
    print(f"{'':6}{'seconds':>10}{'CPU s':>10}{'peak GB':>10}   seconds of every run")
    for name in QUERIES:
        spread = ", ".join(f"{run['seconds']:.1f}" for run in result["runs"][name])
        middle = (result[measure][name] for measure in ("seconds", "cpu_seconds", "peak_gb"))
        print(f"{name:6}" + "".join(f"{value:>10.2f}" for value in middle) + f"   {spread}")
    print(
        f"ratio of medians {result['ratio']:.2f} (limit {TIME_LIMIT}), "
        f"of CPU seconds {result['cpu_ratio']:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--events", type=int, default=100_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--directory", help="where the log is written, and removed afterwards")
    parser.add_argument("--json", type=Path, help="write the measurements here")
    parser.add_argument("--query", choices=list(QUERIES), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.query:
        run_here(arguments.query, arguments.directory)
        return
    if arguments.directory is not None:
        Path(arguments.directory).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.directory) as folder:
        began = time.perf_counter()
        generate(Path(folder), arguments.events)
        print(f"generated in {time.perf_counter() - began:.0f} s", file=sys.stderr)
        result = compare(Path(folder), arguments.repeats)
    show(result)
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
