"""Which call is this: the one table from method and path to who answers it, and the calls that no provider has."""

import re
from typing import Any

import msgspec
from aiohttp import web

from batchwork.simulator.anthropic.batches import MessageBatches
from batchwork.simulator.anthropic.wire import AnthropicWire
from batchwork.simulator.bedrock.table import BedrockTable
from batchwork.simulator.bodies import decoded, parsed
from batchwork.simulator.calls import Calls, Handler
from batchwork.simulator.errors import Refused, SimulatorConfigError
from batchwork.simulator.faults import Faults
from batchwork.simulator.gemini.table import GeminiTable
from batchwork.simulator.mistral.table import MistralTable
from batchwork.simulator.openai.service import SERVICES, Service
from batchwork.simulator.openai.table import OpenAITable
from batchwork.simulator.world import World

_PREFIXES = ("/anthropic", "/openai")


Named = list[tuple[re.Pattern[str], Handler]]
_Table = BedrockTable | GeminiTable | MistralTable


class Routes:
    """Dispatches every request of one simulator."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._anthropic = AnthropicWire(world)
        openai = OpenAITable(world, Service())
        self._messages, self._chat = Calls(world, self._anthropic), openai.calls
        message_batches = MessageBatches(self._messages)
        anthropic = self._messages.handler
        self._services = {name: OpenAITable(world, service) for name, service in SERVICES.items() if name != "mistral"}
        oracle = Oracle(world)
        self._exact: dict[tuple[str, str], Handler] = {
            ("POST", "/v1/messages"): self._messages,
            ("POST", "/v1/messages/count_tokens"): self._count_tokens,
            ("GET", "/v1/models"): self._models,
            ("POST", "/v1/messages/batches"): message_batches.create,
            ("GET", "/v1/messages/batches"): anthropic("list", message_batches.listed),
            **openai.exact,
            ("GET", "/_sim/log"): oracle.log,
            ("POST", "/_sim/reset"): oracle.reset,
            ("POST", "/_sim/advance"): oracle.advance,
            ("GET", "/_sim/faults"): oracle.faults,
            ("POST", "/_sim/faults"): oracle.change_faults,
            ("GET", "/"): self._here,
        }
        named: dict[str, Handler] = {
            "GET /v1/models/(.+)": self._models,
            "GET /v1/messages/batches/([^/]+)": anthropic("poll", message_batches.retrieve),
            "DELETE /v1/messages/batches/([^/]+)": anthropic("cancel", message_batches.delete),
            "POST /v1/messages/batches/([^/]+)/cancel": anthropic("cancel", message_batches.cancel),
            "GET /v1/messages/batches/([^/]+)/results": anthropic("results", message_batches.results),
            **openai.named,
        }
        self._named = _compiled(named)
        self._tables: dict[str, _Table] = {
            "bedrock": BedrockTable(world),
            "gemini": GeminiTable(world),
            "mistral": MistralTable(world),
        }
        self._named_there = {name: _compiled(table.named) for name, table in self._tables.items()}

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        method, path = request.method, request.path
        handler = self._exact.get((method, path))
        if handler is self._messages or handler is self._chat:  # the hot path: these catch their own refusals
            return await handler(request)
        _, first, *rest = path.split("/", 2)
        if first in self._services and rest:
            return await self._services[first](request, f"/{rest[0]}")
        path = path.rstrip("/") or "/"
        if (owner := self._owner(request)) is not None:
            return await self._by_table(request, owner, path.removeprefix(f"/{owner}"))
        for prefix in _PREFIXES:
            path = path.removeprefix(prefix) or "/"
        handler = handler or self._exact.get((method, path))
        try:
            if handler is not None:
                return await handler(request)
            return await self._by_name(request, f"{method} /{path.strip('/')}", self._named)
        except Refused as refused:
            self._world.log.note(f"{refused.status} {method} {path}")
            return self._of(request).refusal(refused, self._world.next_number())

    def _owner(self, request: web.BaseRequest) -> str | None:
        """Whose table a call is in, by the first word of its path or by a header of Google's; None: the common one."""
        first = request.path[1:].partition("/")[0]
        return first if first in self._tables else "gemini" if "x-goog-api-key" in request.headers else None

    async def _by_table(self, request: web.BaseRequest, owner: str, path: str) -> web.StreamResponse:
        """Answer a call on a wire some of whose paths are others' too."""
        table = self._tables[owner]
        path = table.path(path)
        try:
            if request.method == "GET" and path.startswith("/v1/models"):
                return await self._models(request, path.removeprefix("/v1/models").strip("/") or None)
            return await self._by_name(request, f"{request.method} {path}", self._named_there[owner])
        except Refused as refused:
            self._world.log.note(f"{refused.status} {request.method} {path}")
            return table.calls.refusal(refused, self._world.next_number())

    async def _by_name(self, request: web.BaseRequest, call: str, named: Named) -> web.StreamResponse:
        for pattern, handler in named:
            if found := pattern.fullmatch(call):
                return await handler(request, *found.groups())
        raise Refused(404, f"{call}: not found")

    async def _count_tokens(self, request: web.BaseRequest) -> web.Response:
        """Free, and not in the log of model calls."""
        self._world.log.note("count_tokens")
        self._anthropic.authorize(request.headers)
        body = decoded(await request.read())
        prompt = parsed(lambda: self._anthropic.parse(request.headers, body, counting=True))
        return self._messages.answer({"input_tokens": prompt.input_tokens})

    async def _here(self, request: web.BaseRequest) -> web.Response:
        self._world.log.note(f"{request.method} /")
        return web.Response(text="batchwork simulator: a provider on loopback; every answer is simulated\n")

    async def _models(self, request: web.BaseRequest, name: str | None = None) -> web.StreamResponse:
        """The list of models, or one of them; any id is a model here."""
        calls = self._of(request)
        self._world.log.note("models")
        calls.wire.authorize(request.headers)
        return calls.answer(calls.wire.models(request.rel_url.query) if name is None else calls.wire.model(name))

    def _of(self, request: web.BaseRequest) -> Calls:
        """The provider that a caller means where both have the path."""
        if (owner := self._owner(request)) is not None:
            return self._tables[owner].calls
        headers = request.headers
        anthropic = "anthropic-version" in headers or "/messages" in request.path or "x-api-key" in headers
        return self._messages if anthropic else self._chat


def _compiled(named: dict[str, Handler]) -> Named:
    return [(re.compile(pattern), handler) for pattern, handler in named.items()]


class _Step(msgspec.Struct):
    """How far simulated time is moved on."""

    seconds: float


class _FaultChange(msgspec.Struct, forbid_unknown_fields=True):
    """Other faults: a plan that replaces the one in force, and single ones for the next calls of a scope."""

    rates: dict[str, float] | None = None
    next: dict[str, list[str]] = {}


class Oracle:
    """The calls no provider has: look into the log, start again, change the faults, let time pass."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def log(self, request: web.BaseRequest) -> web.Response:  # noqa: ARG002
        """Everything received, answered and billed."""
        return _json(await self._world.report())

    async def reset(self, request: web.BaseRequest) -> web.Response:  # noqa: ARG002
        """Back to the beginning."""
        self._world.reset()
        return _json({"reset": True})

    async def advance(self, request: web.BaseRequest) -> web.Response:
        """`{"seconds": N}`: let simulated time pass at once."""
        try:
            self._world.clock.step(msgspec.json.decode(await request.read(), type=_Step).seconds)
        except msgspec.DecodeError as error:
            return _json({"error": f'the body is {{"seconds": N}}: {error}'}, 400)
        return _json({"now": self._world.clock.now()})

    async def faults(self, request: web.BaseRequest) -> web.Response:  # noqa: ARG002
        """The plan in force and what is queued."""
        desk = self._world.faults
        return _json({"rates": desk.plan.named(), "next": desk.queued()})

    async def change_faults(self, request: web.BaseRequest) -> web.Response:
        """`{"rates": {"529": 0.1}, "next": {"create": ["reset_after"]}}`; `rates` replaces the plan."""
        try:
            change = msgspec.json.decode(await request.read(), type=_FaultChange)
            if change.rates is not None:
                self._world.faults.replace(Faults.of(change.rates))
            for scope, kinds in change.next.items():
                self._world.faults.queue(scope, kinds)
        except SimulatorConfigError as error:
            return _json({"error": str(error)}, 400)
        except msgspec.DecodeError as error:
            form = '{"rates": {"529": 0.1}, "next": {"create": ["503_after"]}}, each of the two or both'
            return _json({"error": f"the body is {form}: {error}"}, 400)
        return await self.faults(request)


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), status=status, content_type="application/json")
