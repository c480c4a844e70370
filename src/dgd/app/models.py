"""A model: what it was fitted to, what training found, and what it can be asked."""

from dataclasses import replace
from typing import Any
from urllib.parse import quote

from dgd.app.desk import Desk, Page, described, facts, sentences
from dgd.app.fields import Fields
from dgd.app.library import OpenModel
from dgd.choice.fit import ChoiceFit
from dgd.errors import InputError
from dgd.fit import Fit
from dgd.scenarios.future import Outlook
from dgd.tables.html import escaped

REPORT = "report"
NEXT = (
    ("forecast", "Forecast", "What is expected of the days ahead, with ranges."),
    ("scenarios", "Scenarios", "What more or less effort, or more people, would do."),
    ("plan", "Plan", "How a budget of effort is best spread."),
)
NEXT_OF_CHOICE = (("prices", "Prices", "What other prices would sell and earn."),)


def model_page(desk: Desk, known: str) -> Page:
    """What it is, the questions it answers, and its files."""
    model = desk.library.models.get(known)
    asked = NEXT_OF_CHOICE if isinstance(model.fit, ChoiceFit) else NEXT
    cards = "".join(
        f'<li><a href="{address}?id={quote(known)}"><strong>{title}</strong>'
        f"<span>{escaped(words)}</span></a></li>"
        for address, title, words in asked
    )
    body = (
        sentences(model.warnings, "warning")
        + f'<ul class="cards">{cards}</ul>'
        + '<div class="actions">'
        + f'<a class="button quiet" href="file?id={quote(known)}" download>Download the model</a>'
        + _report_form(model, known)
        + '</div><div id="report" class="answer"></div><h2>What was fitted</h2>'
        + facts(list(_told(model.fit).items()))
        + _estimated(model.fit)
        + "".join(desk.folded(title, table) for title, table in model.fit.tables().items())
    )
    return beside(model, known, "model", model.name, body, lead=described(model.fit.data))


def beside(model: OpenModel, known: str, here: str, title: str, body: str, lead: str = "") -> Page:
    """A page of a model, with the way to its other pages."""
    asked = NEXT_OF_CHOICE if isinstance(model.fit, ChoiceFit) else NEXT
    pages = [("model", "Model"), *((address, name) for address, name, _ in asked)]
    nav = [(f"{address}?id={quote(known)}", name) for address, name in pages]
    return Page(
        title,
        body,
        trail=[("./", "Start"), (f"model?id={quote(known)}", model.name)],
        lead=lead,
        nav=nav,
        here=f"{here}?id={quote(known)}",
    )


def fit_of(model: OpenModel) -> Fit:
    """The fit of counts, refused where the model is one of demand."""
    if not isinstance(model.fit, Fit):
        raise InputError("this is a model of choices, which answers about prices; open its prices.")
    return model.fit


def known_ahead(model: OpenModel, horizon: int) -> Fit:
    """The fit with effort and features for so many days ahead, as planned or repeated."""
    fit = fit_of(model)
    if not fit.panel.has_effort and not fit.panel.feature_names:
        return fit
    found: Fit | None = model.known.get(horizon)
    if found is None:
        found = replace(fit, panel=Outlook.of(fit, horizon).panel)
        model.known.clear()  # one at a time: each keeps its own draws of the past
        model.known[horizon] = found
    return found


def make_report(desk: Desk, known: str, _: Fields) -> str:
    """Make the report, which takes a while, and say where it is."""
    report_of(desk.library.models.get(known))
    return (
        f'<p>The report is ready: <a class="button" href="report?id={quote(known)}" download>'
        "Download the report</a></p>"
    )


def report_of(model: OpenModel) -> str:
    """The report of the fit as one page of HTML, made once."""
    make: Any = getattr(model.fit, "report", None)
    if make is None:
        raise InputError("this model has no report; look at its pages here instead.")
    if REPORT not in model.pages:
        model.pages[REPORT] = str(make().html)
    return model.pages[REPORT]


def _report_form(model: OpenModel, known: str) -> str:
    if not hasattr(model.fit, "report"):
        return ""
    return (
        f'<form method="post" action="make-report?id={quote(known)}" data-into="report">'
        '<button class="quiet" type="submit">Make a report</button></form>'
    )


def _estimated(fit: Any) -> str:
    """What was decided about people, and whether the search converged; of counts, nothing."""
    record = fit.record if isinstance(fit, ChoiceFit) else None
    return "" if record is None else sentences(record.sentences(fit.runs[0].reason), most=5)


def _told(fit: Any) -> dict[str, object]:
    """Facts in a line each; settings and what the page's first line says are elsewhere."""
    found = fit.facts()
    ranges = found.get("ranges", {})
    lists = {
        name.replace("behaviors", "behaviours").replace("_", " "): _listed(value)
        for name, value in found.items()
        if isinstance(value, tuple)
    }
    return {**lists, **ranges}


def _listed(labels: tuple[object, ...], most: int = 12) -> str:
    shown = ", ".join(map(str, labels[:most]))
    return f"{shown} and {len(labels) - most} more" if len(labels) > most else shown
