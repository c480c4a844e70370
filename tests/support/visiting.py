"""The app asked inside the test's own process, as a page of its own would ask it."""

import re
import warnings
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from httpx import Response

from dgd.app.desk import Desk
from dgd.app.folder import Folder
from dgd.app.library import OpenModel
from dgd.app.server import App

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would rather have a successor of HTTPX
    from starlette.testclient import TestClient

TOKEN, PORT = "the-token", 8123
HOST = f"127.0.0.1:{PORT}"
OWN = {"origin": f"http://{HOST}"}


@dataclass(frozen=True)
class Visitor:
    """A browser that knows the token."""

    desk: Desk
    app: App
    client: TestClient

    def get(self, address: str = "", **headers: str) -> Response:
        return self.client.get(f"/{TOKEN}/{address}", headers=headers)

    def post(self, address: str, fields: dict[str, Any] | None = None, **headers: str) -> Response:
        body = urlencode(fields or {}, doseq=True).encode()
        return self.client.post(f"/{TOKEN}/{address}", content=body, headers={**OWN, **headers})

    def upload(self, name: str, content: bytes) -> Response:
        address = f"/{TOKEN}/upload?{urlencode({'name': name})}"
        return self.client.post(address, content=content, headers=OWN)

    def show(self, fit: Any, file: Path = Path("model.dgd")) -> str:
        """Put a fit on its shelf; its name there."""
        return self.desk.library.models.put(OpenModel("model.dgd", file, fit))


def visitor(folder: Path, scratch: Path, upload_limit: int = 1) -> Visitor:
    """Somebody who visits the app started in `folder`."""
    desk = Desk(Folder(folder.resolve()), scratch, upload_limit)
    app = App(desk)
    client = TestClient(app.guarded(TOKEN, PORT), base_url=f"http://{HOST}", follow_redirects=False)
    return Visitor(desk, app, client)


def said(answer: Response) -> str:
    """The one sentence of a refusal."""
    (found,) = re.findall(r'<p class="refused" role="alert">(.*?)</p>', answer.text, re.DOTALL)
    return unescape(found)
