"""`dgd explore`: what a table holds, and whether dynamics could beat an average on it."""

from pathlib import Path
from typing import TYPE_CHECKING

from dgd.cli.console import out, print_json, show, wrote
from dgd.cli.options import AsJson, ChartFolder, PanelOptions
from dgd.files.atomic import ready_folder
from dgd.tables.showing import shown_value

if TYPE_CHECKING:
    from dgd.panel.exploration.exploring import Exploration


def explore(
    table: PanelOptions,
    charts: ChartFolder = None,
    as_json: AsJson = False,
) -> None:
    """Tell what a table holds and whether dynamics could beat an average on it.

    Nothing is fitted: every series is held against its weekday means and against what chance
    alone would make of them.

    Example: dgd explore world/counts.csv --behaviors click,like,share --charts charts
    """
    folder = None if charts is None else ready_folder(charts)
    panel = table.read()
    found = panel.explore()
    files = _drawn(found, folder)
    if as_json:
        print_json({**found.payload(), "charts": files})
        return
    for name, value in found.facts.items():
        out.print(f"{name}: {shown_value(value)}")
    for title, shown in found.shown().items():
        show(title, shown)
    for sentence in found.sentences():
        out.print(sentence)
    wrote(*files)


def _drawn(found: "Exploration", folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from dgd.report.charts.exploration import exploration_chart
    from dgd.report.charts.files import save_charts

    return save_charts({"exploration": exploration_chart(found)}, folder)
