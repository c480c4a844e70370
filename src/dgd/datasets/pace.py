"""How slowly a transfer may go on before it counts as stuck."""

from collections.abc import Callable
from time import monotonic

LEAST_BYTES = 1 << 16
WINDOW_SECONDS = 60.0


class Pace:
    """Raises `TimeoutError` where fewer than `LEAST_BYTES` came in `WINDOW_SECONDS`."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.now = now
        self.since = now()
        self.bytes = 0

    def arrived(self, count: int) -> None:
        """Tell of bytes that have just arrived."""
        self.bytes += count
        passed = self.now() - self.since
        if self.bytes >= LEAST_BYTES:
            self.since, self.bytes = self.now(), 0
        elif passed > WINDOW_SECONDS:
            raise TimeoutError(f"only {self.bytes:,} bytes arrived in {passed:.0f} seconds")
