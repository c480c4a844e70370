"""A server of downloads on this machine, as honest or as broken as a test needs it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    """A server on this machine that can resume or not, and can break off."""

    def __init__(self) -> None:
        self.body = b""
        self.ranges = True
        self.says_length = True
        self.status = 200
        self.break_after: list[int] = []
        """How many bytes of each coming answer are sent before the connection closes."""
        self.asked: list[str | None] = []
        self.url = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        asked = handler.headers.get("Range")
        self.asked.append(asked)
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.ranges else 0
        if self.status != 200:
            handler.send_error(self.status)
            return
        if start and start >= len(self.body):
            handler.send_response(416)
            handler.send_header("Content-Range", f"bytes */{len(self.body)}")
            handler.end_headers()
            return
        rest = self.body[start:]
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header(
                "Content-Range", f"bytes {start}-{len(self.body) - 1}/{len(self.body)}"
            )
        if self.ranges:
            handler.send_header("Accept-Ranges", "bytes")
        if self.says_length:
            handler.send_header("Content-Length", str(len(rest)))
        handler.end_headers()
        handler.wfile.write(rest[: self.break_after.pop(0)] if self.break_after else rest)


@contextmanager
def open_site() -> Iterator[Site]:
    """A site that answers while the block runs."""
    served = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.answer(self)

        def log_message(self, *arguments: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
