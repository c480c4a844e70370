"""Who may ask the app anything: this machine's browser, on a page of the app, who knows the token.

Any page that a browser has open can send requests to a server on the same machine. So every
address begins with a random token, the host asked for must be the app's own (another name
could be made to lead here), and what changes something must come from a page of the app.
"""

import hmac
import secrets
from collections.abc import Mapping, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HARMLESS = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""Only what the app itself serves; Vega compiles the expressions of a chart and styles it."""
ALWAYS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def new_token() -> str:
    """What nobody guesses."""
    return secrets.token_urlsafe(24)


class Guard:
    """Lets through what a page of the app asks, and puts the same headers on every answer."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app = app
        self.token = token
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        if port == 80:
            self.hosts |= {"127.0.0.1", "localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self._answer(scope, receive, _with_headers(send))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(scope)
        if refusal is not None:
            status, sentence = refusal
            await PlainTextResponse(f"{sentence}\n", status)(scope, receive, send)
            return
        inside: MutableMapping[str, Any] = {**scope, "root_path": f"/{self.token}"}
        await self.app(inside, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host = headers.getlist("host")
        if len(host) != 1 or host[0] not in self.hosts:
            return 400, "This host is not the app's; open the address that dgd serve printed."
        origin, site = headers.getlist("origin"), headers.get("sec-fetch-site")
        own = origin == [f"http://{host[0]}"]
        # a link or the terminal may lead here; pictures and scripts of other sites may not
        foreign = site == "cross-site" and headers.get("sec-fetch-mode") != "navigate"
        if (origin and not own) or foreign:
            return 403, "Another site asked for this, which the app does not answer."
        if scope["method"] not in HARMLESS and not own and site != "same-origin":
            return 403, "Only a page of the app may ask for this."
        if not self._knows_token(scope["path"]):
            return 403, "The token is missing or wrong; open the address that dgd serve printed."
        return None

    def _knows_token(self, path: str) -> bool:
        given = path.removeprefix("/").partition("/")[0]
        return hmac.compare_digest(given.encode(errors="replace"), self.token.encode())


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in ALWAYS.items():
                headers[name] = value
        await send(message)

    return sending
