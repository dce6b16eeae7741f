"""Which call is this: the one table from method and path to who answers it, and the calls that no provider has."""

from typing import Any

import msgspec
from aiohttp import web

from batchwork.simulator.anthropic.table import anthropic_table
from batchwork.simulator.bedrock.wire import BedrockWire
from batchwork.simulator.calls import Calls, Handler
from batchwork.simulator.errors import SimulatorConfigError
from batchwork.simulator.faults import Faults
from batchwork.simulator.gemini.table import gemini_table
from batchwork.simulator.mistral.table import mistral_table
from batchwork.simulator.openai.service import SERVICES, Service
from batchwork.simulator.openai.table import openai_table
from batchwork.simulator.table import Table
from batchwork.simulator.world import World

_PREFIXES = ("/anthropic", "/openai")


class Routes:
    """Dispatches every request of one simulator."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._anthropic, self._openai = anthropic_table(world), openai_table(world, Service())
        converse = Calls(world, BedrockWire(world))
        self._tables = {
            **{name: openai_table(world, service) for name, service in SERVICES.items() if name != "mistral"},
            "bedrock": Table(converse, {"POST /model/([^/]+)/converse": converse}),
            "gemini": gemini_table(world),
            "mistral": mistral_table(world),
        }
        oracle = Oracle(world)
        self._exact: dict[str, Handler] = {
            "POST /v1/messages": self._anthropic.calls,
            "POST /v1/chat/completions": self._openai.calls,
            "GET /_sim/log": oracle.log,
            "POST /_sim/reset": oracle.reset,
            "POST /_sim/advance": oracle.advance,
            "GET /_sim/faults": oracle.faults,
            "POST /_sim/faults": oracle.change_faults,
            "GET /": self._here,
        }

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request: of the hot path, of a service by the first word of its path, or of either of the two."""
        method, path = request.method, request.path.rstrip("/") or "/"
        if (handler := self._exact.get(f"{method} {path}")) is not None:
            return await handler(request)
        first, _, rest = path[1:].partition("/")
        if first in self._tables:
            return await self._tables[first](request, f"/{rest}")
        if "x-goog-api-key" in request.headers:
            return await self._tables["gemini"](request, path)
        for prefix in _PREFIXES:
            path = path.removeprefix(prefix) or "/"
        headers, both = request.headers, (self._openai, self._anthropic)
        if "anthropic-version" in headers or "/messages" in path or "x-api-key" in headers:
            both = (self._anthropic, self._openai)  # whose call it is where both have the path
        return await next((table for table in both if table.has(method, path)), both[0])(request, path)

    async def _here(self, request: web.BaseRequest) -> web.Response:
        self._world.log.note(f"{request.method} /")
        return web.Response(text="batchwork simulator: a provider on loopback; every answer is simulated\n")


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
