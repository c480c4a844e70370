"""`dgd scenario`: what a change of effort, sizes or features would do, and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from dgd.cli.console import print_json, say, show, working, wrote
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
    from dgd.scenarios.shown import told

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
    for title, table in found.shown(kept).items():
        show(title, table, most=60)
    say(told(found.notes, found.warnings))
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


def _drawn(found: "ScenarioComparison", folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from dgd.report.charts.files import save_charts
    from dgd.report.charts.scenario import scenario_chart

    return save_charts({"scenario": scenario_chart(found)}, folder)
