"""Scenarios: what a change would do, those that are kept, and all of these side by side."""

import secrets
from urllib.parse import quote

import polars as pl

from dgd.app.changing import changes_of, dates_ahead, knobs
from dgd.app.controls import folded, form, number, text
from dgd.app.desk import Desk, Page, cards, sentences
from dgd.app.fields import Fields
from dgd.app.forecasting import DAYS
from dgd.app.library import KeptScenario, OpenModel
from dgd.app.models import beside, fit_of
from dgd.errors import InputError
from dgd.forecasting.protocol import refuse_horizon
from dgd.report.charts.kept_scenarios import kept_scenarios_chart, kept_scenarios_table
from dgd.report.charts.scenario import scenario_chart, scenario_table
from dgd.report.page.words import counted
from dgd.scenarios.comparison import ScenarioComparison
from dgd.scenarios.future import Outlook
from dgd.tables.html import escaped
from dgd.tables.plain_numbers import sentence

PATHS = 400
"""Pairs of futures drawn for the ranges of a scenario that is kept."""
MOST_KEPT = 8
NOTHING_YET = '<p class="soft">Move a slider to see what it would do.</p>'


def scenarios_page(desk: Desk, known: str) -> Page:
    """Sliders, what they do, and what is kept."""
    model = desk.library.models.get(known)
    panel = fit_of(model).panel
    step = panel.period.name
    inside = (
        knobs(panel)
        + '<div class="grid">'
        + number(f"How many {step}s ahead", "horizon", DAYS[step], low=1, step=1)
        + "</div>"
        + folded("On some days only", f'<div class="grid">{dates_ahead(panel)}</div>')
        + text("Name, to keep it", "name", "", "like: twice the effort")
        + '<p><button type="submit" class="quiet" '
        f'formaction="keep?id={quote(known)}" data-into="kept">Keep this scenario</button></p>'
    )
    reset = '<p><button type="reset" class="link">Back to the plan</button></p>'
    body = (
        '<div class="sides"><aside>'
        + form(f"scenario?id={quote(known)}", "answer", inside + reset, "Show", live="yes",
               at_once="yes")
        + _without_effort(panel.has_effort)
        + f'</aside><div><div id="answer" class="answer">{NOTHING_YET}</div>'
        + f'<div id="kept" class="answer">{kept_part(desk, known, model)}</div></div></div>'
    )  # fmt: skip
    lead = "What would be different if effort, people or features were."
    return beside(model, known, "scenarios", "Scenarios", body, lead)


def answer_scenario(desk: Desk, known: str, fields: Fields) -> str:
    """What the sliders do, without ranges, so that the answer comes at once."""
    model = desk.library.models.get(known)
    found, words = _compared(model, fields, paths=0)
    if found is None:
        return NOTHING_YET
    return (
        f"<h2>{escaped(sentence(words))}</h2>"
        + cards(_totals(found))
        + desk.charted(
            "scenario",
            scenario_chart(found),
            "Days ahead as planned and changed, and beside them what the difference comes from.",
            scenario_table(found),
        )
        + desk.folded("Totals", found.totals(kind="polars"), "scenario totals")
        + desk.folded("Why", found.split("total", "polars"), "scenario causes")
        + sentences(found.warnings, "warning")
        + sentences(found.notes)
    )


def keep_scenario(desk: Desk, known: str, fields: Fields) -> str:
    """Compare with ranges, keep it under its name, and show all that are kept."""
    model = desk.library.models.get(known)
    found, words = _compared(model, fields, PATHS)
    if found is None:
        raise InputError("nothing is changed; move a slider before you keep the scenario.")
    name = fields.text("name") or words
    if name not in model.kept and len(model.kept) >= MOST_KEPT:
        raise InputError(f"{MOST_KEPT} scenarios are kept already; forget one of them first.")
    model.kept[name] = KeptScenario(secrets.token_hex(8), name, words, found)
    return kept_part(desk, known, model)


def forget_scenario(desk: Desk, known: str, fields: Fields) -> str:
    """Forget one that was kept, and show the others."""
    model = desk.library.models.get(known)
    for name, one in list(model.kept.items()):
        if one.mark == fields.text("kept"):
            model.kept.pop(name, None)
    return kept_part(desk, known, model)


def kept_part(desk: Desk, known: str, model: OpenModel) -> str:
    """What is kept, side by side."""
    if not model.kept:
        return ""
    kept = {one.name: one.comparison for one in list(model.kept.values())}
    table = kept_scenarios_table(kept)
    rows = "".join(_kept_row(known, one) for one in list(model.kept.values()))
    return (
        f'<h2>Kept scenarios</h2><ul class="kept">{rows}</ul>'
        + desk.charted(
            "kept",
            kept_scenarios_chart(kept),
            "By how many per cent every kept scenario moves every series; dark lines are 80 % "
            "ranges.",
            table,
        )
        + desk.shown("Side by side", _side_by_side(table), "scenarios side by side")
    )


def _kept_row(known: str, one: KeptScenario) -> str:
    words = one.words if one.words != one.name else ""
    return (
        f'<li><strong>{escaped(one.name)}</strong> <span class="soft">{escaped(words)}</span> '
        f'<form method="post" action="forget?id={quote(known)}" data-into="kept">'
        f'<input type="hidden" name="kept" value="{escaped(one.mark)}">'
        f'<button class="link" type="submit">Forget<span class="hidden"> {escaped(one.name)}'
        "</span></button></form></li>"
    )


def _compared(
    model: OpenModel, fields: Fields, paths: int
) -> tuple[ScenarioComparison | None, str]:
    fit = fit_of(model)
    horizon = fields.whole("horizon", f"How many {fit.panel.period.name}s ahead")
    refuse_horizon(fit.panel, horizon)
    changes, words = changes_of(fields, Outlook.of(fit, horizon))
    if not changes:
        return None, words
    levels = (80, 95) if paths else ()
    return fit.scenario(changes, horizon, levels=levels, paths=paths), words


def _totals(found: ScenarioComparison) -> list[tuple[str, str, str]]:
    totals: pl.DataFrame = found.totals(kind="polars")
    shown = []
    for row in totals.iter_rows(named=True):
        before, more = row["baseline"], row["difference"]
        share = f"{100 * more / before:+.1f} %" if before > 0 else f"{more:+,.1f}"
        shown.append(
            (row["series"], share, f"{counted(row['changed'])}, planned {counted(before)}")
        )
    return shown


def _side_by_side(table: pl.DataFrame) -> pl.DataFrame:
    """A row for each series, a column for each scenario, the plan of the first one before them."""
    names = table["scenario"].unique(maintain_order=True).to_list()
    own = [table.filter(pl.col("scenario") == name) for name in names]
    said = [
        [f"{counted(row['changed'])} ({row['percent'] or 0.0:+.1f} %)" for row in one.to_dicts()]
        for one in own
    ]
    columns = [pl.Series(name, texts) for name, texts in zip(names, said, strict=True)]
    planned = [counted(value) for value in own[0]["planned"]]
    first = [pl.Series("series", own[0]["series"].to_list()), pl.Series("as planned", planned)]
    return pl.DataFrame([*first, *_named_apart(columns)])


def _named_apart(columns: list[pl.Series]) -> list[pl.Series]:
    """A scenario may be called what another column is called."""
    taken = {"series", "as planned"}
    return [one.alias(f"{one.name} ") if one.name in taken else one for one in columns]


def _without_effort(known: bool) -> str:
    if known:
        return ""
    return sentences(
        ["The fit was made without a table of effort, so it knows nothing of effort; add one when "
         "you load the counts, and fit again."]
    )  # fmt: skip
