"""`dgd serve`: the app, a local page for tables, fits, forecasts, scenarios and plans."""

import importlib.util
import os
from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.console import err, out
from dgd.errors import InputError

NEEDED = ("starlette", "uvicorn")


def serve(
    file: Annotated[
        Path | None, typer.Argument(help="A table or a model of this folder to begin with.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port of 127.0.0.1; 0 for any that is free.")] = 0,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
    upload_limit: Annotated[int, typer.Option(help="Largest upload, in megabytes.")] = 256,
) -> None:
    """Open a page on this machine to load, explore, fit, forecast and plan.

    Only this machine can reach it, and only by the address that is printed. It reads the tables
    and models of the folder it is started in and what is dropped on the page; Ctrl-C ends it.

    Example: dgd serve model.dgd
    """
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(
            f"the app needs {missing[0]}, which is not installed; install it with "
            "pip install 'differentiable-gaussian-dynamics[app]'."
        )
    from dgd.app.serving import open_browser
    from dgd.app.serving import serve as run

    def ready(address: str, scratch: Path) -> None:
        out.print(f"dgd is open at {address} (Ctrl-C ends it)", soft_wrap=True)
        out.file.flush()
        if open_page:
            open_browser(address, scratch)

    run(file, port, upload_limit, ready)
    err.file.flush()
    out.file.flush()
    # Threads may still compile for a page that is gone, and Python cannot be shut down meanwhile.
    os._exit(0)
