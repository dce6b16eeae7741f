"""Which call is this: the one table from method and path to who answers it."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from batchwork.simulator.anthropic.batch_calls import MessageBatches
from batchwork.simulator.anthropic.endpoints import AnthropicEndpoints
from batchwork.simulator.anthropic.wire import AnthropicWire
from batchwork.simulator.errors import Refused
from batchwork.simulator.live import LiveCalls
from batchwork.simulator.openai.batch_calls import Batches
from batchwork.simulator.openai.endpoints import OpenAIEndpoints
from batchwork.simulator.openai.files import Files
from batchwork.simulator.openai.wire import ChatWire, ResponsesWire
from batchwork.simulator.oracle import Oracle
from batchwork.simulator.world import World

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
_PREFIXES = ("/anthropic", "/openai")


class Routes:
    """Dispatches every request of one simulator."""

    def __init__(self, world: World) -> None:
        anthropic_wire, chat_wire = AnthropicWire(world), ChatWire(world)
        self._messages = LiveCalls(world, anthropic_wire)
        self._chat = LiveCalls(world, chat_wire)
        self._anthropic = AnthropicEndpoints(world, anthropic_wire, self._messages)
        self._openai = OpenAIEndpoints(world, chat_wire, self._chat)
        self._message_batches = MessageBatches(world, anthropic_wire, self._messages)
        self._files = Files(world, chat_wire, self._chat)
        self._batches = Batches(world, chat_wire, self._chat, self._files)
        oracle = Oracle(world)
        self._world = world
        self._exact: dict[tuple[str, str], Handler] = {
            ("POST", "/v1/messages"): self._messages,
            ("POST", "/v1/chat/completions"): self._chat,
            ("POST", "/v1/responses"): LiveCalls(world, ResponsesWire(world)),
            ("POST", "/v1/messages/count_tokens"): self._anthropic.count_tokens,
            ("GET", "/v1/models"): self._models,
            ("POST", "/v1/messages/batches"): self._message_batches.create,
            ("GET", "/v1/messages/batches"): self._message_batches.listed,
            ("POST", "/v1/files"): self._files.upload,
            ("GET", "/v1/files"): self._files.listed,
            ("POST", "/v1/batches"): self._batches.create,
            ("GET", "/v1/batches"): self._batches.listed,
            ("GET", "/_sim/log"): oracle.log,
            ("POST", "/_sim/reset"): oracle.reset,
            ("POST", "/_sim/advance"): oracle.advance,
            ("GET", "/_sim/faults"): oracle.show_faults,
            ("POST", "/_sim/faults"): oracle.change_faults,
            ("HEAD", "/"): self._here,
            ("GET", "/"): self._here,
        }

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
            return await self._by_parts(request, method, path.strip("/").split("/"))
        except Refused as refused:
            self._world.log.note(f"{refused.status} {method} {path}")
            calls = self._messages if speaks_anthropic(request) else self._chat
            return calls.refusal(refused, self._world.next_number())

    async def _by_parts(self, request: web.BaseRequest, method: str, parts: list[str]) -> web.StreamResponse:
        match method, *parts:
            case "GET", "v1", "models", *names if names:
                whole = "/".join(names)
                return await (self._anthropic if speaks_anthropic(request) else self._openai).model(request, whole)
            case "GET", "v1", "messages", "batches", name:
                return await self._message_batches.retrieve(request, name)
            case "DELETE", "v1", "messages", "batches", name:
                return await self._message_batches.delete(request, name)
            case "POST", "v1", "messages", "batches", name, "cancel":
                return await self._message_batches.cancel(request, name)
            case "GET", "v1", "messages", "batches", name, "results":
                return await self._message_batches.results(request, name)
            case "GET", "v1", "batches", name:
                return await self._batches.retrieve(request, name)
            case "POST", "v1", "batches", name, "cancel":
                return await self._batches.cancel(request, name)
            case "GET", "v1", "files", name:
                return await self._files.retrieve(request, name)
            case "DELETE", "v1", "files", name:
                return await self._files.delete(request, name)
            case "GET", "v1", "files", name, "content":
                return await self._files.content(request, name)
        raise Refused(404, f"{method} /{'/'.join(parts)}: not found", type="not_found_error" if speaks_anthropic(request) else "invalid_request_error")  # fmt: skip # noqa: E501

    async def _here(self, request: web.BaseRequest) -> web.Response:
        self._world.log.note(f"{request.method} /")
        return web.Response(text="batchwork simulator: a provider on loopback; every answer is simulated\n")

    async def _models(self, request: web.BaseRequest) -> web.StreamResponse:
        return await (self._anthropic if speaks_anthropic(request) else self._openai).models(request)


def speaks_anthropic(request: web.BaseRequest) -> bool:
    """Whether a caller of a path that both providers have means Anthropic's."""
    return "anthropic-version" in request.headers or "/messages" in request.path or "x-api-key" in request.headers
