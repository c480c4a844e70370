"""`dgd demo`: the main job on the built-in simulator."""

from pathlib import Path
from typing import Annotated

import typer

from dgd.cli.console import out, print_json, show, training_progress, working, wrote
from dgd.cli.options import AsJson
from dgd.files.atomic import ready_folder


def demo(
    output: Annotated[Path, typer.Option(help="Folder for charts and report.")] = Path(
        "demo-output"
    ),
    as_json: AsJson = False,
) -> None:
    """Draw a world with known truth, fit it, compare, and write a report of it.

    Example: dgd demo --output demo-output
    """
    import altair as alt

    from dgd.estimator import DGD
    from dgd.report.charts.counts import counts_chart
    from dgd.report.charts.files import save_charts
    from dgd.report.charts.types import types_chart
    from dgd.simulation.demonstration import SEEDS, demonstrate

    ready_folder(output)
    model = DGD()
    if not as_json:
        out.print("Drawing a crowd of three cohorts whose behaviour feeds back on itself ...")
    with training_progress(SEEDS, model.epochs, quiet=as_json) as tell:
        shown = demonstrate(model, tell)
    chart = alt.vconcat(types_chart(shown.fit), counts_chart(shown.fit)).resolve_scale(
        color="independent"
    )
    files = save_charts({"demo": chart}, output)
    page = output / "report.html"
    with working("writing the report", quiet=as_json):
        shown.fit.report(title="A crowd whose truth is known").save(page)
    if as_json:
        print_json({**shown.payload(), "charts": files, "report": str(page)})
        return
    out.print(f"{shown.drawn.panel}")
    for title, table in shown.tables().items():
        show(title, table)
    wrote(*files, page)
    out.print(f"The report is one page: open {page} in a browser.", soft_wrap=True)
