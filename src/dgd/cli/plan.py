"""`dgd plan`: how a budget of effort is best spread over the days ahead."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import polars as pl
import typer

from dgd.cli.console import four_figures, out, print_json, show, tell, working, wrote
from dgd.cli.options import AheadOptions, AsJson, ChartFolder, DrawSeed, TableFile
from dgd.cli.plan_inputs import TermOptions
from dgd.files.atomic import ready_folder
from dgd.tables.files import write_table

if TYPE_CHECKING:
    from dgd.scenarios.plans import Plan


def plan(
    asked: AheadOptions,
    given: TermOptions,
    horizon: Annotated[int, typer.Option(help="Days ahead.")],
    seed: DrawSeed = 0,
    output: TableFile = None,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Spread a budget of effort over dates, units and cohorts for the most of what is wanted.

    The plan is held against the same budget spread evenly and against the plan as it is now,
    which --effort gives; where it is not known, the last week is repeated.

    Example: dgd plan model.dgd --budget 1000 --objective buy=1,arrivals=0.1 --horizon 28
    """
    from dgd.learning.seeds import checked_seeds

    checked_seeds([seed])
    terms = given.read()
    asked.check_output(output, *given.files)
    folder = None if charts is None else ready_folder(charts)
    fit, known = asked.read()
    with working("looking for the best spread from several starts", quiet=as_json):
        found = fit.plan(**terms, horizon=horizon, **known, seed=seed)
        payload = found.payload()
        files = _drawn(found, folder)
    table = found.to_frame("polars")
    if output is not None:
        write_table(table, output)
    if as_json:
        print_json({**payload, "charts": files})
        return
    if output is None:
        show("Effort as planned, as it is now, and spread evenly", _efforts(table), most=60)
    _print(found)
    wrote(*([] if output is None else [output]), *files)


def _print(found: "Plan") -> None:
    show("What it brings", _side_by_side(found.summary("polars")))
    for sentence in found.rest or ("no day rests.",):
        out.print(sentence, soft_wrap=True)
    next_ones = found.learn_next("polars").drop("objective_in_doubt")
    show("What to vary next, the most useful first", next_ones, most=6)
    starts = found.starts("polars").drop("status").rename({"objective_at_start": "at start"})
    show("Starts of the solver", starts)
    tell(found.notes, found.warnings)


def _side_by_side(summary: pl.DataFrame) -> pl.DataFrame:
    """The three spreads as columns, for behaviours may be many."""
    measures = summary.drop("spread")
    spreads = summary["spread"].to_list()
    rows = [
        {"": name.replace("_", " ").replace(" percent", ", %")}
        | dict(zip(spreads, four_figures(measures[name])[0], strict=True))
        for name in measures.columns
    ]
    return pl.DataFrame(rows)


def _efforts(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(four_figures(*(table[name] for name in ("effort", "now", "even"))))


def _drawn(found: "Plan", folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from dgd.report.charts.files import save_charts
    from dgd.report.charts.plan import plan_chart

    return save_charts({"plan": plan_chart(found)}, folder)
