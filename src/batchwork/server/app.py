"""The application: its routes, and what holds it together while it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, asynccontextmanager
from functools import cached_property
from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from batchwork.core.ports import Backend
from batchwork.prompts import PreparedPrompt, open_prompt_service
from batchwork.server.config import ServerConfig
from batchwork.server.connections import Connections
from batchwork.server.desk import Ask, Desk, Taken
from batchwork.server.docs import docs_page
from batchwork.server.entrance import Entrance, visit_of
from batchwork.server.errors import ApiError
from batchwork.server.holdings import Holding
from batchwork.server.judge import Judge, caller
from batchwork.server.measures import Measures
from batchwork.server.metrics import CONTENT_TYPE
from batchwork.server.openapi import ROUTES, document
from batchwork.server.reading import read_body, watching
from batchwork.server.reporting import facts
from batchwork.server.streaming import NDJSON, AnswerStream, WholeAnswer
from batchwork.server.tracing import traced
from batchwork.server.turns import Turns
from batchwork.server.wire import PromptsAnswer, each_decoded, many_decoded, one_decoded
from batchwork.server.workers import Workers

_LONG = 1 << 16  # bytes of a body that wait for a turn with time for them
_encode = msgspec.json.Encoder().encode


class Door:
    """The application and the desk behind it, which is there while the door is open."""

    def __init__(self, config: ServerConfig, *, backend: Backend | None = None) -> None:
        self.config = config
        self.measures = Measures()
        self.turns = Turns()
        self.connections = Connections(config.connections, self.turns, on_dropped=self.measures.dropped)
        self._backend = backend
        self._desk: Desk | None = None
        self._api = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
        self._api.openapi = self._document  # type: ignore[method-assign]
        self._add_routes()
        # The entrance does what the framework's own layers do (errors, logs), so it stands right before the routes.
        self.app = Entrance(self._api, config=config, measures=self.measures)

    def _document(self) -> dict[str, Any]:
        return document((self.config.model, *self.config.models))

    @property
    def desk(self) -> Desk:
        """Where requests are taken on."""
        assert self._desk is not None, "the door is not open"
        return self._desk

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Desk]:
        """Open the engine behind the application; requests can come while the block runs.

        Raises:
            ConfigError: the model or the budget cannot be used.
            JournalError: the day's book cannot be used.
        """
        config = self.config
        workers = Workers(config.work)
        judge = Judge(workers, self.turns, config.schemas)
        async with open_prompt_service(
            config.model,
            models=config.models,
            max_in_flight=config.max_in_flight,
            max_cost=config.max_cost_per_day,
            book=config.budget_file if config.max_cost_per_day is not None else None,
            price=config.price,
            rpm=config.rpm,
            input_tpm=config.input_tpm,
            output_tpm=config.output_tpm,
            retries=config.retries,
            timeout=config.timeout_s,
            backend=self._backend,
            base_url=config.base_url,
            dress=lambda backend, model: judge.wrap(traced(backend, model)),
            checker=judge,
        ) as service:
            self._desk = Desk(service, config, self.measures, turns=self.turns, workers=workers)
            self.measures.watch(service, lambda: self.desk.under_way, lambda: self.desk.open_prompts)
            try:
                yield self._desk
            finally:
                await workers.aclose()

    def _add_routes(self) -> None:
        # Plain routes: bodies are read and checked by our own decoders, so nothing is left for dependencies to solve.
        handlers: dict[str, ASGIApp] = {
            "prompt": _PromptEndpoint(self, self._prompt),
            "prompts": _PromptEndpoint(self, self._prompts),
            "health": _Endpoint(self._health),
            "ready": _Endpoint(self._ready),
            "metrics": _Endpoint(self._metrics),
        }
        routes = [(ROUTES[name].path, ROUTES[name].method, endpoint) for name, endpoint in handlers.items()]
        routes += [("/docs", "GET", _Endpoint(self._docs)), ("/openapi.json", "GET", _Endpoint(self._openapi))]
        self._api.router.routes += [Route(path, endpoint, methods=[method]) for path, method, endpoint in routes]

    # -- prompts --------------------------------------------------------------------------------

    async def _prompt(self, request: Request, holding: Holding) -> Response:
        body = await self._body(request, holding)
        item = one_decoded(body, self.config.max_prompt_values)
        prepared = await self.desk.preparation.prepare([item], caller=holding.caller)
        _refuse_problem(prepared[0])
        with self.desk.taken_on(prepared, caller=holding.caller) as ask:
            taken = await self._run(ask, request)
        answer = taken.answers[0]
        if answer.error_code in ("over_budget", "shutting_down"):
            raise ApiError(answer.error_code, answer.error or "")
        return _held(_encode(answer), holding)

    async def _prompts(self, request: Request, holding: Holding) -> Response:
        streamed = _wants_stream(request.headers.get("accept", "*/*"))
        body = await self._body(request, holding)
        asked = many_decoded(body)
        items = each_decoded(asked, self.config.max_prompt_values)
        prepared = await self.desk.preparation.prepare(items, caller=holding.caller)
        batch_size = None if asked.batch_size is None else int(asked.batch_size)

        def take_on() -> AbstractContextManager[Ask]:
            return self.desk.taken_on(prepared, batch_size, caller=holding.caller)

        if streamed:
            return AnswerStream(take_on, holding, self.turns, log_text=self.config.log_text)
        with take_on() as ask:
            taken = await self._run(ask, request)
        return _held(_encode(PromptsAnswer(results=taken.answers, summary=taken.summary)), holding)

    async def _body(self, request: Request, holding: Holding) -> bytes:
        body = await read_body(request, self.config.max_body_bytes, holding.take_bytes)
        holding.begin()
        if len(body) > _LONG:
            await self.turns.wait()
        return body

    async def _run(self, ask: Ask, request: Request) -> Taken:
        async with watching(request.receive, ask.leave):
            taken = await ask.run()
        visit_of(request.scope).note(facts(taken, ask, log_text=self.config.log_text))
        return taken

    # -- about the server -----------------------------------------------------------------------

    async def _health(self, _: Request) -> Response:
        return _json(b'{"status":"ok"}')

    async def _ready(self, _: Request) -> Response:
        if self.desk.closing:
            raise ApiError("shutting_down", "the server is about to end")
        return _json(b'{"status":"ready"}')

    async def _metrics(self, _: Request) -> Response:
        return Response(self.measures.metrics.exposition(), media_type=CONTENT_TYPE)

    async def _docs(self, _: Request) -> Response:
        return Response(self._docs_body, media_type="text/html")

    async def _openapi(self, _: Request) -> Response:
        return _json(self._openapi_body)

    @cached_property
    def _docs_body(self) -> bytes:
        return docs_page(self._document()).encode()

    @cached_property
    def _openapi_body(self) -> bytes:
        return _encode(self._document())


class _Endpoint:
    """A handler as an application of its own: the router hands over, and nothing stands in between."""

    def __init__(self, handler: Callable[[Request], Awaitable[Response]]) -> None:
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._handler(Request(scope, receive))
        await response(scope, receive, send)


class _PromptEndpoint:
    """The same for requests that hold a share of the server, until their answer is sent."""

    def __init__(self, door: Door, handler: Callable[[Request, Holding], Awaitable[Response]]) -> None:
        self._door = door
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller.set(visit_of(scope).caller)
        with self._door.desk.holdings.request(visit_of(scope).caller) as holding:
            response = await self._handler(Request(scope, receive), holding)
            await response(scope, receive, send)


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def _held(body: bytes, holding: Holding) -> Response:
    """An answer that may be long and is held until it is read."""
    holding.add_bytes(len(body))
    return WholeAnswer(body)


def _wants_stream(accept: str) -> bool:
    """Whether the caller asked for a stream of lines; JSON is what everybody else gets.

    Raises:
        ApiError: it takes neither.
    """
    kinds = {part.partition(";")[0].strip().lower() for part in accept.split(",")}
    if NDJSON in kinds:
        return True
    if kinds & {"*/*", "application/*", "application/json", ""}:
        return False
    raise ApiError("not_acceptable", f"there is application/json and {NDJSON}")


def _refuse_problem(prompt: PreparedPrompt) -> None:
    """What is one item's error among many is the whole request's error when it is alone."""
    if prompt.problem is not None:
        raise ApiError(prompt.problem.code, prompt.problem.message, where=prompt.problem.where or None)
