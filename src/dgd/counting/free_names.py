"""Names for what dgd adds to a user's tables and databases, which nobody else can have."""

from collections.abc import Collection
from uuid import uuid4


def free_name(what: str, taken: Collection[str] = ()) -> str:
    """A name for `what`, drawn anew at every call and not among those `taken`."""
    while (name := f"__dgd_{what}_{uuid4().hex}") in taken:
        pass
    return name
