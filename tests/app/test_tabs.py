"""Several tabs at once: long answers keep nobody else waiting, and old ones are not begun."""

import asyncio
import threading
from pathlib import Path

import httpx
import pytest

from dgd.app import server
from dgd.app.server import THREADS, App
from support.visiting import HOST, OWN, PORT, TOKEN, Visitor, visitor


@pytest.fixture
def guest(tmp_path: Path) -> Visitor:
    return visitor(tmp_path, tmp_path)


def asking(app: App) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app.guarded(TOKEN, PORT))
    return httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", headers=OWN)


def test_pages_are_shown_while_long_answers_are_made(
    guest: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, begun = threading.Event(), threading.Semaphore(0)

    def long_answer(*_: object) -> str:
        begun.release()
        assert go_on.wait(60)
        return "done"

    monkeypatch.setattr(server, "ANSWERS", {"plan": long_answer})

    async def tabs() -> list[str]:
        async with asking(guest.app) as client:
            plans = [asyncio.create_task(client.post(f"/{TOKEN}/plan")) for _ in range(THREADS + 1)]
            for _ in range(THREADS):
                assert await asyncio.to_thread(begun.acquire, timeout=60)
            try:
                assert not begun.acquire(blocking=False), "more at once than there are threads for"
                page = await asyncio.wait_for(client.get(f"/{TOKEN}/"), 60)
                assert page.status_code == 200
            finally:
                go_on.set()
            return [(await plan).text for plan in plans]

    assert asyncio.run(tabs()) == ["done"] * (THREADS + 1)


def test_what_nobody_waits_for_is_not_begun(
    guest: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slider that moves on leaves requests behind."""
    begun = []
    monkeypatch.setattr(server, "ANSWERS", {"scenario": lambda *_: begun.append(1) or "shown"})
    told = [{"type": "http.request", "body": b""}, {"type": "http.disconnect"}]
    sent: list[dict[str, object]] = []

    async def receive() -> dict[str, object]:
        return told.pop(0) if len(told) > 1 else told[0]

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/{TOKEN}/scenario",
        "query_string": b"",
        "headers": [(b"host", HOST.encode()), (b"origin", OWN["origin"].encode())],
    }
    asyncio.run(guest.app.guarded(TOKEN, PORT)(scope, receive, send))  # type: ignore[arg-type]
    assert begun == []
    assert sent[0]["status"] == server.NOBODY
