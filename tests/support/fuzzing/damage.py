"""Bytes as a bad disk, a broken transfer or a careless editor leave them."""

from collections.abc import Callable

import numpy as np

from support.fuzzing.odd_values import any_of

Damage = Callable[[np.random.Generator, bytes], bytes]
PIECES = [b"\0", b"\xff", b'"', b",", b"\n", b"\r", b"\xef\xbb\xbf", b"\xc3\x28", b";", b"\t", b"'"]


def damaged(rng: np.random.Generator, content: bytes) -> tuple[str, bytes]:
    """What was done to the bytes, and what came of it."""
    done = []
    for _ in range(rng.integers(1, 4)):
        name = any_of(rng, list(DAMAGES))
        content = DAMAGES[name](rng, content)
        done.append(name)
    return ", ".join(done), content


def _at(rng: np.random.Generator, content: bytes) -> int:
    """A place in the bytes, more often near the beginning."""
    return int(len(content) * rng.random() ** any_of(rng, [1, 3]))


def _flipped(rng: np.random.Generator, content: bytes) -> bytes:
    changed = bytearray(content)
    if changed:
        changed[min(_at(rng, content), len(changed) - 1)] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _inserted(rng: np.random.Generator, content: bytes) -> bytes:
    at = _at(rng, content)
    return content[:at] + any_of(rng, [*PIECES, rng.bytes(5)]) + content[at:]


def _removed(rng: np.random.Generator, content: bytes) -> bytes:
    at = _at(rng, content)
    return content[:at] + content[at + int(rng.integers(1, 20)) :]


def _cut(rng: np.random.Generator, content: bytes) -> bytes:
    return content[: _at(rng, content)]


def _repeated(rng: np.random.Generator, content: bytes) -> bytes:
    at = _at(rng, content)
    return content[: at + int(rng.integers(1, 60))] + content[at:]


DAMAGES: dict[str, Damage] = {
    "flipped": _flipped,
    "inserted": _inserted,
    "removed": _removed,
    "cut": _cut,
    "repeated": _repeated,
}
