"""Who is there: response types by what they do, then, for experts, their densities."""

from dataclasses import replace

from dgd.report.charts.population import density_chart
from dgd.report.charts.types import types_chart, types_table
from dgd.report.page.figures import figure
from dgd.report.page.findings import Findings
from dgd.report.page.parts import Section, bullets, paragraphs


def crowd_section(found: Findings) -> Section:
    fit = found.fit
    words = (
        "Every response type by its share of the cohort, its share of the contacts, and how often "
        "its people show each behaviour."
    )
    body = (
        paragraphs(
            [
                "Nobody was followed in person: these types are what fits the counts best, and "
                "they describe a crowd, not individuals."
            ]
        )
        + bullets(fit.crowd_in_words())
        + figure("types-chart", types_chart(fit), words, types_table(fit))
        + _densities(found)
    )
    return Section("crowd", "Who is there", body)


def _densities(found: Findings) -> str:
    if not found.fit.crowds[0].population.has_density:
        return ""
    words = (
        "For experts: the learned distribution of response propensities in every cohort, as it is "
        "and weighted by contact, its types and its nodes, as the seed that validates best has it."
    )
    best = [run for run in found.fit.runs if run.seed == found.fit.best_seed]
    chart = figure("density-chart", density_chart(replace(found.fit, runs=tuple(best))), words)
    return f"<h3>For experts: the distribution itself</h3>{chart}"
