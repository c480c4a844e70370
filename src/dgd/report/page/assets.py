"""Scripts and styles of pages, as they lie beside this file."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "static"


@cache
def asset(name: str) -> str:
    """The text of one of them, like "draw.js"."""
    return (FOLDER / name).read_text("utf-8")
