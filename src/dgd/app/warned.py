"""What the library warns of while one request is answered, in sentences for its page.

Python keeps one list of filters for all threads. So warnings are shown by a function of the
app for as long as it runs, which hands each to the request whose thread raised it.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_heard: ContextVar[list[str] | None] = ContextVar("heard", default=None)


@contextmanager
def listening() -> Iterator[None]:
    """Hand warnings to the requests that raise them, until the app ends."""
    with warnings.catch_warnings():
        before: Any = warnings.showwarning
        warnings.simplefilter("always", UserWarning)

        def show(message: Warning | str, category: type[Warning], *more: Any) -> None:
            told = _heard.get()
            if told is None or not issubclass(category, UserWarning):
                before(message, category, *more)
            else:
                told.append(str(message))

        warnings.showwarning = show  # type: ignore[assignment]
        yield


@contextmanager
def hearing() -> Iterator[list[str]]:
    """The warnings of this block, in the order they come."""
    told: list[str] = []
    token = _heard.set(told)
    try:
        yield told
    finally:
        _heard.reset(token)
