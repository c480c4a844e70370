"""What feeds back: memory, fatigue, shifts of response and the arrival environment over time."""

from dgd.report.charts.feedback import feedback_chart, feedback_table
from dgd.report.page.figures import figure
from dgd.report.page.findings import Findings
from dgd.report.page.parts import Section, bullets, paragraphs


def feedback_section(found: Findings) -> Section:
    fit = found.fit
    if feedback_table(fit).is_empty():
        body = paragraphs(["This model carries nothing from day to day (dynamics is none)."])
        return Section("feedback", "What feeds back", body)
    words = "What the crowd carries from day to day, as the counts have moved it."
    chart = figure("feedback-chart", feedback_chart(fit), words, feedback_table(fit))
    return Section("feedback", "What feeds back", bullets(fit.feedback_in_words()) + chart)
