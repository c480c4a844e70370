"""Plans: how a budget of effort is best spread over the days ahead."""

from typing import Any
from urllib.parse import quote

import polars as pl

from dgd.app.controls import choice, folded, form, number
from dgd.app.desk import Desk, Page, sentences
from dgd.app.fields import Fields
from dgd.app.forecasting import DAYS
from dgd.app.models import beside, fit_of
from dgd.errors import InputError
from dgd.fit import Fit
from dgd.forecasting.protocol import refuse_horizon
from dgd.report.charts.plan import plan_chart, plan_table
from dgd.report.page.words import counted
from dgd.scenarios.future import Outlook
from dgd.scenarios.plans import Plan
from dgd.tables.html import escaped
from dgd.tables.plain_numbers import sentence

QUANTILES = [
    ("", "what is expected"),
    ("0.2", "the cautious (0.2)"),
    ("0.1", "the very cautious (0.1)"),
]
SPREADS = {"planned": "this plan", "even": "spread evenly", "now": "as it is now"}


def plan_page(desk: Desk, known: str) -> Page:
    """The terms of a plan, or why there is none."""
    model = desk.library.models.get(known)
    fit = fit_of(model)
    lead = "How a budget of effort is best spread over days, units and cohorts."
    if not fit.panel.has_effort:
        body = sentences(
            ["The fit was made without a table of effort, and only effort can be planned; add one "
             "when you load the counts, and fit again."]
        )  # fmt: skip
        return beside(model, known, "plan", "Plan", body, lead)
    body = (
        '<div class="sides"><aside>'
        + form(f"plan?id={quote(known)}", "answer", _terms(fit), "Find the best spread")
        + '</aside><div id="answer" class="answer"><p class="soft">Say what you may spend and what '
        "you want; finding the best spread may take a minute.</p></div></div>"
    )
    return beside(model, known, "plan", "Plan", body, lead)


def answer_plan(desk: Desk, known: str, fields: Fields) -> str:
    """The plan beside the even spread and the plan as it is now."""
    fit = fit_of(desk.library.models.get(known))
    found = fit.plan(**_asked(fit, fields))
    table: pl.DataFrame = found.to_frame("polars")
    return (
        f"<h2>{found.outlook.dates[0]} to {found.outlook.dates[-1]}</h2>"
        + f'<p class="verdict">{escaped(_verdict(found))}</p>'
        + "".join(f"<p>{escaped(sentence(one))}</p>" for one in found.rest or ("No day rests.",))
        + desk.charted(
            "plan",
            plan_chart(found),
            "Effort of every day by unit and cohort; the dark line is the same budget spread "
            "evenly.",
            plan_table(found),
        )
        + desk.shown("What it brings", _side_by_side(found.summary("polars")), "what a plan brings")
        + desk.folded("Effort of every day", table, "plan")
        + desk.folded("What to vary next, the most useful first", found.learn_next("polars"))
        + desk.folded("Starts of the solver", found.starts("polars"))
        + sentences(found.warnings, "warning")
        + sentences(found.notes)
    )


def _terms(fit: Fit) -> str:
    panel = fit.panel
    step = panel.period.name
    horizon = DAYS[step]
    budget = float(Outlook.of(fit, horizon).planned.effort.sum())
    weights = "".join(
        number(name, f"worth.{at}", 0 if at == 0 else 1) for at, name in enumerate(panel.series)
    )
    more = (
        number("Least effort of a cell", "low", "", low=0, hint="0")
        + number("Most effort of a cell", "high", "", low=0, hint="twice what training saw")
        + number(f"Most effort a {step}", "per_day", "", low=0)
        + number("Most effort of a unit", "per_unit", "", low=0)
        + number(f"{step.capitalize()}s after it that count too", "after", "", low=0, step=1)
        + number("First spreads tried", "starts", 8, low=1, step=1)
    )
    return (
        '<div class="grid">'
        + number("Budget of effort", "budget", f"{budget:.6g}", low=0)
        + number(f"How many {step}s ahead", "horizon", horizon, low=1, step=1)
        + choice("Plan for", "quantile", QUANTILES)
        + "</div>"
        + f"<fieldset><legend>What one more of each is worth</legend>"
        f'<div class="grid">{weights}</div></fieldset>'
        + folded("Bounds and limits", f'<div class="grid">{more}</div>')
    )


def _asked(fit: Fit, fields: Fields) -> dict[str, Any]:
    """The terms as arguments of a plan."""
    panel = fit.panel
    horizon = fields.whole("horizon", f"How many {panel.period.name}s ahead")
    refuse_horizon(panel, horizon)
    worth = {
        name: fields.number(f"worth.{at}", f"Worth of {name}")
        for at, name in enumerate(panel.series)
        if fields.text(f"worth.{at}")
    }
    objective = {name: value for name, value in worth.items() if value}
    if not objective:
        raise InputError("everything is worth 0; say what one more of something is worth.")
    low = fields.optional_number("low", "Least effort of a cell")
    high = fields.optional_number("high", "Most effort of a cell")
    if high is None and low is not None:
        raise InputError("Least effort of a cell is given without the most; give both.")
    return {
        "budget": fields.number("budget", "Budget of effort"),
        "objective": objective,
        "horizon": horizon,
        "bounds": None if high is None else (low or 0.0, high),
        "per_day": fields.optional_number("per_day", "Most effort a day"),
        "per_unit": fields.optional_number("per_unit", "Most effort of a unit"),
        "quantile": fields.optional_number("quantile", "Plan for"),
        "after": fields.optional_whole("after", "Days after it that count too"),
        "starts": fields.whole("starts", "First spreads tried"),
    }


def _verdict(found: Plan) -> str:
    """What the plan is ahead by."""
    rows = {row["spread"]: row for row in found.summary("polars").to_dicts()}
    parts = [
        f"{rows[name]['planned_is_ahead_percent']:+.1f} % against {words}"
        for name, words in (("even", "the same budget spread evenly"), ("now", "the plan as it is"))
        if rows[name]["planned_is_ahead_percent"] is not None
    ]
    spent = f"{counted(rows['planned']['effort'])} of {counted(found.spending.budget)} spent"
    return f"{spent}: {', '.join(parts)}." if parts else f"{spent}."


def _side_by_side(summary: pl.DataFrame) -> pl.DataFrame:
    """The three spreads as columns, for behaviours may be many."""
    spreads = summary["spread"].to_list()
    rows = [
        {"": name.replace("_", " ").replace(" percent", ", %")}
        | {
            SPREADS[spread]: "" if value is None else counted(value)
            for spread, value in zip(spreads, summary[name], strict=True)
        }
        for name in summary.columns
        if name != "spread"
    ]
    return pl.DataFrame(rows)
