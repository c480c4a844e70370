"""`dgd demo`: the main job on the built-in simulator."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.console import out, print_json, ready_folder, show, training_progress


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the charts.")] = Path("demo-output"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
) -> None:
    """Draw a world with known truth, fit it, and compare.

    Example: dgd demo --output demo-output
    """
    import altair as alt

    from dgd.estimator import DGD
    from dgd.report import counts_chart, population_chart, save_chart
    from dgd.simulation.demonstration import SEEDS, demonstrate

    ready_folder(output)
    model = DGD()
    if not as_json:
        out.print("Drawing a crowd of three cohorts whose behaviour feeds back on itself ...")
    with training_progress(SEEDS, model.epochs, quiet=as_json) as tell:
        shown = demonstrate(model, tell)
    chart = alt.vconcat(population_chart(shown.fit), counts_chart(shown.fit)).resolve_scale(
        color="independent"
    )
    files = [output / "demo.html", output / "demo.png"]
    for file in files:
        save_chart(chart, file)
    if as_json:
        tables = {
            "recovery": shown.recovery.to_dicts(),
            "divergence": shown.divergence.to_dicts(),
            "forecasts": shown.forecasts.to_dicts(),
        }
        print_json({**tables, "files": [str(file) for file in files]})
        return
    out.print(f"{shown.drawn.panel}")
    show("Training", shown.fit.summary("polars"))
    show("Response probabilities on the test days: true and recovered", shown.recovery)
    show("Distance to the true joint probabilities on the test days", shown.divergence)
    show("Forecasts against what then happened", shown.forecasts)
    out.print(f"wrote {' and '.join(str(file) for file in files)}")
