"""What dgd raises when it will not go on.

Every message is one sentence that names the table, row, column and value at
fault and says what to do about it. Rows are counted from 1, header excluded.
"""

from collections.abc import Sequence

LONGEST_WORD = 1000
"""How much of a name without spaces a message repeats; no path that can be opened is cut."""


class DGDError(Exception):
    """Anything dgd refuses on purpose; catching it never hides a bug."""

    def __str__(self) -> str:
        return " ".join(_shown(word) for word in super().__str__().split(" "))


class InputError(DGDError, ValueError):
    """A table, a date or a setting that cannot be right."""


class OutputError(DGDError, OSError):
    """A result that could not be written where it was wanted."""


class ModelFileError(DGDError):
    """A model file that is truncated, foreign, or newer than this dgd."""


def _shown(word: str) -> str:
    """`word` in one line that any terminal can show, whatever a user's table has in it."""
    short = (
        word
        if len(word) <= LONGEST_WORD
        else f"{word[: LONGEST_WORD - 10]}\N{HORIZONTAL ELLIPSIS}{word[-10:]}"
    )
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in short)


def few(labels: Sequence[object], most: int = 6) -> str:
    """The first labels, for a message, and how many more there are."""
    shown = ", ".join(map(str, labels[:most]))
    return f"{shown} and {len(labels) - most} more" if len(labels) > most else shown


def first_line(error: BaseException) -> str:
    """What somebody else's error says, in one line without the final point, never a page."""
    said = str(error).strip() or type(error).__name__
    return said.splitlines()[0].rstrip(".")[:200]
