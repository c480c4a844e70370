"""Scripts and styles of the app, and those that it shares with the report."""

from functools import cache
from pathlib import Path

from dgd.report.charts.page import drawing_library
from dgd.report.page.assets import asset

OWN = ("app.js", "app.css")
SHARED = ("draw.js", "page.css")
LIBRARY = "vega.js"
KINDS = {".js": "text/javascript", ".css": "text/css"}


def script_or_style(name: str) -> tuple[bytes, str] | None:
    """The content of one of them and its kind, or none of that name."""
    if name not in (*OWN, *SHARED, LIBRARY):
        return None
    return _content(name), KINDS[Path(name).suffix]


@cache
def _content(name: str) -> bytes:
    if name == LIBRARY:
        return drawing_library().encode()
    own = Path(__file__).parent / name
    return own.read_bytes() if name in OWN else asset(name).encode()
