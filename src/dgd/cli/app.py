"""The `dgd` command: its subcommands and how a failure leaves the shell."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from dgd.cli.console import EXIT_CODES, err
from dgd.cli.demo import demo
from dgd.cli.fit import fit
from dgd.cli.forecast import forecast
from dgd.cli.info import info
from dgd.cli.simulate import simulate
from dgd.errors import DGDError

Arguments = ParamSpec("Arguments")

_EXITS = "\n\n".join(f"{code}: {meaning}" for code, meaning in EXIT_CODES.items())

app = typer.Typer(
    name="dgd",
    help="Learn collective dynamics from counts.\n\nExit codes:\n\n" + _EXITS,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def leaving_cleanly(command: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Turn a deliberate refusal into one sentence and exit code 2, Ctrl-C into 130."""

    @wraps(command)
    def run(*arguments: Arguments.args, **options: Arguments.kwargs) -> None:
        try:
            command(*arguments, **options)
        except DGDError as error:
            err.print(f"dgd: {error}", highlight=False, markup=False, soft_wrap=True)
            raise typer.Exit(2) from error
        except KeyboardInterrupt as error:
            err.print("dgd: interrupted; no result was written.")
            raise typer.Exit(130) from error

    return run


for _command in (demo, simulate, fit, forecast, info):
    app.command()(leaving_cleanly(_command))


def main() -> None:
    app()
