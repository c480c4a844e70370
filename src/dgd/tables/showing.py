"""Numbers and labels as people read them, in a terminal, on a page and in a notebook."""

import re

ESCAPE_SEQUENCE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]")
"""Colours and movements of the cursor; of other sequences the control characters go."""
LINE_END = re.compile("[\t-\r\x85\u2028\u2029]+")
CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # what a terminal obeys
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what turns the direction of writing
    "\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"  # what is not seen
)
HALF_CHARACTER = re.compile("[\ud800-\udfff]")
"""What the name of a file may hold and no terminal or page can be sent."""


def one_line(text: object) -> str:
    """`text` in one line, without control characters: labels and messages come from outside."""
    shown = LINE_END.sub(" ", ESCAPE_SEQUENCE.sub("", str(text)))
    return HALF_CHARACTER.sub("\ufffd", CONTROL.sub("", shown))


def shown_value(value: object) -> str:
    """A cell of a table; one that is missing stays empty."""
    if isinstance(value, float):
        return shown_number(value)
    return "" if value is None else str(value)


def shown_number(value: float) -> str:
    """Four decimals, or as many figures where four decimals would hide them."""
    size = abs(value)
    if 0 < size < 1e-4:
        return f"{value:.2e}"
    if 0 < size < 0.01:
        return f"{value:.4g}"
    return f"{value:,.4f}" if size < 10 else f"{value:,.2f}"
