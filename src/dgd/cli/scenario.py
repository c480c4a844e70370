"""`dgd scenario`: what a change of effort, sizes or features would do, and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from dgd.cli.console import four_figures, print_json, show, tell, working, wrote
from dgd.cli.options import AheadOptions, AsJson, ChartFolder, DrawSeed, Levels, TableFile
from dgd.cli.values import names, whole_numbers
from dgd.errors import InputError
from dgd.files.atomic import ready_folder
from dgd.tables.checks import read_values
from dgd.tables.files import read_table, write_table
from dgd.tables.refusing import ROW, number_rows, refuse_empty, require_columns

if TYPE_CHECKING:
    from dgd.panel.panel import Panel
    from dgd.scenarios.comparison import ScenarioComparison

CAUSES = ("contacts", "other people", "other answers", "fatigue")
"""The causes in short, in the order of `scenarios.causes.CAUSES`."""


def scenario(
    asked: AheadOptions,
    change: Annotated[Path, typer.Option(help="Changes: what, how, value, and for which cells.")],
    horizon: Annotated[int, typer.Option(help="Days ahead.")],
    levels: Levels = "80,95",
    paths: Annotated[int, typer.Option(help="Pairs of futures drawn for intervals.")] = 1000,
    seed: DrawSeed = 0,
    by: Annotated[str, typer.Option(help="Totals by unit, by cohort, or by unit,cohort.")] = "",
    output: TableFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Compare the days ahead as planned with the same days after a change.

    The table of changes has the columns what (effort, size or a feature), how (set, multiply or
    shift) and value, and where they matter date (or from and to), unit and cohort; an empty
    field means all. Written to --output are the days, or with --by the totals; there and in
    --json every level's ranges stand.

    Example: dgd scenario model.dgd --change changes.csv --horizon 28 --charts charts
    """
    from dgd.forecasting.calibration import checked_levels
    from dgd.learning.seeds import checked_seeds
    from dgd.scenarios.drawing import refuse_paths

    wanted, kept = checked_levels(whole_numbers(levels, "levels")), names(by)
    refuse_paths(paths)
    checked_seeds([seed])
    changes = _changes(change)
    asked.check_output(output, change)
    folder = None if charts is None else ready_folder(charts)
    fit, known = asked.read()
    _refuse_other_axes(kept, fit.panel)
    with working("comparing both futures", quiet=as_json):
        found = fit.scenario(
            changes,
            horizon,
            **known,
            levels=wanted,
            paths=paths if wanted else 0,
            seed=seed,
        )
        totals: pl.DataFrame = found.totals(kept, "polars")
        files = _drawn(found, folder)
    if output is not None:
        write_table(totals if kept else found.to_frame("polars"), output)
    if as_json:
        print_json({**found.payload(), "totals": totals.to_dicts(), "charts": files})
        return
    dates = found.outlook.dates
    show(f"Totals of {dates[0]} to {dates[-1]}", _shown(totals, found), most=60)
    show("The difference and its causes", _causes(found))
    tell(found.notes, found.warnings)
    wrote(*([] if output is None else [output]), *files)


def _changes(path: Path) -> pl.DataFrame:
    """The table of changes, refused where no fit could make them."""
    from dgd.scenarios.changes import Change

    table = number_rows(read_table(path))
    require_columns(table, "changes", ["what", "how", "value"])
    refuse_empty(table, "changes", "give at least one change")
    table = read_values(table, "changes", "value")
    for number, row in enumerate(table.select("what", "how", "value").iter_rows(), start=1):
        try:
            Change(*row)
        except InputError as refusal:
            raise InputError(f"changes row {number}: {refusal}") from refusal
    return table.drop(ROW)


def _refuse_other_axes(by: list[str], panel: "Panel") -> None:
    known = ("unit", "cohort", panel.columns.unit, panel.columns.cohort)
    strange = [name for name in by if name not in known]
    if strange:
        raise InputError(f'by names "{strange[0]}"; totals are by unit, by cohort or by both.')


def _shown(totals: pl.DataFrame, found: "ScenarioComparison") -> pl.DataFrame:
    """The totals as a person reads them, with the narrowest range of the difference."""
    before, more = totals["baseline"], totals["difference"]
    shares = [100 * b / a if a > 0 else None for a, b in zip(before, more, strict=True)]
    per_cent = ["" if share is None else f"{share:+,.1f}" for share in shares]
    planned, changed = four_figures(before, totals["changed"])
    columns = [
        planned.alias("planned"),
        changed,
        four_figures(more)[0].alias("change"),
        pl.Series("%", per_cent, pl.String),
    ]
    if found.drawn is not None:
        level = found.levels[0]
        ends = four_figures(*(totals[f"difference_{end}_{level:g}"] for end in ("low", "high")))
        both = [f"{low.strip()} to {high.strip()}" for low, high in zip(*ends, strict=True)]
        columns.append(pl.Series(f"{level:g} % range", both, pl.String))
    labels = totals.columns[: totals.columns.index("baseline")]
    return totals.select(labels).with_columns(columns)


def _causes(found: "ScenarioComparison") -> pl.DataFrame:
    """The split with headings that stand side by side."""
    split: pl.DataFrame = found.split("total", "polars")
    difference, *causes = four_figures(*split.drop("series"))
    named = [one.alias(heading) for one, heading in zip(causes, CAUSES, strict=True)]
    return split.select("series").with_columns(difference, *named)


def _drawn(found: "ScenarioComparison", folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from dgd.report.charts.files import save_charts
    from dgd.report.charts.scenario import scenario_chart

    return save_charts({"scenario": scenario_chart(found)}, folder)
