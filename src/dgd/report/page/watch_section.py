"""What to watch: whatever was found that a reader should know before relying on the numbers."""

import polars as pl

from dgd.report.charts.checks import check_chart, check_table
from dgd.report.page.figures import figure
from dgd.report.page.findings import Findings
from dgd.report.page.parts import Section, bullets, paragraphs


def watch_section(found: Findings) -> Section:
    said = watched(found)
    body = (
        bullets(said, "watch")
        if said
        else paragraphs(["Nothing was found that calls for caution beyond what the ranges say."])
    )
    words = "Every check of the numbers: what was found, over the most that it may be."
    body += "<h3>Checks of the numbers</h3>" + paragraphs([found.checkup.verdict])
    body += figure("check-chart", check_chart(found.checkup), words, check_table(found.checkup))
    return Section("watch", "What to watch", body)


def watched(found: Findings) -> list[str]:
    """A sentence for everything that calls for caution, each once."""
    said = [*_of_training(found), *_of_data(found), *_of_forecasts(found), *_of_checks(found)]
    return list(dict.fromkeys(said))


def _of_training(found: Findings) -> list[str]:
    diverged = found.fit.diverged
    if not diverged:
        return []
    return [
        f"Training diverged for seeds {', '.join(map(str, diverged))}; their best parameters so "
        "far are used."
    ]


def _of_data(found: Findings) -> list[str]:
    facts = found.exploration.facts
    said = []
    empty = facts.get(f"{found.days} without arrivals", 0)
    if empty:
        said.append(f"On {empty} {found.days} nothing arrived at all.")
    if facts["cells without arrivals"]:
        said.append(
            f"{facts['cells without arrivals']:,} of {facts['cells']:,} cells of unit and cohort "
            "never saw an arrival: what is said of them rests on their neighbours."
        )
    if found.exploration.verdict.startswith("Nothing"):
        said.append(f"{found.exploration.verdict} An average may serve as well.")
    return said


def _of_forecasts(found: Findings) -> list[str]:
    if found.forecast.ranges is None:
        return []
    receipts: pl.DataFrame = found.forecast.receipts(kind="polars")
    noted = receipts.filter(pl.col("note").fill_null("") != "")
    said = []
    for (level,), rows in noted.group_by("level", maintain_order=True):
        steps = rows["horizon"].unique().sort().to_list()
        ahead = ", ".join(map(str, steps))
        said.append(
            f"{level:g} % ranges {ahead} {found.days if steps != [1] else found.days[:-1]} ahead: "
            f"{rows['note'][0]}."
        )
    return said


def _of_checks(found: Findings) -> list[str]:
    said = []
    if not found.checkup.nodes.enough:
        said.append("The quadrature has too few nodes; fit again with more of them.")
    if not found.checkup.bounds_hold:
        said.append("Some numerical errors exceed their bounds; see the checks below.")
    warned = found.checkup.warnings
    for row in warned.unique(["warning", "where"], maintain_order=True).iter_rows(named=True):
        said.append(f"{row['warning']} ({row['where']}): {row['advice']}")
    return said
