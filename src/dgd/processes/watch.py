"""Processes meet at one address, and from then on each knows at once when another is gone.

Process 0 listens, the others connect and stay connected. A connection that ends without a word
is a process that died: the system closes it whatever happened, `kill -9` included. Process 0 tells
the rest, and all leave with the same sentence. JAX's own heartbeats would take minutes and end in a
stack dump.
"""

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from dgd.errors import InputError
from dgd.processes.membership import COORDINATOR, Membership

PATIENCE = 300.0
"""Seconds that processes wait for each other when they start."""
BACKLOG = 1024
GREETING = 5.0
"""Seconds after which a connection that does not say who it is is no process of ours."""
LAST_WORDS = 2.0
"""Seconds that process 0 waits for another to say why it ends."""
ENDED_WITH_ANOTHER = 79
"""Exit code of a process that ended because another did."""
WAY_OUT = "its own output says more; with a checkpoint, --resume goes on from there"
KEEP_ALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""A machine that went away without a word is missed after less than a minute."""


class Line:
    """A connection that carries messages, one a line."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.incoming = connection.makefile("rb")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEP_ALIVE.items():
            if hasattr(socket, name):
                connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send a message; one that nobody hears is no fault, for the reader will notice."""
        with suppress(OSError):
            self.connection.sendall(json.dumps(message).encode() + b"\n")

    def hear(self, seconds: float | None = None) -> dict[str, Any] | None:
        """The next message, or None where the other side has gone or makes no sense."""
        self.connection.settimeout(seconds)
        try:
            heard = json.loads(self.incoming.readline(10_000))
        except (OSError, ValueError):
            return None
        return heard if isinstance(heard, dict) else None

    def close(self) -> None:
        """End the connection, also for a thread that listens to it."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
        self.connection.close()


class Watch:
    """The lines to the other processes: all of them in process 0, one in each of the others."""

    def __init__(self, me: Membership, lines: Mapping[int, Line], address: str) -> None:
        self.me = me
        self.lines = lines
        self.address = address
        """Where JAX's own service is to be."""
        self.leaving = threading.Lock()
        self.listening = [
            threading.Thread(target=self._listen, args=at, daemon=True) for at in lines.items()
        ]

    def start(self) -> None:
        """Listen, in threads that end with the process."""
        for thread in self.listening:
            thread.start()

    def done(self) -> None:
        """Say that this process has done its part; others may go now."""
        self._tell_all({"done": True})

    def failed(self, why: str) -> None:
        """Tell the others that this process will not go on; it leaves in its own way."""
        self.leaving.acquire(blocking=False)
        self._tell_all({"lost": f"{self.me.name} failed ({why}); the others were ended: {WAY_OUT}"})
        self._let_others_go()

    def close(self) -> None:
        """Let go of every line."""
        for line in self.lines.values():
            line.close()

    def _listen(self, index: int, line: Line) -> None:
        heard = line.hear()
        if heard is not None and heard.get("done"):
            return
        lost = f"process {index} of {self.me.count} died without a word; the others were ended"
        sentence = str(heard["lost"]) if heard and "lost" in heard else f"{lost}: {WAY_OUT}"
        if self.leaving.acquire(blocking=False):
            self._tell_all({"lost": sentence})
            if heard and self.me.index == 0:
                line.hear(LAST_WORDS)  # until it has gone
            self._let_others_go()
            leave(None if self.me.launched else sentence)

    def _let_others_go(self) -> None:
        """Process 0 is the last to go, for JAX takes the others down with it."""
        end = time.monotonic() + LAST_WORDS
        for thread in self.listening if self.me.index == 0 else ():
            if thread is not threading.current_thread():
                thread.join(max(end - time.monotonic(), 0))

    def _tell_all(self, message: Mapping[str, Any]) -> None:
        for line in self.lines.values():
            line.tell(message)


def leave(sentence: str | None) -> NoReturn:
    """End the process as it stands, for another is gone and JAX would wait for it."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        if sentence is not None:
            sys.stderr.write(f"dgd: {sentence}.\n")
        sys.stderr.flush()
    os._exit(ENDED_WITH_ANOTHER)


def met(me: Membership, patience: float = PATIENCE) -> Watch:
    """Meet the other processes of the group.

    Raises:
        InputError: Somebody did not come, came twice or counts the processes otherwise.
    """
    end = time.monotonic() + patience
    return _as_leader(me, end, patience) if me.index == 0 else _as_follower(me, end, patience)


def free_port(host: str) -> int:
    """A port of this machine that nobody listens on."""
    with listener(host, 0) as found:
        return int(found.getsockname()[1])


def bound(host: str) -> str:
    """Where to listen for those who call this machine `host`: on all of its addresses, unless
    they are on the machine themselves."""
    return host if host in ("localhost", "127.0.0.1") else ""


@contextmanager
def listener(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens where others find it."""
    try:
        found = _listening(bound(host), port)
    except OSError as error:
        raise InputError(
            f"port {port} cannot be listened on ({error.strerror}); set {COORDINATOR} to a free "
            "port of the machine of process 0."
        ) from error
    with found:
        yield found


def _listening(host: str, port: int) -> socket.socket:
    if not host and socket.has_dualstack_ipv6():
        with suppress(OSError):
            return socket.create_server(
                (host, port), family=socket.AF_INET6, backlog=BACKLOG, dualstack_ipv6=True
            )
    return socket.create_server((host, port), backlog=BACKLOG)


def _as_leader(me: Membership, end: float, patience: float) -> Watch:
    lines: dict[int, Line] = {}
    try:
        with listener(me.host, me.port) as door:
            while len(lines) < me.count - 1:
                door.settimeout(max(end - time.monotonic(), 0.01))
                try:
                    line = Line(door.accept()[0])
                except TimeoutError as error:
                    missing = sorted(set(range(1, me.count)) - lines.keys())
                    raise InputError(
                        f"of {me.count} processes number {', '.join(map(str, missing))} did not "
                        f"come to {me.host}:{me.port} within {patience:g} seconds; start all of "
                        f"them, with the same {COORDINATOR}."
                    ) from error
                _welcome(me, line, lines)
    except InputError as refusal:
        for line in lines.values():
            line.tell({"refused": str(refusal)})
        raise
    shown = f"[{me.host}]" if ":" in me.host else me.host
    address = f"{shown}:{free_port(me.host)}"
    for line in lines.values():
        line.tell({"meet": address})
    return Watch(me, lines, address)


def _welcome(me: Membership, line: Line, lines: dict[int, Line]) -> None:
    hello = line.hear(GREETING)
    if hello is None or hello.keys() != {"index", "count"}:
        line.close()
        return
    index, count = hello["index"], hello["count"]
    if index in lines:
        problem = f"two processes say that they are number {index} of {me.count}"
    elif count != me.count or index not in range(1, me.count):
        problem = f"process 0 was told of {me.count} processes, and number {index} of {count}"
    else:
        lines[index] = line
        return
    refusal = InputError(f"{problem}; give each its own number and all the same count.")
    line.tell({"refused": str(refusal)})
    raise refusal


def _as_follower(me: Membership, end: float, patience: float) -> Watch:
    line = Line(_connected(me, end, patience))
    line.tell({"index": me.index, "count": me.count})
    heard = line.hear(patience + GREETING)
    if heard is None or "meet" not in heard:
        why = (heard or {}).get("refused", f"{me.name} was left by process 0 before work began.")
        raise InputError(str(why))
    return Watch(me, {0: line}, str(heard["meet"]))


def _connected(me: Membership, end: float, patience: float) -> socket.socket:
    while True:
        try:
            return socket.create_connection((me.host, me.port), timeout=GREETING)
        except OSError as error:
            if time.monotonic() > end:
                raise InputError(
                    f"{me.name} found nobody at {me.host}:{me.port} within {patience:g} seconds "
                    f"({error.strerror or error}); check that process 0 runs there and that "
                    "the port is open."
                ) from error
        time.sleep(0.1)
