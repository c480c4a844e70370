"""What dgd raises when it will not go on.

Every message is one sentence that names the table, row, column and value at
fault and says what to do about it. Rows are counted from 1, header excluded.
"""

from collections.abc import Sequence


class DGDError(Exception):
    """Anything dgd refuses on purpose; catching it never hides a bug."""


class InputError(DGDError, ValueError):
    """A table, a date or a setting that cannot be right."""


class ModelFileError(DGDError):
    """A model file that is truncated, foreign, or newer than this dgd."""


def few(labels: Sequence[object], most: int = 6) -> str:
    """The first labels, for a message, and how many more there are."""
    shown = ", ".join(map(str, labels[:most]))
    return f"{shown} and {len(labels) - most} more" if len(labels) > most else shown
