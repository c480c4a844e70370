"""`dgd report`: a model file in, one page out that opens anywhere."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dgd.cli.console import err, print_json, working, wrote
from dgd.cli.options import AheadOptions, AsJson, DrawSeed, Levels
from dgd.cli.values import whole_numbers
from dgd.errors import InputError
from dgd.files.atomic import check_target

if TYPE_CHECKING:
    from dgd.report.page.document import Report


def report(
    asked: AheadOptions,
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write, .html.")] = Path(
        "report.html"
    ),
    horizon: Annotated[int | None, typer.Option(help="Days ahead; four weeks by default.")] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    levels: Levels = "80,95",
    seed: DrawSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Write one page about a model: what is coming, who is there, and how far to trust it.

    The page holds everything it needs and opens offline, on a phone and on paper. A report of
    a choice model has demand, elasticities and prices instead of days ahead.

    Example: dgd report model.dgd -o report.html
    """
    from dgd.forecasting.calibration import checked_levels
    from dgd.learning.seeds import checked_seeds
    from dgd.report.page.document import check_page_ending

    check_page_ending(output)
    check_target(output, asked.files)
    wanted = checked_levels(whole_numbers(levels, "levels"))
    drawn = {"horizon": horizon, "levels": wanted, "seed": checked_seeds([seed])[0]}

    def tell(step: str) -> None:
        if not as_json:
            err.print(f"{step} ...")

    with working("reading the model", quiet=as_json):
        page = _made(asked, drawn, {"title": title, "tell": tell})
    page.save(output)
    if as_json:
        print_json({"report": str(output), "title": page.title, "bytes": output.stat().st_size})
        return
    wrote(output)


def _made(asked: AheadOptions, drawn: dict[str, Any], told: dict[str, Any]) -> "Report":
    """The page of whatever fit the file holds."""
    from dgd.fit import Fit
    from dgd.storage import load

    fit = load(asked.model)
    if isinstance(fit, Fit):
        fit, known = asked.read()
        crowd: Report = fit.report(**drawn, **known, **told)
        return crowd
    days = {**asdict(asked), "horizon": drawn["horizon"]}
    given = [name for name, value in days.items() if value is not None and name != "model"]
    if given:
        raise InputError(
            f'{given[0]} is about days ahead, and "{asked.model}" holds a {fit.holds}; leave it '
            "out."
        )
    demand: Report = fit.report(**told)
    return demand
