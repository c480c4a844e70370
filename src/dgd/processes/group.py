"""Several processes as one: who this one is, and sums that all of them share.

Every process calls the same methods in the same order, from one thread, with arrays of the same
shape: a process that leaves one out lets the others wait for it.
"""

import io
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from dgd.runtime import computing

UNITS = "units"
"""The mesh axis that units are spread over."""
SHARDED = PartitionSpec(UNITS)  # type: ignore[no-untyped-call]
REPLICATED = PartitionSpec()  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Group:
    """The processes that fit one panel, each with its own units; `ALONE` is a group of one."""

    index: int = 0
    """Which of the processes this is, from 0."""
    count: int = 1
    """How many there are."""

    @property
    def leads(self) -> bool:
        """Whether this is the process that speaks and writes for all of them."""
        return self.index == 0

    def sum(self, x: Any) -> np.ndarray:
        """The sum over all processes, of numbers few enough that each can hold everybody's.

        Numbers are brought together bit by bit and added here, so that every process has the
        same sum to the last bit, in every run.
        """
        return np.asarray(np.sum(self._gathered(np.asarray(x)), axis=0))

    def maximum(self, x: Any) -> np.ndarray:
        """The largest of all processes, number by number; NaN where one has NaN."""
        return np.asarray(np.max(self._gathered(np.asarray(x)), axis=0))

    def every(self, x: Any) -> list[Any]:
        """What each process hands over, in their order: arrays of any shape, or facts for JSON.

        Facts come back as JSON reads them, tuples as lists, in a group of one too.
        """
        packed = np.frombuffer(_packed(x), np.uint8)
        lengths = self._gathered(np.asarray(len(packed)))
        room = 1 << int(lengths.max()).bit_length()
        padded = np.zeros(room, np.uint8)  # few lengths, for each is compiled once
        padded[: len(packed)] = packed
        rows = self._gathered(padded)
        return [
            _unpacked(row[:length].tobytes()) for row, length in zip(rows, lengths, strict=True)
        ]

    def barrier(self, name: str) -> None:
        """Wait until every process is here; those at another place are told apart by its name."""
        names = self.every(name)
        if names != [name] * self.count:
            raise RuntimeError(f"processes wait for each other at different places: {names}")

    def mesh(self) -> Mesh:
        """One device of every process along the axis "units", for `jax.shard_map`."""
        if self.count == 1:
            return _mesh((jax.local_devices()[0],))
        first: dict[int, jax.Device] = {}
        for device in jax.devices():
            first.setdefault(device.process_index, device)
        return _mesh(tuple(first[index] for index in range(self.count)))

    def sharded(self, local: np.ndarray) -> jax.Array:
        """One global array of every process's rows, each row where its process is.

        Global arrays are arguments of compiled functions; a function cannot close over them.
        Every process has as many rows: pad to `maximum` of their numbers.
        """
        shapes = self.every(list(local.shape))
        if any(shape != shapes[0] for shape in shapes):
            raise ValueError(f"every process must have the same shape, not {shapes}")
        with computing():
            return _placed(NamedSharding(self.mesh(), SHARDED), local)

    def replicated(self, x: np.ndarray) -> jax.Array:
        """One global array that every process has whole; all hand over the same numbers."""
        with computing():
            return _placed(NamedSharding(self.mesh(), REPLICATED), x)

    def local(self, x: jax.Array) -> np.ndarray:
        """What this process has of a global array: its rows of a sharded one, all of another."""
        return np.asarray(x.addressable_data(0))

    def _gathered(self, x: np.ndarray) -> np.ndarray:
        """What every process has, along a new first axis; bits are kept whatever they mean."""
        if self.count == 1:
            return x[None]
        bits = np.frombuffer(x.tobytes(), np.uint8)
        mesh = self.mesh()
        rows = _placed(NamedSharding(mesh, SHARDED), bits[None])
        whole = self.local(_gathering(mesh)(rows))
        return np.frombuffer(whole.tobytes(), x.dtype).reshape(self.count, *x.shape)


ALONE = Group()
"""The group of a process by itself: every sum is what it was."""


@cache
def _mesh(devices: tuple[jax.Device, ...]) -> Mesh:
    return Mesh(np.array(devices), (UNITS,))


def _placed(sharding: NamedSharding, local: np.ndarray) -> jax.Array:
    placed: jax.Array = jax.make_array_from_process_local_data(sharding, local)  # type: ignore[no-untyped-call]
    return placed


@cache
def _gathering(mesh: Mesh) -> Any:
    return jax.jit(lambda rows: rows, out_shardings=NamedSharding(mesh, REPLICATED))


def _packed(x: Any) -> bytes:
    if not isinstance(x, np.ndarray):
        return b"J" + json.dumps(x).encode()
    file = io.BytesIO(b"A")
    file.seek(1)
    np.save(file, x, allow_pickle=False)
    return file.getvalue()


def _unpacked(packed: bytes) -> Any:
    if packed[:1] == b"J":
        return json.loads(packed[1:])
    return np.load(io.BytesIO(packed[1:]), allow_pickle=False)
