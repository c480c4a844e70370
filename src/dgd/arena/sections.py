"""Sections of the page of results: each is written by its own command, and none takes another away.

The paper's tables, the arena, what ranges cover and what was measured by hand stand on one page.
"""

import re


def with_section(text: str, section: str) -> str:
    """The page with `section` in the place of the one of the same title, or behind the rest."""
    parts, title = _parts(text), _title(section)
    if title in map(_title, parts):
        parts = [section if _title(part) == title else part for part in parts]
    else:
        parts.append(section)
    return _page(parts)


def with_others_of(before: str, text: str) -> str:
    """A page written anew, and behind it what the page `before` has in other sections."""
    parts = _parts(text)
    known = set(map(_title, parts))
    others = [part for part in _parts(before)[1:] if _title(part) not in known]
    return _page([*parts, *others])


def _parts(text: str) -> list[str]:
    """What stands before the first section, which may be nothing, and the sections."""
    return re.split(r"^(?=## )", text, flags=re.MULTILINE)


def _title(part: str) -> str:
    return part.partition("\n")[0].rstrip()


def _page(parts: list[str]) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"
