"""The report of a fit: what is coming, who is there, how they respond, and how far to trust it."""

from collections.abc import Sequence

from narwhals.typing import IntoFrame

from dgd.fit import Fit
from dgd.report.page.accuracy_section import accuracy_section
from dgd.report.page.crowd_section import crowd_section
from dgd.report.page.data_section import data_section
from dgd.report.page.document import Report, made_by
from dgd.report.page.feedback_section import feedback_section
from dgd.report.page.findings import Tell, found
from dgd.report.page.forecast_section import forecast_rows, forecast_section
from dgd.report.page.parts import rows_block
from dgd.report.page.response_section import response_section
from dgd.report.page.summary_section import summary_section
from dgd.report.page.watch_section import watch_section
from dgd.report.page.what_if_section import what_if_rows, what_if_section
from dgd.report.page.words import day
from dgd.tables.periods import Moment

SECTIONS = (
    summary_section,
    forecast_section,
    what_if_section,
    crowd_section,
    response_section,
    feedback_section,
    accuracy_section,
    watch_section,
    data_section,
)
AHEAD = {"hour": 48, "day": 28, "week": 8}
"""How far a report looks where nobody says."""


def crowd_report(
    fit: Fit,
    horizon: int | None = None,
    *,
    title: str | None = None,
    origin: Moment | None = None,
    effort: IntoFrame | None = None,
    features: IntoFrame | None = None,
    levels: Sequence[float] = (80, 95),
    seed: int = 0,
    tell: Tell | None = None,
) -> Report:
    """Everything about a fit on one page.

    Args:
        horizon: how many days are forecast; four weeks by default, or half as many days as were
            counted where these are few.
        title: the heading of the page.
        origin: the last day whose counts are used; the panel's last by default.
        effort, features: the plan for the days ahead; where there is none, the last week is
            repeated, and the page says so.
        levels: of the ranges, in per cent.
        seed: of the draws.
        tell: called with a few words before each step.
    """
    panel = fit.panel
    findings = found(
        fit,
        min(AHEAD[panel.period.name], panel.days // 2) if horizon is None else horizon,
        origin=origin,
        effort=effort,
        features=features,
        levels=levels,
        seed=seed,
        tell=tell or (lambda _: None),
    )
    blocks = {**forecast_rows(findings), **what_if_rows(findings)}
    first, last = (day(moment, panel.period) for moment in panel.dates[[0, -1]])
    return Report(
        title or "What the crowd does, and what it will do",
        f"Learned from counts of {first} to {last}; "
        f"forecast from {day(findings.forecast.origin, panel.period)} on.",
        tuple(section(findings) for section in SECTIONS),
        "\n".join(rows_block(name, table) for name, table in blocks.items()),
        made_by(),
    )
