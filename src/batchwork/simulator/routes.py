"""Which call is this: the one table from method and path to who answers it."""

import re

from aiohttp import web

from batchwork.simulator.anthropic.batches import MessageBatches
from batchwork.simulator.anthropic.wire import AnthropicWire
from batchwork.simulator.errors import Refused
from batchwork.simulator.live_calls import LiveCalls
from batchwork.simulator.openai.batches import OpenAIBatches
from batchwork.simulator.openai.files import Files
from batchwork.simulator.openai.wire import ChatWire, ResponsesWire
from batchwork.simulator.oracle import Oracle
from batchwork.simulator.service_calls import Handler, ServiceCalls
from batchwork.simulator.world import World

_PREFIXES = ("/anthropic", "/openai")


class Routes:
    """Dispatches every request of one simulator."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._anthropic, self._openai = AnthropicWire(world), ChatWire(world)
        self._messages, self._chat = LiveCalls(world, self._anthropic), LiveCalls(world, self._openai)
        anthropic_service = ServiceCalls(world, self._anthropic, self._messages)
        openai_service = ServiceCalls(world, self._openai, self._chat)
        message_batches = MessageBatches(world, self._anthropic, self._messages, anthropic_service, "msgbatch_sim")
        files = Files(world, self._openai, self._chat, openai_service)
        batches = OpenAIBatches(world, self._openai, self._chat, openai_service, files)
        anthropic, openai = anthropic_service.handler, openai_service.handler
        oracle = Oracle(world)
        self._exact: dict[tuple[str, str], Handler] = {
            ("POST", "/v1/messages"): self._messages,
            ("POST", "/v1/chat/completions"): self._chat,
            ("POST", "/v1/responses"): LiveCalls(world, ResponsesWire(world)),
            ("POST", "/v1/messages/count_tokens"): self._count_tokens,
            ("GET", "/v1/models"): self._models,
            ("POST", "/v1/messages/batches"): message_batches.create,
            ("GET", "/v1/messages/batches"): anthropic("list", message_batches.listed),
            ("POST", "/v1/files"): files.upload,
            ("GET", "/v1/files"): openai("files", files.listed),
            ("POST", "/v1/batches"): batches.create,
            ("GET", "/v1/batches"): openai("list", batches.listed),
            ("GET", "/_sim/log"): oracle.log,
            ("POST", "/_sim/reset"): oracle.reset,
            ("POST", "/_sim/advance"): oracle.advance,
            ("GET", "/_sim/faults"): oracle.show_faults,
            ("POST", "/_sim/faults"): oracle.change_faults,
            ("GET", "/"): self._here,
        }
        named: dict[str, Handler] = {
            "GET /v1/models/(.+)": self._models,
            "GET /v1/messages/batches/([^/]+)": anthropic("poll", message_batches.retrieve),
            "DELETE /v1/messages/batches/([^/]+)": anthropic("cancel", message_batches.delete),
            "POST /v1/messages/batches/([^/]+)/cancel": anthropic("cancel", message_batches.cancel),
            "GET /v1/messages/batches/([^/]+)/results": anthropic("results", message_batches.results),
            "GET /v1/batches/([^/]+)": openai("poll", batches.retrieve),
            "POST /v1/batches/([^/]+)/cancel": openai("cancel", batches.cancel),
            "GET /v1/files/([^/]+)": openai("files", files.retrieve),
            "DELETE /v1/files/([^/]+)": openai("files", files.delete),
            "GET /v1/files/([^/]+)/content": openai("results", files.content, files.batch_of),
        }
        self._named = [(re.compile(pattern), handler) for pattern, handler in named.items()]

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        method, path = request.method, request.path
        handler = self._exact.get((method, path))
        if handler is self._messages or handler is self._chat:  # the hot path: these catch their own refusals
            return await handler(request)
        path = path.rstrip("/") or "/"
        for prefix in _PREFIXES:
            path = path.removeprefix(prefix) or "/"
        handler = handler or self._exact.get((method, path))
        try:
            if handler is not None:
                return await handler(request)
            return await self._by_name(request, f"{method} /{path.strip('/')}")
        except Refused as refused:
            self._world.log.note(f"{refused.status} {method} {path}")
            calls = self._messages if speaks_anthropic(request) else self._chat
            return calls.refusal(refused, self._world.next_number())

    async def _by_name(self, request: web.BaseRequest, call: str) -> web.StreamResponse:
        for pattern, handler in self._named:
            if found := pattern.fullmatch(call):
                return await handler(request, found[1])
        kind = "not_found_error" if speaks_anthropic(request) else "invalid_request_error"
        raise Refused(404, f"{call}: not found", type=kind)

    async def _count_tokens(self, request: web.BaseRequest) -> web.Response:
        return self._messages.answer(await self._anthropic.counted(request))

    async def _here(self, request: web.BaseRequest) -> web.Response:
        self._world.log.note(f"{request.method} /")
        return web.Response(text="batchwork simulator: a provider on loopback; every answer is simulated\n")

    async def _models(self, request: web.BaseRequest, name: str | None = None) -> web.StreamResponse:
        """The list of models, or one of them; any id is a model here."""
        anthropic = speaks_anthropic(request)
        wire, calls = (self._anthropic, self._messages) if anthropic else (self._openai, self._chat)
        self._world.log.note("models")
        wire.authorize(request.headers)
        return calls.answer(wire.models(request.rel_url.query) if name is None else wire.model(name))


def speaks_anthropic(request: web.BaseRequest) -> bool:
    """Whether a caller of a path that both providers have means Anthropic's."""
    return "anthropic-version" in request.headers or "/messages" in request.path or "x-api-key" in request.headers
