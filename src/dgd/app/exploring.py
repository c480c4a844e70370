"""What a table holds and whether dynamics could beat an average on it, and the form of a fit."""

from urllib.parse import quote

import polars as pl

from dgd.app.controls import choice, folded, moment, number, text
from dgd.app.desk import Desk, Page, described, facts, sentences
from dgd.app.library import Reading
from dgd.panel.panel import Panel
from dgd.report.charts.exploration import exploration_chart, exploration_table
from dgd.tables.html import escaped
from dgd.tables.showing import shown_value

PRESETS = [("default", "dgd's own"), ("paper", "the paper's")]
SHOWN = {
    "series": "series",
    "mean": "mean",
    "variance_ratio": "variance over chance",
    "autocorrelation": "yesterday tells",
    "chance_band": "chance alone",
}
"""The columns a person sees; the download has all of them."""
VALIDATION, TEST = 0.2, 0.12
"""Of the days, about so many validate and are left over; a person may say otherwise."""
PROGRESS = """
<section id="progress" class="progress" hidden aria-label="The fit under way">
<h3>Fitting <span class="soft" data-elapsed></span></h3>
<div data-seeds></div>
<div class="actions"><button type="button" class="quiet" data-stop>Stop</button></div>
</section>
"""


def data_page(desk: Desk, known: str) -> Page:
    """Facts, a sentence for every series, a chart, and what to do next."""
    reading = desk.library.readings.get(known)
    found = reading.exploration
    rows: pl.DataFrame = found.to_frame("polars")
    told = "".join(
        f"<li><strong>{escaped(series)}</strong>: {escaped(verdict)}</li>"
        for series, verdict in rows.select("series", "verdict").iter_rows()
    )
    body = (
        f'<section class="card"><p class="verdict">{escaped(found.verdict)}</p>'
        + facts([(name, _shown(value)) for name, value in found.facts.items()])
        + f'</section><section class="card"><h2>What the days show</h2><ul class="told">{told}</ul>'
        + desk.charted(
            "exploration",
            exploration_chart(found),
            "Arrivals and rates day by day, over the band that chance alone would give.",
            exploration_table(found),
        )
        + desk.folded("Every series in numbers", rows.select(*SHOWN).rename(SHOWN), "series")
        + "</section><h2>Fit it</h2>"
        + sentences(["Training learns from the first days and is judged on the validation days; "
                     "what comes after is never looked at."], "soft")
        + _form(reading, known)
        + PROGRESS
        + '<div id="answer" class="answer"></div>'
    )  # fmt: skip
    return Page(reading.name, body, trail=[("./", "Start")], lead=described(reading.panel))


def _shown(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else shown_value(value)


def _form(reading: Reading, known: str) -> str:
    panel = reading.panel
    ends = (panel.dates[0], panel.dates[-1])
    train, validation = _likely_ends(panel)
    more = (
        moment("Last warm-up day", "warmup_end", "", ends, "none: the training days set baselines")
        + choice("Settings", "preset", PRESETS, "default")
        + number("Most epochs", "epochs", "", low=1, step=1, hint="as the settings say")
        + number("Types of people a cohort", "components", "", low=1, step=1)
        + number("Nodes a type", "nodes", "", low=1, step=1)
    )
    return (
        f'<form method="post" action="fit?id={quote(known)}" data-fit="progress" '
        f'data-into="answer"><div class="grid">'
        + moment("Last training day", "train_end", train, ends)
        + moment("Last validation day", "validation_end", validation, ends)
        + text("Seeds", "seeds", "1,2,3", "one parameter set each")
        + "</div>"
        + folded("More settings", f'<div class="grid">{more}</div>')
        + '<div class="actions"><button type="submit">Fit</button></div></form>'
    )


def _likely_ends(panel: Panel) -> tuple[object, object]:
    """The last training and validation day: about two thirds, a fifth, and the rest to test."""
    days = panel.days
    validation = max(1, min(days - 1, days - 1 - round(TEST * days)))
    train = max(0, min(validation - 1, validation - round(VALIDATION * days)))
    return panel.dates[train], panel.dates[validation]
