"""`dgd data`: the public data sets, fetched and kept in the user's data folder."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from dgd.cli.commands import command
from dgd.cli.console import err
from dgd.datasets import downloads, sources

app = typer.Typer(name="data", no_args_is_help=True)


class DatasetName(StrEnum):
    """The data sets that can be fetched, as the shell writes them."""

    ONLINE_RETAIL = "online-retail"
    KUAIRAND = "kuairand"


@app.callback()
def data() -> None:
    """Public data sets to try dgd on."""


@app.command("fetch")
@command
def fetch_data(
    name: Annotated[DatasetName, typer.Argument(help="The data set.")],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--data",
            envvar="DGD_DATA",
            help="Folder for the data sets; a copy already there is used as it is.",
        ),
    ] = None,
) -> None:
    """Download a public data set, check it, unpack it, and print its folder.

    Example: dgd data fetch online-retail
    """
    source = sources.SOURCES[name.value]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err) as bars:
        task = bars.add_task(source.title, total=None, visible=False)

        def tell(done: int, total: int | None) -> None:
            bars.update(task, completed=done, total=total, visible=True)

        target = downloads.fetch(source, sources.data_folder(folder), tell)
    typer.echo(target)
