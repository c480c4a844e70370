"""How processes meet; each is a thread here, for nothing is lost before they have met."""

import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from dgd.errors import InputError
from dgd.processes.membership import Membership
from dgd.processes.watch import Watch, free_port, met

HOST = "127.0.0.1"


def outcomes(members: Sequence[tuple[int, int]], patience: float = 20.0) -> list[Any]:
    """The watch or the refusal of every process (index, count) at one address."""
    port = free_port(HOST)

    def outcome(member: tuple[int, int]) -> Watch | str:
        try:
            return met(Membership(*member, HOST, port), patience)
        except InputError as refusal:
            return str(refusal)

    with ThreadPoolExecutor(len(members)) as pool:
        return list(pool.map(outcome, members))


def test_processes_meet_whoever_comes_first() -> None:
    watches = outcomes([(2, 3), (1, 3), (0, 3)])
    assert len({watch.address for watch in watches}) == 1, "all hear of the same service"
    assert [sorted(watch.lines) for watch in watches] == [[0], [0], [1, 2]]
    for watch in watches:
        watch.close()


def test_a_process_that_does_not_come_is_named_to_all_who_did() -> None:
    told = outcomes([(0, 4), (2, 4)], patience=0.5)
    assert told[0] == told[1]
    assert told[0].startswith("of 4 processes number 1, 3 did not come to 127.0.0.1:")


def test_a_process_says_where_it_found_nobody() -> None:
    (told,) = outcomes([(1, 2)], patience=0.2)
    assert told.startswith("process 1 of 2 found nobody at 127.0.0.1:")
    assert "check that process 0 runs there" in told


def test_two_processes_of_one_number_are_refused() -> None:
    told = outcomes([(0, 3), (1, 3), (1, 3)])
    assert len(set(told)) == 1
    assert told[0].startswith("two processes say that they are number 1 of 3; give each its own")


def test_processes_that_count_otherwise_are_refused() -> None:
    told = outcomes([(0, 2), (1, 3)])
    assert told[0] == told[1]
    assert told[0].startswith("process 0 was told of 2 processes, and number 1 of 3; give")


def test_strangers_at_the_door_are_sent_away() -> None:
    port = free_port(HOST)
    with ThreadPoolExecutor(2) as pool:
        leader = pool.submit(met, Membership(0, 2, HOST, port), 20.0)
        stranger = None
        while stranger is None and not leader.done():
            try:
                stranger = socket.create_connection((HOST, port), timeout=5)
            except ConnectionRefusedError:
                continue
        assert stranger is not None
        with stranger, suppress(ConnectionResetError):
            stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert stranger.recv(10) == b""
        follower = pool.submit(met, Membership(1, 2, HOST, port), 20.0)
        assert leader.result().address == follower.result().address
        for watch in (leader.result(), follower.result()):
            watch.close()


def test_a_port_that_is_taken_is_refused() -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} cannot be listened on .*; set DGD_"):
            met(Membership(0, 2, HOST, port), 1.0)
