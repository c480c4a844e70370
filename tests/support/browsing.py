"""A real browser in which no other host can be reached.

Chromium is the system's own. Where there is none, tests that need it are skipped and say so.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
WITHOUT_BROWSER = "no Chromium on this machine; install it to try pages in a browser"
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason=WITHOUT_BROWSER)
AXE = os.environ.get("DGD_AXE", "")
"""The script axe.min.js of axe-core, which looks for faults of accessibility."""
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
]
GRAVE = ("serious", "critical")


@contextmanager
def browser() -> Iterator["object"]:
    """A browser without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        started = player.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield started
        finally:
            started.close()


@contextmanager
def opened(
    width: int = 1280, height: int = 900, allowed: str | None = None, within=None
) -> Iterator["object"]:
    """A tab of that size that reaches only files and the host `allowed`, like "127.0.0.1:8123".

    What goes wrong in it is in `page_errors(page)`. `within` is a browser that is running already.
    """
    if within is None:
        with browser() as started, opened(width, height, allowed, started) as page:
            yield page
        return
    context = within.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.faults = []
    context.route("**/*", lambda route: _reach(route, allowed, page.faults))
    page.on("console", lambda told: page.faults.append(told.text) if told.type == "error" else None)
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    try:
        yield page
    finally:
        context.close()


def _reach(route, allowed: str | None, faults: list[str]) -> None:
    address = urlsplit(route.request.url)
    if address.scheme in ("file", "data", "blob") or address.netloc == allowed:
        route.continue_()
        return
    faults.append(f"asked for {route.request.url}")
    route.abort()


def page_errors(page) -> list[str]:
    """What the console told as an error, what scripts raised, and every foreign host asked for."""
    return list(page.faults)


def serious_faults(page) -> list[str]:
    """What axe-core calls serious or critical, each with the first element it is found in."""
    if not AXE:
        pytest.skip("axe-core is not at hand; name its axe.min.js in DGD_AXE")
    page.evaluate(Path(AXE).read_text("utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{fault['id']}: {fault['help']} ({fault['nodes'][0]['html'][:200]})"
        for fault in found["violations"]
        if fault["impact"] in GRAVE
    ]


def sideways(page) -> int:
    """By how many pixels the page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
