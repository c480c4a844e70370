"""`dgd plan`: how a budget of effort is best spread over the days ahead."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dgd.cli.console import print_json, say, show, working, wrote
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
    from dgd.scenarios.shown import shown_efforts

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
        efforts = shown_efforts(table)
        show("Effort as planned, as it is now, and spread evenly", efforts, most=60)
    _print(found)
    wrote(*([] if output is None else [output]), *files)


def _print(found: "Plan") -> None:
    from dgd.scenarios.shown import shown_spreads, told

    show("What it brings", shown_spreads(found.summary("polars")))
    say(found.rest or ("no day rests.",))
    next_ones = found.learn_next("polars").drop("objective_in_doubt")
    show("What to vary next, the most useful first", next_ones, most=6)
    starts = found.starts("polars").drop("status").rename({"objective_at_start": "at start"})
    show("Starts of the solver", starts)
    say(told(found.notes, found.warnings))


def _drawn(found: "Plan", folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from dgd.report.charts.files import save_charts
    from dgd.report.charts.plan import plan_chart

    return save_charts({"plan": plan_chart(found)}, folder)
