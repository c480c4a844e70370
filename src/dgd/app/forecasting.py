"""Forecasts: how many, with which ranges, together or by unit and cohort."""

from urllib.parse import quote

import polars as pl

from dgd.app.controls import NONE, boxes, choice, folded, form, moment, number
from dgd.app.desk import Desk, Page, cards, listed, sentences
from dgd.app.fields import Fields
from dgd.app.models import beside, fit_of, known_ahead
from dgd.forecasting.calibration import checked_levels
from dgd.forecasting.forecast import Forecast
from dgd.forecasting.protocol import refuse_horizon
from dgd.report.charts.forecast import forecast_chart, forecast_table
from dgd.report.charts.forecast_parts import forecast_parts_chart, forecast_parts_table
from dgd.report.page.words import counted
from dgd.scenarios.future import Outlook

LEVELS = (50, 80, 95)
CHOSEN_LEVELS = (80,)
PATHS = 1000
"""Futures drawn for ranges on this page."""
PARTS = [NONE, ("unit", "by unit"), ("cohort", "by cohort")]
DAYS = {"hour": 48, "day": 14, "week": 8}
"""How far ahead the form looks at first."""


def forecast_page(desk: Desk, known: str) -> Page:
    """The form, which is answered at once."""
    model = desk.library.models.get(known)
    panel = fit_of(model).panel
    split = fit_of(model).split
    first, last = panel.dates[split.train_stop - 1], panel.dates[-1]
    series = list(enumerate(panel.series))
    inside = (
        '<div class="grid">'
        + number(f"How many {panel.period.name}s ahead", "horizon", DAYS[panel.period.name], low=1,
                 step=1)
        + choice("Shown apart", "by", [("", "all together"), *PARTS[1:]])
        + choice("Series, where shown apart", "series", series, 0)
        + "</div>"
        + boxes("Ranges", "levels", [(x, f"{x} %", x in CHOSEN_LEVELS) for x in LEVELS])
        + folded("From another day", moment("Last day whose counts are used", "origin", "",
                                            (first, last), "the last one counted"))
    )  # fmt: skip
    body = (
        '<div class="sides"><aside>'
        + form(
            f"forecast?id={quote(known)}", "answer", inside, "Forecast", live="yes", at_once="yes"
        )
        + '</aside><div id="answer" class="answer"></div></div>'
    )
    lead = "What is expected of the days ahead, and how sure one can be."
    return beside(model, known, "forecast", "Forecast", body, lead)


def answer_forecast(desk: Desk, known: str, fields: Fields) -> str:
    """Totals, the chart, the days as a table, and what the ranges rest on."""
    model = desk.library.models.get(known)
    fit = fit_of(model)
    horizon = fields.whole("horizon", f"How many {fit.panel.period.name}s ahead")
    refuse_horizon(fit.panel, horizon)
    levels = checked_levels(fields.wholes_of("levels", "Ranges"))
    by = fields.text("by")
    series = fields.one_of("series", "Series", fit.panel.series) or fit.panel.series[0]
    origin = fields.text("origin") or None
    notes = Outlook.of(fit, horizon, origin).notes
    ahead = known_ahead(model, horizon).forecast(
        horizon, origin=origin, levels=levels, paths=PATHS if levels else None
    )
    first, last = ahead.dates[0], ahead.dates[-1]
    kept = ["date", *([by] if by else []), "behavior"]
    table: pl.DataFrame = ahead.totals(kept, kind="polars")
    return (
        f"<h2>{first} to {last}</h2>"
        + cards(_totals(ahead))
        + _chart(desk, ahead, by, series)
        + desk.folded("Every day", table, "forecast")
        + sentences(notes)
        + listed("What the ranges rest on", ahead.promised(("date", "behavior")))
    )


def _chart(desk: Desk, ahead: Forecast, by: str, series: str) -> str:
    if by:
        return desk.charted(
            "forecast",
            forecast_parts_chart(ahead, by, series),
            f"{series} counted up to {ahead.origin} and expected after it, by {by}.",
            forecast_parts_table(ahead, by, series),
        )
    return desk.charted(
        "forecast",
        forecast_chart(ahead),
        f"Counts up to {ahead.origin}, then what is expected and the ranges around it.",
        forecast_table(ahead),
    )


def _totals(ahead: Forecast) -> list[tuple[str, str, str]]:
    """Every series over all days ahead: what it is, how many, and its narrowest range."""
    totals: pl.DataFrame = ahead.totals(["behavior"], kind="polars")
    levels = () if ahead.ranges is None else ahead.ranges.levels
    found = []
    for row in totals.iter_rows(named=True):
        words = "expected in all"
        if levels and row[f"low_{levels[0]:g}"] is not None:
            low, high = (counted(row[f"{end}_{levels[0]:g}"]) for end in ("low", "high"))
            words = f"{levels[0]:g} % range {low} to {high}"
        found.append((row["series"], counted(row["expected"]), words))
    return found
