"""`dgd info`: what is in a model file."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.console import out, print_json, show


def info(
    model: Annotated[Path, typer.Argument(help="Model file written by dgd fit.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Tell what a model was fitted on, how training went, and whom it found.

    Example: dgd info model.dgd
    """
    import dgd

    fit = dgd.load(model)
    ranges = fit.split.show(fit.panel)
    summary, people, factors = (
        fit.summary("polars"),
        fit.population("polars"),
        fit.dynamics("polars"),
    )
    if as_json:
        print_json(
            {
                "panel": repr(fit.panel),
                "units": fit.panel.units,
                "cohorts": fit.panel.cohorts,
                "behaviors": fit.panel.behaviors,
                "ranges": ranges,
                "settings": fit.settings.as_dict(),
                "training": summary.to_dicts(),
                "population": people.to_dicts(),
                "dynamics": factors.to_dicts(),
            }
        )
        return
    out.print(f"{fit.panel}")
    for name, dates in ranges.items():
        out.print(f"{name}: {dates}")
    show("Training", summary)
    show("Response types", people)
    show("Dynamics", factors)
