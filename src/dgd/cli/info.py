"""`dgd info`: what is in a model file."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.console import out, print_json, show
from dgd.cli.options import AsJson


def info(
    model: Annotated[Path, typer.Argument(help="Model file that dgd wrote.")],
    as_json: AsJson = False,
) -> None:
    """Tell what a model was fitted on, how training went, and what it found.

    Example: dgd info model.dgd
    """
    import dgd

    fit = dgd.load(model)
    if as_json:
        print_json(fit.payload())
        return
    out.print(f"{fit.holds}: {fit.data}")
    for sentence in fit.sentences():
        out.print(sentence)
    for title, table in fit.tables().items():
        show(title, table)
