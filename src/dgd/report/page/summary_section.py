"""The summary: what a reader who stops after it should know."""

from dgd.report.page.accuracy_section import standing_sentences
from dgd.report.page.choices import before
from dgd.report.page.findings import Findings
from dgd.report.page.forecast_section import kpi_table
from dgd.report.page.parts import Section, bullets
from dgd.report.page.watch_section import watched
from dgd.report.page.words import counted, day, more_or_fewer, percent
from dgd.tables.plain_numbers import listed

MOST_COHORTS = 3
"""So many cohorts are told of here; the section on the crowd has them all."""


def summary_section(found: Findings) -> Section:
    """A handful of sentences and the figures that matter."""
    said = [*_counts(found), *_ahead(found), *_crowd(found), *_standing(found), *_watch(found)]
    return Section("summary", "In short", bullets(said, "summary") + kpi_table(found))


def _counts(found: Findings) -> list[str]:
    panel = found.fit.panel
    first, last = (day(moment, panel.period) for moment in panel.dates[[0, -1]])
    where = [
        f"{len(labels):,} {name}s"
        for name, labels in (("unit", panel.units), ("cohort", panel.cohorts))
        if len(labels) > 1
    ]
    of = f", in {listed(where)}" if where else ""
    return [f"From {first} to {last}, {panel.arrivals.sum():,} arrivals were counted{of}."]


def _ahead(found: Findings) -> list[str]:
    """What is expected of all units and cohorts together."""
    panel, forecast = found.fit.panel, found.forecast
    ahead = f"the {len(forecast.dates)} {found.days} after {day(forecast.origin, panel.period)}"
    arrivals, *behaviors = found.choices.totals.head(len(panel.series)).iter_rows(named=True)
    expected, earlier = arrivals["expected"], arrivals["before"]
    low, high = (arrivals.get(f"{end}_{found.level:g}") for end in ("low", "high"))
    ends = "" if low is None else f", in {found.level:g} of 100 cases {counted(low)} to "
    ends += "" if high is None or low is None else counted(high)
    said = f"In {ahead}, {counted(expected)} arrivals are expected{ends}"
    days = before(forecast)
    if days.stop - days.start == len(forecast.dates) and earlier > 0:
        said += f"; that is {more_or_fewer(expected, earlier)} in the {found.days} before"
    shares = [
        f"{percent(row['expected'] / expected)} {row['series']}"
        for row in behaviors
        if expected > 0
    ]
    return [f"{said}.", *([f"Of these arrivals, {listed(shares)}."] if shares else [])]


def _crowd(found: Findings) -> list[str]:
    return list(found.fit.crowd_in_words()[:MOST_COHORTS])


def _standing(found: Findings) -> list[str]:
    return standing_sentences(found)[:1]


def _watch(found: Findings) -> list[str]:
    number = len(watched(found))
    if not number:
        return ["Nothing was found that calls for caution beyond what the ranges say."]
    return [f"{number} {'thing' if number == 1 else 'things'} to watch: see below."]
