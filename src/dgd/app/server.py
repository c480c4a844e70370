"""The routes of the app: every page, every answer to a form, files in and files out.

Pages and answers are plain functions; they run in threads, a few at a time, so that other tabs
go on. What they refuse becomes a sentence, what they did not expect another one.
"""

import sys
import threading
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypeVar

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from dgd.app.assets import script_or_style
from dgd.app.columns import read_columns, table_page
from dgd.app.desk import Desk, Go, Page, sentences
from dgd.app.exploring import data_page
from dgd.app.fields import Fields
from dgd.app.fitting import FitResponse, Fits, asked_fit
from dgd.app.forecasting import answer_forecast, forecast_page
from dgd.app.guard import Guard
from dgd.app.models import make_report, model_page, report_of
from dgd.app.opening import open_listed, open_upload, start_page
from dgd.app.planning import answer_plan, plan_page
from dgd.app.prices import answer_curves, answer_prices, prices_page
from dgd.app.scenarios import answer_scenario, forget_scenario, keep_scenario, scenarios_page
from dgd.app.shell import refused, refused_page, whole_page
from dgd.app.uploads import received
from dgd.app.warned import hearing
from dgd.app.words import in_form_words
from dgd.errors import DGDError, InputError
from dgd.tables.plain_numbers import sentence

PAGES: Mapping[str, Callable[[Desk, str], Page]] = {
    "": start_page,
    "table": table_page,
    "data": data_page,
    "model": model_page,
    "forecast": forecast_page,
    "scenarios": scenarios_page,
    "plan": plan_page,
    "prices": prices_page,
}
ANSWERS: Mapping[str, Callable[[Desk, str, Fields], str | Go]] = {
    "open": open_listed,
    "make-report": make_report,
    "columns": read_columns,
    "forecast": answer_forecast,
    "scenario": answer_scenario,
    "keep": keep_scenario,
    "forget": forget_scenario,
    "plan": answer_plan,
    "prices": answer_prices,
    "curves": answer_curves,
}
THREADS = 2
LONGEST_FORM = 1 << 20
REFUSED, NOBODY = 422, 499
UNEXPECTED = (
    "Something went wrong that dgd did not expect; the terminal in which it was started says more."
)

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
Made = TypeVar("Made")


class App:
    """Everything the app answers, on one desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.fits = Fits()
        self.answering = anyio.CapacityLimiter(THREADS)
        self.showing = anyio.CapacityLimiter(THREADS)

    def guarded(self, token: str, port: int) -> ASGIApp:
        """The app as a server runs it."""
        routes = [
            Route(f"/{name}", _safe(self._page(made), refused_page)) for name, made in PAGES.items()
        ]
        routes += [
            Route(f"/{name}", _safe(self._answer(made), refused), methods=["POST"])
            for name, made in ANSWERS.items()
        ]
        routes += [
            Route("/upload", _safe(self.upload, refused), methods=["POST"]),
            Route("/fit", _safe(self.fit, refused), methods=["POST"]),
            Route("/result", _safe(self.result, refused_page)),
            Route("/file", _safe(self.file, refused_page)),
            Route("/report", _safe(self.report, refused_page)),
            Route("/{name}", _safe(self.asset, refused_page)),
        ]  # fmt: skip
        return Guard(Starlette(routes=routes), token, port)

    async def in_thread(self, work: Callable[..., Made], *given: Any) -> Made:
        """`work` in a thread; a server that ends does not wait for it."""
        return await anyio.to_thread.run_sync(
            lambda: work(*given), limiter=self.showing, abandon_on_cancel=True
        )

    async def in_turn(self, request: Request, work: Callable[..., Made], *given: Any) -> Made:
        """The same for what may take long, and only if somebody still waits for it then."""
        async with self.answering:
            if await request.is_disconnected():
                raise ClientDisconnect
            return await anyio.to_thread.run_sync(lambda: work(*given), abandon_on_cancel=True)

    def _page(self, made: Callable[[Desk, str], Page]) -> Handler:
        def page(known: str) -> str:
            with hearing() as warnings:
                found = made(self.desk, known)
            told = sentences(list(dict.fromkeys(warnings)), "warning")
            return whole_page(found).replace("</main>", f"{told}</main>", 1)

        async def handler(request: Request) -> Response:
            return HTMLResponse(await self.in_thread(page, _id(request)))

        return handler

    def _answer(self, made: Callable[[Desk, str, Fields], str | Go]) -> Handler:
        def answer(known: str, fields: Fields) -> str | Go:
            with hearing() as warnings:
                found = made(self.desk, known, fields)
            told = sentences(list(dict.fromkeys(warnings)), "warning")
            return found if isinstance(found, Go) else found + told

        async def handler(request: Request) -> Response:
            fields = Fields.of(await _body(request))
            found = await self.in_turn(request, answer, _id(request), fields)
            return _gone(found) if isinstance(found, Go) else HTMLResponse(found)

        return handler

    async def upload(self, request: Request) -> Response:
        """A file of the browser's machine, read in pieces."""
        name = request.query_params.get("name", "")
        limit = self.desk.upload_limit
        upload = await received(request.stream(), name, self.desk.scratch, limit)
        return _gone(await self.in_thread(open_upload, self.desk, upload))

    async def fit(self, request: Request) -> Response:
        """A fit, told of for as long as the browser listens."""
        fields = Fields.of(await _body(request))
        reading = self.desk.library.readings.get(_id(request))
        ask = await self.in_thread(asked_fit, reading, fields)
        self.fits.refuse_more()
        child = await self.in_thread(self.fits.start, self.desk, reading, ask)
        return FitResponse(self.desk, self.fits, reading, child)

    async def result(self, request: Request) -> Response:
        """A table that was shown, as CSV."""
        result = self.desk.library.results.get(_id(request))
        content = await self.in_thread(result.table.write_csv)
        return Response(content, media_type="text/csv", headers=_as_file(f"{result.name}.csv"))

    async def file(self, request: Request) -> Response:
        """A model file."""
        model = self.desk.library.models.get(_id(request))
        return FileResponse(
            model.file, media_type="application/octet-stream", headers=_as_file("model.dgd")
        )

    async def report(self, request: Request) -> Response:
        """The report, as a file that needs nothing but itself."""
        model = self.desk.library.models.get(_id(request))
        page = await self.in_turn(request, report_of, model)
        return Response(page, media_type="text/html", headers=_as_file("report.html"))

    async def asset(self, request: Request) -> Response:
        """A script or a style."""
        found = await run_in_threadpool(script_or_style, request.path_params["name"])
        if found is None:
            return HTMLResponse(refused_page("There is no such page."), 404)
        content, kind = found
        return Response(content, media_type=kind)


def _safe(handler: Handler, shown: Callable[[str], str]) -> Handler:
    """Whatever goes wrong in one request is said there, and the server goes on."""

    async def safe(request: Request) -> Response:
        try:
            return await handler(request)
        except DGDError as error:
            return HTMLResponse(shown(sentence(in_form_words(str(error)))), REFUSED)
        except ClientDisconnect:
            return Response(status_code=NOBODY)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            return HTMLResponse(shown(UNEXPECTED), 500)

    return safe


def _id(request: Request) -> str:
    return request.query_params.get("id", "")


async def _body(request: Request) -> bytes:
    """A form, refused as soon as it is longer than any form of the app."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST_FORM:
            raise InputError("this is more than a form of the app sends; load the page again.")
    return body


def _gone(go: Go) -> Response:
    return JSONResponse({"go": go.address, **go.facts})


def _as_file(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def warm_up() -> None:
    """Have the drawing library ready before the first page asks for it."""
    threading.Thread(target=script_or_style, args=("vega.js",), daemon=True).start()
