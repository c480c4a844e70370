"""Sliders and fields of a scenario, and the changes that they mean.

A slider stands at 100 % of what is planned. One for everybody and those of cohorts and units
multiply each other, as changes that are made one after the other do.
"""

from collections.abc import Sequence

import numpy as np

from dgd.app.controls import choice, folded, moment, number, slider
from dgd.app.fields import Fields
from dgd.panel.panel import Panel
from dgd.scenarios.changes import Change
from dgd.scenarios.future import Outlook
from dgd.tables.labels import Label

KNOBS = {"effort": "Effort", "size": "How many people there are"}
ENDS, STEP, AS_PLANNED = (0.0, 300.0), 5.0, 100.0
MOST_SLIDERS = 12
"""Of cohorts and of units; the others follow the slider for all."""
HOWS = [("", "as planned"), ("set", "set to"), ("multiply", "multiplied by"), ("shift", "moved by")]


def knobs(panel: Panel) -> str:
    """Sliders for what the fit knows, then features and dates."""
    parts = []
    for knob, label in KNOBS.items():
        if knob == "effort" and not panel.has_effort:
            continue
        everybody = slider("All together", f"{knob}.all", AS_PLANNED, ENDS, STEP, " %")
        own = "".join(
            folded(f"By {getattr(panel.columns, axis)}", _sliders(panel, knob, axis))
            for axis in ("cohort", "unit")
            if len(getattr(panel, f"{axis}s")) > 1
        )
        parts.append(f"<fieldset><legend>{label}</legend>{everybody}{own}</fieldset>")
    if panel.feature_names:
        rows = "".join(
            choice(name, f"feature.{at}.how", HOWS) + number("value", f"feature.{at}.value", "")
            for at, name in enumerate(panel.feature_names)
        )
        parts.append(folded("Features", f'<div class="grid">{rows}</div>'))
    return "".join(parts)


def dates_ahead(panel: Panel) -> str:
    """From when until when a change holds."""
    first = panel.period.range(panel.dates[-1], 2)[1]
    ends = (first, panel.period.range(first, 1000)[-1])
    return moment("From", "from", "", ends, "the first day ahead") + moment(
        "To", "to", "", ends, "the last day ahead"
    )


def changes_of(fields: Fields, outlook: Outlook) -> tuple[list[Change], str]:
    """The changes that were asked for, and the same in words."""
    panel = outlook.panel
    first, last = (str(outlook.dates[at]) for at in (0, -1))
    dates = (fields.text("from") or first, fields.text("to") or last)
    changes, words = [], []
    for knob, called in KNOBS.items():
        for axis, at, label in _cells(panel, knob):
            name = f"{knob}.{axis}" if at is None else f"{knob}.{axis}.{at}"
            if not fields.text(name):
                continue
            share = fields.number(name, f"{called}, {label}")
            if share == AS_PLANNED:
                continue
            cells = {} if at is None else {f"{axis}s": getattr(panel, f"{axis}s")[at]}
            changes.append(Change(knob, "multiply", share / 100, dates=dates, **cells))
            words.append(f"{knob} of {label} at {share:g} %")
    for at, feature in enumerate(panel.feature_names):
        how = fields.text(f"feature.{at}.how")
        if how:
            value = fields.number(f"feature.{at}.value", f"Value of {feature}")
            changes.append(Change(feature, how, value, dates=dates))
            words.append(f"{feature}: {how} {value:g}")
    whole = dates == (first, last)
    when = "" if whole or not words else f", {dates[0]} to {dates[1]}"
    return changes, "; ".join(words) + when


def _cells(panel: Panel, knob: str) -> list[tuple[str, int | None, str]]:
    """Everything that has a slider: its axis, its number on it, and its name."""
    if knob == "effort" and not panel.has_effort:
        return []
    found: list[tuple[str, int | None, str]] = [("all", None, "all")]
    for axis in ("cohort", "unit"):
        labels: Sequence[Label] = getattr(panel, f"{axis}s")
        if len(labels) > 1:
            found += [(axis, at, str(labels[at])) for at in _largest(panel, axis)]
    return found


def _sliders(panel: Panel, knob: str, axis: str) -> str:
    labels = getattr(panel, f"{axis}s")
    shown = _largest(panel, axis)
    left = len(labels) - len(shown)
    more = f'<p class="soft">{left} more with fewer arrivals follow the one for all.</p>'
    return "".join(
        slider(str(labels[at]), f"{knob}.{axis}.{at}", AS_PLANNED, ENDS, STEP, " %") for at in shown
    ) + (more if left else "")


def _largest(panel: Panel, axis: str) -> list[int]:
    """The numbers of the labels with the most arrivals, in the order of the panel."""
    others = (0, 2) if axis == "unit" else (0, 1)
    arrivals = panel.arrivals.sum(others)
    return sorted(np.argsort(-arrivals, kind="stable")[:MOST_SLIDERS].tolist())
