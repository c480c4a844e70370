"""A terminal that a test looks at: standard error is a pseudo terminal for a while."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

SHOWN_CURSOR, HIDDEN_CURSOR = "\x1b[?25h", "\x1b[?25l"


class Screen:
    """Everything that the terminal was sent."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.sent = b""
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        """A terminal that nobody reads from makes its writers wait."""
        while True:
            try:
                part = os.read(self.handle, 65536)
            except OSError:  # the other end is closed
                return
            if not part:
                return
            self.sent += part

    @property
    def text(self) -> str:
        return self.sent.decode()


@contextmanager
def standard_error_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    """What is written to standard error in the block, once it is over."""
    reading, writing = os.openpty()
    screen = Screen(reading)
    with monkeypatch.context() as changed:
        changed.setenv("TERM", "xterm")
        changed.setenv("COLUMNS", "100")
        for name in ("NO_COLOR", "FORCE_COLOR"):
            changed.delenv(name, raising=False)
        try:
            with open(writing, "w", encoding="utf-8", buffering=1) as terminal:
                changed.setattr(sys, "stderr", terminal)
                yield screen
        finally:
            screen.reader.join(timeout=10)
            os.close(reading)
