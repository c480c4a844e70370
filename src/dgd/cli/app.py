"""The `dgd` command and its subcommands."""

from typing import Annotated

import typer

from dgd import __version__
from dgd.cli import choice, data
from dgd.cli.backtest import backtest
from dgd.cli.check import check
from dgd.cli.commands import EXIT_CODES, command
from dgd.cli.console import out
from dgd.cli.count import count
from dgd.cli.demo import demo
from dgd.cli.explore import explore
from dgd.cli.fit import fit
from dgd.cli.fit_many import fit_many
from dgd.cli.forecast import forecast
from dgd.cli.info import info
from dgd.cli.plan import plan
from dgd.cli.report import report
from dgd.cli.reproduce import reproduce
from dgd.cli.scenario import scenario
from dgd.cli.serve import serve
from dgd.cli.simulate import simulate

_EXITS = "\n\n".join(f"{code}: {meaning}" for code, meaning in EXIT_CODES.items())

app = typer.Typer(
    name="dgd",
    help="Learn collective dynamics from counts.\n\nExit codes:\n\n" + _EXITS,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _say_version(asked: bool) -> bool:
    if asked:
        out.print(f"dgd {__version__}", highlight=False)
        raise typer.Exit
    return asked


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Say which dgd this is.", callback=_say_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Options of `dgd` itself."""


for _function in (
    demo,
    simulate,
    count,
    explore,
    fit,
    fit_many,
    forecast,
    scenario,
    plan,
    report,
    serve,
    info,
    check,
    backtest,
    reproduce,
):
    app.command()(command(_function))

app.add_typer(choice.app)
app.add_typer(data.app)
