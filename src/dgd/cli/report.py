"""`dgd report`: a model file in, one page out that opens anywhere."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dgd.cli.console import err, print_json, working, wrote
from dgd.cli.options import AsJson, DrawSeed, Levels
from dgd.cli.values import whole_numbers
from dgd.errors import InputError
from dgd.files.atomic import check_target
from dgd.tables.files import read_optional

if TYPE_CHECKING:
    from dgd.report.page.document import Report


def report(
    model: Annotated[Path, typer.Argument(help="Model file that dgd fit or dgd choice fit wrote.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Page to write, .html.")] = Path(
        "report.html"
    ),
    horizon: Annotated[int | None, typer.Option(help="Days ahead; four weeks by default.")] = None,
    origin: Annotated[str | None, typer.Option(help="Last date whose counts are used.")] = None,
    effort: Annotated[Path | None, typer.Option(help="Effort of the days ahead.")] = None,
    features: Annotated[Path | None, typer.Option(help="Features, likewise.")] = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    levels: Levels = "80,95",
    seed: DrawSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Write one page about a model: what is coming, who is there, and how far to trust it.

    The page holds everything it needs and opens offline, on a phone, and on paper. A report of
    a choice model has demand, elasticities and prices instead of days ahead.

    Example: dgd report model.dgd -o report.html
    """
    from dgd.report.page.document import check_page_ending

    check_page_ending(output)
    check_target(output, [model, effort, features])
    asked = {
        "horizon": horizon,
        "origin": origin,
        "effort": read_optional(effort),
        "features": read_optional(features),
        "levels": whole_numbers(levels, "levels"),
        "seed": seed,
    }
    page = _made(model, title, asked, as_json)
    page.save(output)
    if as_json:
        print_json({"report": str(output), "title": page.title, "bytes": output.stat().st_size})
        return
    wrote(output)


def _made(model: Path, title: str | None, asked: dict[str, Any], quiet: bool) -> "Report":
    from dgd.fit import Fit
    from dgd.storage import load

    fit = load(model)
    given = [
        name for name in ("horizon", "origin", "effort", "features") if asked[name] is not None
    ]
    if not isinstance(fit, Fit):
        if given:
            raise InputError(
                f"{given[0]} is of days ahead, and {model} holds a {fit.holds}; leave it out."
            )
        asked = {}

    def tell(step: str) -> None:
        if not quiet:
            err.print(f"{step} ...")

    with working("writing the report", quiet=quiet):
        found: Report = fit.report(title=title, tell=tell, **asked)
    return found
