"""`dgd explore`: what a table holds, and whether dynamics could beat an average on it."""

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from dgd.cli.console import out, print_json, show, wrote
from dgd.cli.options import AsJson, PanelOptions
from dgd.tables.showing import shown_value

SHOWN = {
    "series": "series",
    "mean": "mean",
    "variance_ratio": "ratio",
    "cell_variance_ratio": "cell ratio",
    "autocorrelation": "lag 1",
    "cell_autocorrelation": "cell lag 1",
    "chance_band": "band",
}
"""The columns a person sees; --json gives all of them."""


def explore(
    table: PanelOptions,
    chart: Annotated[Path | None, typer.Option(help="Chart to write, .html, .png or .svg.")] = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a table holds and whether dynamics could beat an average on it.

    Nothing is fitted: every series is held against its weekday means and against what chance
    alone would make of them.

    Example: dgd explore world/counts.csv --behaviors click,like,share --chart explore.html
    """
    if chart is not None:
        from dgd.report.charts.files import check_chart_target

        check_chart_target(chart, table.files)
    panel = table.read()
    found = panel.explore()
    if chart is not None:
        from dgd.report.charts.exploration import exploration_chart
        from dgd.report.charts.files import save_chart

        save_chart(exploration_chart(found), chart)
    if as_json:
        print_json(found.payload())
        return
    for name, value in found.facts.items():
        out.print(f"{name}: {shown_value(value)}")
    rows: pl.DataFrame = found.to_frame("polars")
    needed = f"{panel.period.name}s_needed"
    columns = {**SHOWN, needed: "needed"}
    show(
        "Variance over what chance gives, and lag-1 autocorrelation",
        rows.select(*columns).rename(columns),
    )
    for series, verdict in rows.select("series", "verdict").iter_rows():
        out.print(f"{series}: {verdict}")
    out.print(found.verdict)
    if chart is not None:
        wrote(chart)
