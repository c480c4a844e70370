"""The parts of forms: every control has a label, a name and a value, and nothing unescaped."""

from collections.abc import Sequence

from dgd.tables.html import escaped

NONE = ("", "none")
"""An option for no column, no table."""


def field(label: str, control: str, hint: str = "") -> str:
    """A control under its label."""
    more = f'<span class="hint">{escaped(hint)}</span>' if hint else ""
    return f'<label class="field"><span>{escaped(label)}</span>{control}{more}</label>'


def choice(
    label: str,
    name: str,
    options: Sequence[tuple[object, object]],
    chosen: object = "",
    hint: str = "",
    more: str = "",
) -> str:
    """One of several (value, text)."""
    inside = "".join(
        f'<option value="{escaped(value)}"{" selected" if str(value) == str(chosen) else ""}>'
        f"{escaped(text)}</option>"
        for value, text in options
    )
    return field(label, f'<select name="{escaped(name)}"{more}>{inside}</select>', hint)


def number(
    label: str,
    name: str,
    value: object,
    *,
    low: float | None = None,
    high: float | None = None,
    step: object = "any",
    hint: str = "",
) -> str:
    """A number, empty where `value` is."""
    ends = "".join(
        f' {end}="{limit:g}"' for end, limit in (("min", low), ("max", high)) if limit is not None
    )
    return field(
        label,
        f'<input type="number" name="{escaped(name)}" value="{escaped(value)}" '
        f'step="{escaped(step)}"{ends}>',
        hint,
    )


def text(label: str, name: str, value: object = "", hint: str = "") -> str:
    return field(
        label,
        f'<input type="text" name="{escaped(name)}" value="{escaped(value)}" maxlength="200" '
        'autocomplete="off">',
        hint,
    )


def moment(
    label: str, name: str, value: object, ends: tuple[object, object], hint: str = ""
) -> str:
    """A date where dates are days, else text."""
    low, high = map(str, ends)
    if len(low) != len("2022-01-01"):
        return text(label, name, value, hint or f"{low} to {high}")
    return field(
        label,
        f'<input type="date" name="{escaped(name)}" value="{escaped(value)}" '
        f'min="{escaped(low)}" max="{escaped(high)}">',
        hint,
    )


def slider(
    label: str, name: str, value: float, ends: tuple[float, float], step: float, unit: str = ""
) -> str:
    """A slider whose value stands beside its label."""
    low, high = ends
    return (
        f'<label class="field slider"><span>{escaped(label)} '
        f'<output data-unit="{escaped(unit)}">{value:g}{escaped(unit)}</output></span>'
        f'<input type="range" name="{escaped(name)}" value="{value:g}" min="{low:g}" '
        f'max="{high:g}" step="{step:g}"></label>'
    )


def boxes(legend: str, name: str, options: Sequence[tuple[object, object, bool]]) -> str:
    """Boxes to tick: (value, text, whether it is ticked)."""
    inside = "".join(
        f'<label class="box"><input type="checkbox" name="{escaped(name)}" '
        f'value="{escaped(value)}"{" checked" if ticked else ""}> {escaped(said)}</label>'
        for value, said, ticked in options
    )
    return f"<fieldset><legend>{escaped(legend)}</legend>{inside}</fieldset>"


def form(action: str, into: str, inside: str, button: str, **marks: str) -> str:
    """A form that the script sends to `action`, and whose answer it puts into the element
    `into`; a mark `live="yes"` sends it whenever a control changes, `at_once` when it is shown."""
    marked = "".join(f' data-{name.replace("_", "-")}="{escaped(m)}"' for name, m in marks.items())
    return (
        f'<form method="post" action="{escaped(action)}" data-into="{escaped(into)}"{marked}>'
        f'{inside}<div class="actions"><button type="submit">{escaped(button)}</button></div>'
        "</form>"
    )


def folded(title: str, inside: str) -> str:
    """Controls that few need."""
    return f"<details><summary>{escaped(title)}</summary><div>{inside}</div></details>"
