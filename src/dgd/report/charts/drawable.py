r"""Labels and numbers as a picture can show them.

SVG has no place for control characters, and the library that makes pictures ends the whole
process over one; Vega's expressions break at line separators. In a chart such a character is
written out, as in \x1b. Numbers that are not finite have no place on an axis, and JSON has no
word for them: they are left out. The tables behind the charts keep both.
"""

import math
import re
from typing import Any

NOT_DRAWABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls, but for tab and line ends
    "\u2028\u2029"  # line separators
    "\u202a-\u202e\u2066-\u2069"  # overrides of the direction of writing
    "\ud800-\udfff\ufffe\uffff]"  # no characters at all
)


def drawable(spec: Any) -> Any:
    """`spec`, in which every text and number can be drawn."""
    if isinstance(spec, str):
        return NOT_DRAWABLE.sub(_written_out, spec)
    if isinstance(spec, dict):
        return {drawable(key): drawable(value) for key, value in spec.items()}
    if isinstance(spec, list | tuple):
        return [drawable(part) for part in spec]
    return None if isinstance(spec, float) and not math.isfinite(spec) else spec


def _written_out(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
