"""A command that several processes do together: started by it, or by whoever starts processes."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from dgd.cli.console import err
from dgd.errors import InputError
from dgd.processes.membership import membership

if TYPE_CHECKING:
    from dgd.processes.group import Group

Processes = Annotated[
    int, typer.Option(help="Processes of this machine, each with its share of a data set.")
]


@contextmanager
def group_of(processes: int) -> "Iterator[Group]":
    """The group that this process is in; where it is to start one, it starts the same command so
    many times, waits for them, and ends as they did."""
    if processes < 1:
        raise InputError(f"processes is {processes}; start at least one.")
    if membership(os.environ) is None:
        if processes > 1:
            _start(processes)
        from dgd.processes.group import ALONE

        yield ALONE
        return
    from dgd.processes.joining import joined

    with joined() as group:
        yield group


def _start(processes: int) -> None:
    from dgd.processes.launching import launch

    ended = launch([sys.executable, "-m", "dgd", *sys.argv[1:]], processes)
    if ended.sentence:
        err.print(ended.sentence, soft_wrap=True, highlight=False)
    raise typer.Exit(ended.code)
