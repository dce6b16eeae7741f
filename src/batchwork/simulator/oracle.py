"""The calls no provider has: look into the log, start again, change the faults, let time pass."""

from typing import Any

import msgspec
from aiohttp import web

from batchwork.simulator import delivery
from batchwork.simulator.errors import SimulatorConfigError
from batchwork.simulator.faults import Faults
from batchwork.simulator.world import World


class Oracle:
    """`/_sim/log`, `/_sim/reset`, `/_sim/faults`, `/_sim/advance`."""

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
        body = msgspec.json.decode(await request.read())
        self._world.clock.step(float(body["seconds"]))
        return _json({"now": self._world.clock.now()})

    async def show_faults(self, request: web.BaseRequest) -> web.Response:  # noqa: ARG002
        """The plan in force and what is queued."""
        return _json(self._faults())

    async def change_faults(self, request: web.BaseRequest) -> web.Response:
        """`{"rates": {"529": 0.1}, "next": {"create": ["reset_after"]}}`; `rates` replaces the plan."""
        body = msgspec.json.decode(await request.read())
        try:
            if "rates" in body:
                self._world.faults.replace(Faults.of(body["rates"]))
            for scope, kinds in body.get("next", {}).items():
                self._world.faults.queue(scope, kinds)
        except SimulatorConfigError as error:
            return _json({"error": str(error)}, 400)
        return _json(self._faults())

    def _faults(self) -> dict[str, Any]:
        desk = self._world.faults
        return {"rates": desk.plan.named(), "next": desk.queued()}


def _json(value: Any, status: int = 200) -> web.Response:
    return delivery.json_response(msgspec.json.encode(value), status)
