"""A fit in a process of its own, watched line by line, and gone when nobody watches it.

A fit cannot be interrupted inside a thread. So it runs in a child process whose folder goes
with it: when the tab is closed, Stop is pressed or the app ends, the process is killed and
its folder removed.
"""

import asyncio
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from dgd.app.desk import Desk
from dgd.app.fields import Fields
from dgd.app.fit_process import ASK, MODEL, chosen
from dgd.app.library import OpenModel, Reading
from dgd.app.opening import model_of
from dgd.app.readings import hand_over
from dgd.app.words import in_form_words
from dgd.errors import DGDError, InputError
from dgd.learning.seeds import checked_seeds
from dgd.panel.split import Split

MOST_AT_ONCE = 2
BREATH = 1.0
"""Seconds after which a line is sent even if there is nothing to tell: a tab that was closed is
noticed when it is written to."""
PATIENCE = 10.0


def asked_fit(reading: Reading, fields: Fields) -> dict[str, Any]:
    """What the form asks for, refused before any work where it cannot be right."""
    ends = {
        "train_end": fields.text("train_end"),
        "validation_end": fields.text("validation_end"),
        "warmup_end": fields.text("warmup_end") or None,
    }
    Split.of(reading.panel, *ends.values())  # type: ignore[arg-type]
    numbers = {
        name: fields.optional_whole(name, label)
        for name, label in (
            ("epochs", "Most epochs"),
            ("components", "Types of people a cohort"),
            ("nodes", "Nodes a type"),
        )
    }
    ask = {
        "ends": ends,
        "seeds": list(checked_seeds(fields.wholes("seeds", "Seeds"))),
        "preset": fields.text("preset") or "default",
        "settings": {name: value for name, value in numbers.items() if value is not None},
    }
    return {**ask, "epochs": chosen(ask).epochs}


class FitChild:
    """A fit under way, and its folder."""

    def __init__(self, reading: Reading, ask: dict[str, Any], scratch: Path) -> None:
        self.ask = ask
        self.folder = Path(tempfile.mkdtemp(dir=scratch, prefix="fit-"))
        try:
            hand_over(reading, self.folder)
            (self.folder / ASK).write_text(json.dumps(ask), "utf-8")
            # -P: modules are never taken from a folder of data
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "dgd.app.fit_process", str(self.folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=self.folder,
                start_new_session=True,
            )
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def tell(self, loop: asyncio.AbstractEventLoop, heard: "asyncio.Queue[bytes]") -> None:
        """Hand every line on, and an empty one at the end."""
        assert self.process.stdout is not None
        with suppress(RuntimeError, ValueError, OSError):  # the loop or the pipe may be closed
            for line in self.process.stdout:
                loop.call_soon_threadsafe(heard.put_nowait, line)
            loop.call_soon_threadsafe(heard.put_nowait, b"")

    def end(self) -> None:
        """Kill the process and whatever it started, and remove its folder."""
        if self.process.poll() is None:  # else its number may be another's by now
            with suppress(ProcessLookupError, PermissionError):
                if os.name == "posix":
                    os.killpg(self.process.pid, signal.SIGKILL)
                else:
                    self.process.kill()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE)
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Fits:
    """Every fit that is under way."""

    def __init__(self) -> None:
        self.running: set[FitChild] = set()

    def refuse_more(self) -> None:
        if len(self.running) >= MOST_AT_ONCE:
            raise InputError(
                f"{MOST_AT_ONCE} fits are under way already; wait for one to end, or stop it."
            )

    def start(self, desk: Desk, reading: Reading, ask: dict[str, Any]) -> FitChild:
        child = FitChild(reading, ask, desk.scratch)
        self.running.add(child)
        return child

    def stop(self, child: FitChild) -> None:
        """End one fit; nothing here waits for the loop, for the request may be cancelled."""
        self.running.discard(child)
        child.end()

    def end(self) -> None:
        """End every fit, because the app ends."""
        for child in list(self.running):
            self.stop(child)


class FitResponse(StreamingResponse):
    """Tells of a fit for as long as somebody listens, and ends it when nobody does."""

    def __init__(self, desk: Desk, fits: Fits, reading: Reading, child: FitChild) -> None:
        super().__init__(told(desk, reading, child), media_type="application/x-ndjson")
        self.fits, self.child = fits, child

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.fits.stop(self.child)


async def told(desk: Desk, reading: Reading, child: FitChild) -> AsyncIterator[bytes]:
    """A fit in lines of JSON; the last one says where the model is."""
    yield _line({"seeds": child.ask["seeds"], "epochs": child.ask["epochs"]})
    warnings: tuple[str, ...] = ()
    async for line in _heard(child):
        said = json.loads(line) if line.strip() else {}
        if "refused" in said:
            yield _line({"refused": in_form_words(said["refused"])})
            return
        if "warnings" in said:
            warnings = tuple(said["warnings"])
        else:
            yield line
    yield await asyncio.to_thread(_finished, desk, reading, child, warnings)


async def _heard(child: FitChild) -> AsyncIterator[bytes]:
    """The child's lines, and an empty one whenever it is silent for a while."""
    heard: asyncio.Queue[bytes] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    threading.Thread(target=child.tell, args=(loop, heard), daemon=True).start()
    while True:
        try:
            line = await asyncio.wait_for(heard.get(), BREATH)
        except TimeoutError:
            yield b"\n"
            continue
        if not line:
            return
        yield line


def _finished(desk: Desk, reading: Reading, child: FitChild, warnings: tuple[str, ...]) -> bytes:
    """Put the model on its shelf and say where it is, or say that the process failed."""
    child.process.wait(PATIENCE)
    if child.process.returncode != 0:
        return _line(
            {
                "refused": "the fit ended unexpectedly; the terminal in which the app was started "
                "may say why."
            }
        )
    file = desk.scratch / f"model-{secrets.token_hex(8)}.dgd"
    os.replace(child.folder / MODEL, file)
    name = f"{Path(reading.name).stem}.dgd"
    try:
        model = OpenModel(name, file, model_of(file, name), warnings)
    except DGDError as error:
        return _line({"refused": str(error)})
    return _line({"go": f"model?id={quote(desk.library.models.put(model))}"})


def _line(told: dict[str, Any]) -> bytes:
    return json.dumps(told).encode() + b"\n"
