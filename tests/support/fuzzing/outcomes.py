"""How a mutated case ends: it works, it is refused in a sentence, or something is wrong."""

import re
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import dgd

WORKS, REFUSED, WRONG = "works", "refused", "wrong"
LONGEST_MESSAGE = 5000


class Case(NamedTuple):
    """One mutation, ready to be tried."""

    what: str
    """The mutation in words."""
    attempt: Callable[[], object]
    """Asserts that what comes out makes sense."""


class Outcome(NamedTuple):
    how: str
    why: str = ""


def outcome_of(case: Case, seconds: float) -> Outcome:
    """What became of `case`; more than `seconds` is wrong, where there is a limit."""
    try:
        with alarm(seconds):
            case.attempt()
    except dgd.DGDError as error:
        fault = fault_of(str(error))
        return Outcome(WRONG, f"{fault}: {error!r}"[:600]) if fault else Outcome(REFUSED)
    except BaseException:  # Polars panics outside of Exception
        return Outcome(WRONG, traceback.format_exc(limit=-6)[-1500:])
    return Outcome(WORKS)


def fault_of(message: str) -> str:
    """What is wrong with the message of a refusal."""
    if "\n" in message.strip():
        return "more than a line"
    if not re.search(r"[.?]$", message):
        return "no sentence"
    if len(message) > LONGEST_MESSAGE:
        return "too long to be read"
    return ""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise within the block after so many seconds; 0 waits for ever."""

    def ring(*_: object) -> None:
        raise TimeoutError(f"still at it after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
