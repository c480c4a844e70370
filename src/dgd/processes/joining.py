"""A process joins its group before JAX is used, and leaves it with the others."""

import atexit
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import jax

from dgd.errors import DGDError, InputError, first_line
from dgd.processes.group import ALONE, Group
from dgd.processes.membership import LAUNCHED, Membership, membership
from dgd.processes.watch import ENDED_WITH_ANOTHER, Watch, bound, met

REFUSED, INTERRUPTED = 2, 130
SHUTDOWN = 60
VERDICT = 10.0
"""Seconds in which a process whose sums broke hears who it was that died."""


@contextmanager
def joined(environment: Mapping[str, str] = os.environ) -> Iterator[Group]:
    """The group that this process is one of, as its environment says; `ALONE` if it is by itself.

    Enter it before anything is computed, for JAX can be told only once, and leave it when all is
    done: the processes wait for each other there. Where a block fails, the others are told why
    and end, and this process leaves as soon as it has said its own last words.

    Raises:
        InputError: The environment is wrong, or the others do not come.
    """
    if environment.get(LAUNCHED) == "1":
        threading.Thread(target=_end_with_the_parent, daemon=True).start()
    me = membership(environment)
    if me is None:
        yield ALONE
        return
    watch = met(me)
    watch.start()
    try:
        group = _initialized(me, watch)
        yield group
        group.barrier("all is done")
    except BaseException as error:
        _fail(watch, error)
        raise
    watch.done()
    jax.distributed.shutdown()  # type: ignore[no-untyped-call]


def _initialized(me: Membership, watch: Watch) -> Group:
    host, _, port = watch.address.rpartition(":")
    os.environ.setdefault("no_grpc_proxy", host)
    jax.config.update("jax_check_proxy_envs", False)  # type: ignore[no-untyped-call]
    jax.config.update("jax_cpu_collectives_implementation", "gloo")  # type: ignore[no-untyped-call]
    try:
        jax.distributed.initialize(
            watch.address,
            me.count,
            me.index,
            local_device_ids=None if me.device is None else [me.device],
            cluster_detection_method="deactivate",
            coordinator_bind_address=f"{bound(host) or '[::]'}:{port}",
            shutdown_timeout_seconds=SHUTDOWN,
        )
    except RuntimeError as error:
        raise InputError(
            f"{me.name} cannot join the others ({first_line(error)}); join before anything else "
            "is computed."
        ) from error
    group = Group(me.index, me.count)
    with _quiet_output():
        group.barrier("all are here")
    return group


@contextmanager
def _quiet_output() -> Iterator[None]:
    """Gloo says on standard output that it is connected, where results are to stand alone."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _fail(watch: Watch, error: BaseException) -> None:
    """Tell the others, unless it is their end that broke this process, and leave without JAX's
    own farewell, which would wait for processes that are gone."""
    code = _exit_code(error)
    atexit.register(_leave, code)
    if code == ENDED_WITH_ANOTHER:
        threading.Event().wait(VERDICT)
    watch.failed(_told(error))


def _exit_code(error: BaseException) -> int:
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(code := getattr(error, "exit_code", None), int):  # Typer's own way to leave
        return code
    if "Gloo" in str(error) or "NCCL" in str(error):
        return ENDED_WITH_ANOTHER
    return REFUSED if isinstance(error, DGDError) else 1


def _told(error: BaseException) -> str:
    named = isinstance(error, DGDError)
    return first_line(error) if named else f"{type(error).__name__}: {first_line(error)}"


def _leave(code: int) -> None:
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _end_with_the_parent() -> None:
    with suppress(OSError):
        while os.read(0, 64):
            pass
    os._exit(ENDED_WITH_ANOTHER)
