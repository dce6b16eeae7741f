"""The application: its handlers, and the parts it is made of while it is open."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from batchwork.clock import SystemClock, stopwatch
from batchwork.core.ports import Backend
from batchwork.prompts import open_prompt_service
from batchwork.server import day_page as day
from batchwork.server.admission import Admission, Lease, RequestResult, RequestRun
from batchwork.server.api import API, VERSION, ApiError
from batchwork.server.checker import ServerChecker
from batchwork.server.config import ServerConfig
from batchwork.server.connections import Connections
from batchwork.server.dispatcher import DOCS, Dispatcher, Handler, check_host
from batchwork.server.docs import docs_page
from batchwork.server.exchange import JSON, Exchange
from batchwork.server.loop_time import LoopTime
from batchwork.server.metrics import CONTENT_TYPE, ServerMetrics
from batchwork.server.openapi import openapi_json
from batchwork.server.responses import NDJSON, AnswerStream, respond_in_pieces
from batchwork.server.spans import traced
from batchwork.server.wire import PromptsAnswer, each_decoded, many_decoded, one_decoded
from batchwork.server.workers import Workers

_OPENAPI = "/openapi.json"
_SERVICE = {"service": "batchwork", "version": VERSION, "docs": DOCS, "openapi": _OPENAPI}
_encode = msgspec.json.Encoder().encode
_LONG = 1 << 16  # bytes of a body that wait for a turn with time for them


class Application:
    """One server's application. Requests can come while it is open."""

    def __init__(self, config: ServerConfig, *, backend: Backend | None = None) -> None:
        self.config = config
        self.metrics = ServerMetrics(utc=SystemClock().utc)
        self.loop_time = LoopTime()
        self.connections = Connections(config.connections, self.loop_time, on_dropped=self.metrics.dropped)
        self._backend = backend
        self._admission: Admission | None = None
        self._sessions, self._up_s = day.Sessions(), stopwatch()
        named: dict[str, Handler] = {
            "prompt": self._prompt,
            "prompts": self._prompts,
            "root": lambda exchange: exchange.respond(_encode(_SERVICE)),
            "health": lambda exchange: exchange.respond(_encode({"status": "ok", "version": VERSION})),
            "ready": self._ready,
            "metrics": lambda exchange: exchange.respond(self.metrics.exposition().encode(), CONTENT_TYPE),
        }
        handlers = {API.routes[name].path: (API.routes[name].method, handler) for name, handler in named.items()}
        handlers[_OPENAPI] = ("GET", lambda exchange: exchange.respond(openapi_json(config.served)))
        handlers[DOCS] = ("GET", self._docs)
        handlers |= {API.routes["root"].path: ("GET", self._root), day.SIGN_IN: ("POST", self._sign_in)}
        self.asgi = Dispatcher(handlers, config=config, metrics=self.metrics)

    @property
    def admission(self) -> Admission:
        """Where requests are admitted."""
        assert self._admission is not None, "the application is not open"
        return self._admission

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Open the engine behind the application; requests can come while the block runs. Raises as `serve` does."""
        config = self.config
        workers = Workers(config.work)
        checker = ServerChecker(workers, self.loop_time, config.schemas)
        async with open_prompt_service(
            config.model,
            models=config.models,
            max_in_flight=config.max_in_flight,
            max_cost=config.max_cost_per_day,
            book=config.budget_file if config.max_cost_per_day is not None else None,
            account=config.accounts,
            price=config.price,
            rpm=config.rpm,
            input_tpm=config.input_tpm,
            output_tpm=config.output_tpm,
            retries=config.retries,
            max_retry_time=config.max_retry_s,
            timeout=config.timeout_s,
            backend=self._backend,
            base_url=config.base_url,
            dress=lambda backend, model: checker.wrap(traced(backend, model)),
            checker=checker,
        ) as service:
            admission = Admission(service, config, self.metrics, loop_time=self.loop_time, workers=workers)
            self._admission = admission
            self.metrics.watch(service, lambda: admission.under_way, lambda: admission.quotas.prompts.used)
            try:
                yield
            finally:
                await workers.aclose()

    async def _prompt(self, exchange: Exchange) -> None:
        with Lease(self.admission.quotas, exchange.caller) as lease:
            _wants_stream(exchange.headers.get("accept", "*/*"))  # one answer is a line of its own either way
            body = await self._body(exchange, lease)
            prepared = await self.admission.phases.prepare([one_decoded(body, self.config.max_prompt_values)])
            if (problem := prepared[0].problem) is not None:  # among many it would be one item's error
                raise ApiError(problem.code, problem.message, where=problem.where or None)
            with self.admission.admit(prepared, caller=exchange.caller) as run:
                answer = (await self._run(run, exchange)).answers[0]
            if answer.error_code in ("over_budget", "shutting_down") and answer.latency_s is None:  # nothing was sent
                raise ApiError(answer.error_code, answer.error or "", retryable=answer.retryable)
            await respond_in_pieces(exchange, answer, lease)

    async def _prompts(self, exchange: Exchange) -> None:
        with Lease(self.admission.quotas, exchange.caller) as lease:
            is_stream = _wants_stream(exchange.headers.get("accept", "*/*"))
            body = many_decoded(await self._body(exchange, lease))
            prepared = await self.admission.phases.prepare(each_decoded(body, self.config.max_prompt_values))
            batch_size = None if body.batch_size is None else int(body.batch_size)
            del body
            admitted = self.admission.admit(prepared, batch_size, caller=exchange.caller)
            if is_stream:
                await AnswerStream(exchange, lease, self.loop_time).respond(admitted)
                return
            with admitted as run:
                result = await self._run(run, exchange)
            answer = PromptsAnswer(results=result.answers, summary=result.summary)
            await respond_in_pieces(exchange, answer, lease)

    async def _body(self, exchange: Exchange, lease: Lease) -> bytes:
        body = await exchange.body(self.config.max_body_bytes, lease.take_bytes)
        lease.begin()
        if len(body) > _LONG:
            await self.loop_time.wait()
        return body

    async def _run(self, run: RequestRun, exchange: Exchange) -> RequestResult:
        watch = exchange.watch_disconnect(run.leave)
        try:
            result = await run.run()
        finally:
            watch.cancel()
        exchange.log_fields |= result.log_fields
        return result

    async def _ready(self, exchange: Exchange) -> None:
        if self.admission.is_closed:
            raise ApiError("shutting_down", "the server is about to end")
        await exchange.respond(b'{"status":"ready"}')

    async def _root(self, exchange: Exchange) -> None:
        if not day.wants_page(exchange.headers.get("accept", "")):
            await exchange.respond(_encode(_SERVICE))
            return
        if self.config.keys and not self._sessions.knows(exchange.headers.get("cookie", "")):
            await exchange.respond(day.sign_in_page(), day.HTML, headers=day.day_headers())
            return
        if not self.config.keys:
            check_host(exchange)
        self.admission.service.turn_page()  # where nobody has asked since midnight
        page = day.day_page(self.admission.service, self.metrics, under_way=self.admission.under_way, up_s=self._up_s())
        await exchange.respond(page, day.HTML, headers=day.day_headers())

    async def _sign_in(self, exchange: Exchange) -> None:
        key = day.key_in(await exchange.form(day.LONGEST_FORM))
        if self.config.keys.number_of(key) is None:
            await exchange.respond(day.sign_in_page(is_wrong=True), day.HTML, status=403, headers=day.day_headers())
            return
        await exchange.respond(b"", day.HTML, status=303, headers=self._sessions.open())

    async def _docs(self, exchange: Exchange) -> None:
        # Where there are keys, the page is shown to those without one, and does not say which models there are.
        page = docs_page(() if self.config.keys else self.config.served, needs_key=bool(self.config.keys))
        await exchange.respond(page.body, "text/html; charset=utf-8", headers=page.headers)


def _wants_stream(accept: str) -> bool:
    """Whether the caller takes a stream of lines; JSON is what everybody else gets. ApiError: it takes neither."""
    kinds = {part.partition(";")[0].strip().lower() for part in accept.split(",")}
    if NDJSON in kinds:
        return True
    if kinds & {"*/*", "application/*", JSON, ""}:
        return False
    raise ApiError("not_acceptable", f"there is application/json and {NDJSON}")
