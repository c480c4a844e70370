"""Data and settings: what everything above was made of."""

import polars as pl

from dgd.report.charts.exploration import exploration_chart
from dgd.report.page.figures import figure, folded, scrolled
from dgd.report.page.findings import Findings
from dgd.report.page.parts import Section, paragraphs
from dgd.tables.showing import shown_value


def data_section(found: Findings) -> Section:
    fit = found.fit
    words = "Arrivals and rates day by day, and the band that chance alone would give them."
    body = (
        scrolled(named_values(found.exploration.facts), "Facts about the counts")
        + scrolled(named_values(fit.split.show(fit.panel)), "Which days were used for what")
        + figure("exploration-chart", exploration_chart(found.exploration), words)
        + paragraphs([found.exploration.verdict])
        + "<h3>The model</h3>"
        + "".join(folded(title, table) for title, table in fit.tables().items())
        + folded("Settings", named_values(fit.settings.as_dict()), most=None)
    )
    return Section("data", "Data and settings", body)


def named_values(facts: object) -> pl.DataFrame:
    """Facts as a table of names and values."""
    pairs = dict(facts)  # type: ignore[call-overload]
    return pl.DataFrame(
        {"fact": list(map(str, pairs)), "value": [shown_value(value) for value in pairs.values()]}
    )
