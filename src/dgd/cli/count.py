"""`dgd count`: event logs in, a table of counts out."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from glob import glob
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from dgd.cli.console import err, out, print_json, wrote
from dgd.cli.data_set import check_data_set_target
from dgd.cli.values import names
from dgd.counting.count_report import CountReport
from dgd.counting.events import count_events
from dgd.errors import InputError, OutputError, first_line
from dgd.tables.clock import Clock
from dgd.tables.files import check_table_target, write_table

SAMPLE_BYTES = 1 << 20


def count(
    logs: Annotated[list[str], typer.Argument(help="Event logs, .csv or .parquet; globs too.")],
    *,
    time: Annotated[str, typer.Option(help="Time column.")],
    behaviors: Annotated[str, typer.Option(help="0/1 columns, separated by commas.")],
    timezone: Annotated[str | None, typer.Option(help="Zone in which a day begins.")] = None,
    output: Annotated[
        Path, typer.Option(help="Counts to write, .csv or .parquet, or a folder for --partitions.")
    ] = Path("counts.csv"),
    partitions: Annotated[
        int | None, typer.Option(help="Parts of a data set, split by unit, to write instead.")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Unit column.")] = None,
    cohort: Annotated[str | None, typer.Option(help="Cohort column.")] = None,
    context: Annotated[
        str, typer.Option(help="Numeric columns that tell events apart, separated by commas.")
    ] = "",
    period: Annotated[str, typer.Option(help="hour, day or week.")] = "day",
    start: Annotated[str | None, typer.Option(help="First day to count.")] = None,
    end: Annotated[str | None, typer.Option(help="Last day to count.")] = None,
    missing: Annotated[str | None, typer.Option(help="Label for missing units, cohorts.")] = None,
    stored_in: Annotated[
        str | None, typer.Option(help="Zone of timestamps that name none: UTC, or --timezone.")
    ] = None,
    time_unit: Annotated[
        str | None, typer.Option(help="s, ms, us or ns, for numbers since 1970.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON summary.")] = False,
) -> None:
    """Count logs larger than memory per day, unit, cohort and behaviour pattern.

    Example: dgd count log/monday.parquet log/tuesday.parquet --time time_ms --time-unit ms
    --timezone Asia/Shanghai --unit author --cohort cohort --behaviors click,like
    --output counts.csv
    """
    clock = Clock(time, timezone, stored_in, time_unit)
    files = find_files(logs)
    if partitions is None:
        check_table_target(output, files)
    else:
        check_data_set_target(output, partitions, files)
    named, told_apart_by = names(behaviors), names(context)
    columns = (clock.column, unit, cohort, *told_apart_by, *named)
    wanted = list(dict.fromkeys(name for name in columns if name is not None))
    reports: list[CountReport] = []
    with counting_progress(files, quiet=as_json) as tell:
        try:
            counted = count_events(
                scan(files, wanted, tell),
                clock,
                behaviors=named,
                unit=unit,
                cohort=cohort,
                context=told_apart_by,
                period=period,
                start=start,
                end=end,
                missing=missing,
                report=reports.append,
                to=None if partitions is None else output,
                partitions=partitions,
            )
        except OutputError:
            raise
        except (pl.exceptions.PolarsError, OSError) as error:
            raise InputError(
                f'file "{files[0]}" and on cannot be read: {first_line(error)}.'
            ) from error
    if partitions is None:
        write_table(counted, output)
    rows = counted.height if partitions is None else counted.rows
    parts = {} if partitions is None else {"units": counted.units, "partitions": partitions}
    _summarise(reports[0], rows, parts, files, output, period, as_json)


def find_files(logs: Sequence[str]) -> list[Path]:
    """The files that names and globs stand for: all CSV or all Parquet."""
    found: list[Path] = []
    for log in logs:
        matches = [log] if Path(log).is_file() else sorted(glob(log, recursive=True))
        if not matches:
            raise InputError(f'"{log}" matches no file; check the path, and quote a glob.')
        found += [Path(match) for match in matches]
    endings = sorted({file.suffix for file in found})
    if endings not in ([".csv"], [".parquet"]):
        raise InputError(
            f"the logs end in {' and '.join(ending or 'nothing' for ending in endings)}; hand over "
            "either .csv or .parquet files."
        )
    return list(dict.fromkeys(found))


def scan(files: list[Path], wanted: Sequence[str], tell: Callable[[int], None]) -> pl.LazyFrame:
    """The wanted columns, lazily; `tell` hears of every batch of rows that passes.

    CSV columns are read as text: labels keep leading zeros, and what is not a time
    or not 0/1 is reported by its own words.
    """
    log = (
        pl.scan_parquet(files)
        if files[0].suffix == ".parquet"
        else pl.scan_csv(files, infer_schema=False)
    )
    try:
        schema = log.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f'file "{files[0]}" cannot be read: {first_line(error)}.') from error
    present = [name for name in dict.fromkeys(wanted) if name in schema]
    if len(present) < len(set(wanted)):
        return log  # count_events says which column is missing

    def passing(batch: pl.DataFrame) -> pl.DataFrame:
        tell(batch.height)
        return batch

    return log.select(present).map_batches(passing, streamable=True)


@contextmanager
def counting_progress(files: list[Path], quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar of rows read on standard error; yields what takes the rows of each batch."""
    if quiet:
        yield lambda _rows: None
        return
    columns = (
        TextColumn("counting"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} events"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err) as bars:
        task = bars.add_task("counting", total=expected_rows(files))
        yield lambda rows: bars.advance(task, rows)
        bars.update(task, total=bars.tasks[0].completed)


def expected_rows(files: list[Path]) -> float | None:
    """Rows by the Parquet footers, or guessed from the CSV files' sizes and first lines."""
    if files[0].suffix == ".parquet":
        try:
            return float(pl.scan_parquet(files).select(pl.len()).collect().item())
        except (pl.exceptions.PolarsError, OSError):
            return None
    with files[0].open("rb") as opened:
        sample = opened.read(SAMPLE_BYTES)
    lines = sample.count(b"\n")
    size = sum(file.stat().st_size for file in files)
    return size * lines / len(sample) if lines else None


def _summarise(
    report: CountReport,
    rows: int,
    parts: dict[str, int],
    files: list[Path],
    output: Path,
    period: str,
    as_json: bool,
) -> None:
    if as_json:
        print_json(
            {
                "output": str(output),
                "files": len(files),
                "patterns": rows,
                **parts,
                **asdict(report),
            }
        )
        return
    out.print(
        f"counted {report.counted:,} of {report.rows:,} events from {report.first} to "
        f"{report.last} in {len(files)} file{'s' if len(files) > 1 else ''}",
        highlight=False,
    )
    for events, why in (
        (report.before_start, "before --start, left out"),
        (report.after_end, "after --end, left out"),
        (
            report.unfinished,
            f"from {report.unfinished_from} on, a {period} that is not over, left out; name --end "
            "to keep them",
        ),
        (report.missing_unit, "without a unit, counted as --missing"),
        (report.missing_cohort, "without a cohort, counted as --missing"),
    ):
        if events:
            out.print(f"{events:,} events {why}", highlight=False)
    told = "".join(f", {number:,} {name}" for name, number in parts.items())
    out.print(f"{rows:,} rows{told}", highlight=False)
    wrote(output)
