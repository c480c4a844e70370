"""The server itself: one port of this machine, for as long as the command runs."""

import os
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn

from dgd.app.desk import Desk
from dgd.app.folder import Folder
from dgd.app.guard import new_token
from dgd.app.opening import opened
from dgd.app.server import App, warm_up
from dgd.app.uploads import UPLOAD_LIMIT
from dgd.app.warned import listening
from dgd.errors import InputError, first_line

HOST = "127.0.0.1"
ENDINGS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class Serving(uvicorn.Server):
    """A server that says when it listens, and that ends when it is told to."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Hear signals; unlike Uvicorn, do not raise them again before the folder is removed."""
        before = {number: signal.signal(number, self._told) for number in ENDINGS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _told(self, number: int, frame: FrameType | None) -> None:
        self.handle_exit(number, frame)


def serve(
    file: Path | None = None,
    port: int = 0,
    upload_limit: int = UPLOAD_LIMIT,
    ready: Callable[[str, Path], None] = lambda _address, _scratch: None,
) -> None:
    """Serve the folder that this was started in until it is interrupted.

    Args:
        file: a table or a model of that folder, to begin with.
        port: that of 127.0.0.1; any free one by default.
        upload_limit: in megabytes.
        ready: told the address, and a folder that goes when the app ends.
    """
    if upload_limit < 1:
        raise InputError(f"upload_limit is {upload_limit}; give megabytes, at least 1.")
    folder = Folder.here()
    name = None if file is None else folder.name_of(file)
    with (
        _listening_socket(port) as listener,
        tempfile.TemporaryDirectory(prefix="dgd-app-", ignore_cleanup_errors=True) as scratch,
        listening(),
    ):
        desk = Desk(folder, Path(scratch), upload_limit)
        first = "" if name is None else opened(desk, name, folder.file(name)).address
        token, number = new_token(), listener.getsockname()[1]
        app = App(desk)
        warm_up()
        address = f"http://{HOST}:{number}/{token}/{first}"
        config = _config(app.guarded(token, number))
        try:
            Serving(config, lambda: ready(address, Path(scratch))).run(sockets=[listener])
        finally:
            app.fits.end()


def open_browser(address: str, scratch: Path) -> None:
    """Open the address where there is a browser with a window.

    Other users of a machine see what its processes are called with. So the browser is handed a
    page that only we can read, and that leads to the address.
    """
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return
    page = scratch / "open.html"
    page.write_text(f'<meta http-equiv="refresh" content="0; url={address}">', "utf-8")

    def show() -> None:
        with suppress(webbrowser.Error, OSError):
            webbrowser.open(page.as_uri())

    threading.Thread(target=show, daemon=True).start()  # some browsers are waited for


@contextmanager
def _listening_socket(port: int) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        try:
            if os.name == "posix":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise InputError(
                f"port {port} cannot be listened on ({first_line(error)}); choose another, or 0 "
                "for any that is free."
            ) from error
        yield listener


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="error",
        access_log=False,  # addresses hold the token
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=1,
    )
