"""The web application of a viewer: loopback only, a token in every address, nothing from anywhere else.

Who may look: whoever has the token that the address holds, under a name of this machine (a page in a browser can reach
loopback under a name of its own). Every response forbids what a page could load, and that others frame or read it.
"""

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler

from batchwork.clock import SystemClock
from batchwork.core.dsn import name_of
from batchwork.core.errors import BatchworkError, ConfigError
from batchwork.view.document_page import document_page, image_of, page_png
from batchwork.view.item_page import item_page
from batchwork.view.items_page import FORMATS, items_page, neighbours, write_selection
from batchwork.view.pages import HERE, items_values, render
from batchwork.view.run_figures import RunPage
from batchwork.view.run_page import as_json, run_page
from batchwork.view.selection import Selection, selection_of
from batchwork.view.watch import JournalWatch

_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_STILL_THERE_S = 15.0
_MANY = 100_000  # items: the page about a run of more is made while the one before is shown
_FAREWELLS, _FAREWELL_S = 8, 0.25
T = TypeVar("T")
_log = logging.getLogger(__name__)


class ViewApp:
    """The pages of one journal under one token."""

    def __init__(self, watch: JournalWatch, token: str) -> None:
        self._watch = watch
        self._token = token
        self._base = f"/{token}"
        self._clock = SystemClock()
        self._closing = asyncio.Event()
        self._kept: tuple[int, RunPage] | None = None  # the page about the run, and the version it is of
        self._making: asyncio.Task[RunPage] | None = None
        self._made_anew = 0
        self._news: set[asyncio.Event] = set()  # of the pages that are open
        self.application = web.Application(middlewares=[self._guard])
        self.application.on_shutdown.append(self._shut_down)
        number, document = r"{place:\d{1,9}}", r"{document:\d{1,4}}"
        for path, handler in (
            ("/", self._run),
            ("/run.json", self._run),
            ("/items", self._items),
            ("/items.json", self._items_json),
            (rf"/items.{{format:{'|'.join(FORMATS)}}}", self._download),
            (f"/items/{number}", self._item),
            (f"/items/{number}.json", self._item_json),
            (f"/items/{number}/documents/{document}", self._document),
            (f"/items/{number}/documents/{document}.json", self._document),
            (f"/items/{number}/documents/{document}/page-{{page:\\d{{1,6}}}}.png", self._picture),
            (f"/items/{number}/documents/{document}/image", self._image),
            ("/events", self._events),
            ("/{name:view\\.(?:css|js)}", self._static),
        ):
            self.application.router.add_get(f"/{{token}}{path}", handler)

    @property
    def _version(self) -> str:
        """Changes when an open page has something new to show."""
        return f"{self._watch.version}.{self._made_anew}"

    async def farewell(self) -> None:
        """Give the pages that are open a moment to show the end of a run."""
        for _ in range(_FAREWELLS):
            if self._news:
                await self._clock.sleep(_FAREWELL_S)

    async def _shut_down(self, _: web.Application) -> None:
        self._closing.set()

    # -- who may look ---------------------------------------------------------------------------

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Check the host and the token before anything else; errors leave as pages."""
        host = request.headers.get("Host", "").rpartition(":")[0] or request.headers.get("Host", "")
        if host.lower() not in _NAMES:
            return self._plain(403, "This viewer answers to 127.0.0.1 and localhost only.")
        token = request.path.split("/")[1]
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return self._plain(404, "There is nothing here. The address that `batchwork view` printed has a token.")
        try:
            response = await handler(request)
        except web.HTTPException as error:
            response = self._message(error.status, error.reason, "There is nothing at this address.")
        except BatchworkError as error:
            response = self._message(400, "That cannot be shown", str(error))
        except Exception:  # the process edge: logged, answered, and the viewer goes on
            _log.exception("a page could not be made")
            response = self._message(500, "A defect of the viewer", "The terminal that it was started in says more.")
        if not response.prepared:
            response.headers.update(_HEADERS)
        return response

    def _plain(self, status: int, text: str) -> web.Response:
        return web.Response(status=status, text=text + "\n", headers=_HEADERS)

    # -- pages ----------------------------------------------------------------------------------

    def _page(self, template: str, section: str, *, status: int = 200, **values: Any) -> web.Response:
        journal = self._watch.journal
        known: dict[str, Any] = {
            "base": self._base,
            "journal": str(journal),
            "name": name_of(journal),
            "section": section,
        }
        known |= {"is_live": True, "to": self._base.__add__, "version": self._version}
        return web.Response(text=render(template, **known, **values), content_type="text/html", status=status)

    def _message(self, status: int, title: str, text: str) -> web.Response:
        return self._page("message.html", "", status=status, title=title, text=text)

    def _shown(self, request: web.Request, page: Any, template: str, **values: Any) -> web.Response:
        """A page's figures as a page, or at an address that ends in .json as they are."""
        if request.path.endswith(".json"):
            return web.Response(body=as_json(page), content_type="application/json")
        return self._page(f"{template}.html", "run" if template == "run" else "items", page=page, **values)

    async def _made(self, make: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """What a page is made from, in a thread: reading a journal may take a moment."""
        return await asyncio.to_thread(make, self._watch, *arguments, **options)

    async def _run(self, request: web.Request) -> web.Response:
        return self._shown(request, await self._run_page(), "run")

    async def _run_page(self) -> RunPage:
        """The figures of the run; those of one that has ended stay true until there is news.

        Very many items take a moment: the page that is there is shown, and whoever looks on is told of the next one.
        """
        version, kept = self._kept or (-1, None)
        if kept is not None and version == self._watch.version and kept.state != "running":
            return kept
        if kept is None or kept.read <= _MANY:
            return await self._make_run_page()
        if self._making is None or self._making.done():
            self._making = asyncio.create_task(self._make_run_page())
            self._making.add_done_callback(_log_failure)
        return kept

    async def _make_run_page(self) -> RunPage:
        version, before = self._watch.version, self._kept
        page = await self._made(run_page, now=self._clock.utc())
        self._kept = (version, page)
        if page.read > _MANY and before is not None and before[0] != version:
            self._made_anew += 1
            for news in self._news:
                news.set()
        return page

    async def _items(self, request: web.Request) -> web.Response:
        try:
            selection, error = _selection(request), None
        except ConfigError as problem:
            selection, error = Selection(), str(problem)
        page = await self._made(items_page, selection)
        status = 200 if error is None else 400
        values = items_values(selection, self._base)
        return self._page("items.html", "items", status=status, page=page, error=error, **values)

    async def _items_json(self, request: web.Request) -> web.Response:
        return self._shown(request, await self._made(items_page, _selection(request)), "items")

    async def _item(self, request: web.Request) -> web.Response:
        selection = _selection(request)
        page = _there(await self._made(item_page, int(request.match_info["place"])))
        before, behind = await self._made(neighbours, selection, page.item)
        return self._shown(request, page, "item", before=before, behind=behind, selection=selection)

    async def _item_json(self, request: web.Request) -> web.Response:
        return self._shown(request, _there(await self._made(item_page, int(request.match_info["place"]))), "item")

    async def _document(self, request: web.Request) -> web.Response:
        return self._shown(request, _there(await self._made(document_page, *_document(request))), "document")

    async def _picture(self, request: web.Request) -> web.Response:
        page = int(request.match_info["page"])
        png = _there(await self._made(page_png, *_document(request), page))
        return web.Response(body=png, content_type="image/png")

    async def _image(self, request: web.Request) -> web.Response:
        data, media_type = _there(await self._made(image_of, *_document(request)))
        if media_type not in _IMAGES:
            raise web.HTTPNotFound
        return web.Response(body=data, content_type=media_type)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        kind = request.match_info["format"]
        with TemporaryDirectory(prefix="batchwork-view-") as folder:
            path = Path(folder) / f"items.{kind}"
            await self._made(write_selection, _selection(request), path)
            return await _send_file(request, path, _TYPES[kind])

    async def _static(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        content = await asyncio.to_thread((HERE / name).read_bytes)
        kind = "text/css" if name.endswith(".css") else "text/javascript"
        return web.Response(body=content, content_type=kind, charset="utf-8")

    # -- what is live ---------------------------------------------------------------------------

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Tell a page that there is news, for as long as it is open."""
        response = web.StreamResponse(headers=_HEADERS | {"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        loop, news = asyncio.get_running_loop(), asyncio.Event()
        self._news.add(news)
        forget = self._watch.listen(partial(loop.call_soon_threadsafe, news.set))
        still = ""  # a run that waits has no news, but its rate and its end in sight change
        try:
            while not self._closing.is_set():
                news.clear()
                await response.write(f"data: {self._version}{still}\n\n".encode())
                await _first_of(news.wait(), self._closing.wait(), timeout_s=_STILL_THERE_S)
                still += "." if not news.is_set() and self._watch.is_written else ""
        except ConnectionError:
            pass  # the page was closed
        finally:
            forget()
            self._news.discard(news)
        return response


def _selection(request: web.Request) -> Selection:
    return selection_of({name: request.query.getall(name) for name in request.query})


def _document(request: web.Request) -> tuple[int, int]:
    return int(request.match_info["place"]), int(request.match_info["document"])


def _there(found: T | None) -> T:
    """What was asked for, or the answer that there is no such thing."""
    if found is None:
        raise web.HTTPNotFound
    return found


def _log_failure(task: asyncio.Task[RunPage]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("the page about the run could not be made", exc_info=error)


async def _first_of(*waits: Awaitable[Any], timeout_s: float) -> None:
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


async def _send_file(request: web.Request, path: Path, content_type: str) -> web.StreamResponse:
    """Send a file that is gone afterwards."""
    own = {"Content-Type": content_type, "Content-Disposition": f'attachment; filename="{path.name}"'}
    response = web.StreamResponse(headers=_HEADERS | own)
    await response.prepare(request)
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, 1 << 18):
            await response.write(piece)
    await response.write_eof()
    return response
