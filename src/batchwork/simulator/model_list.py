"""The calls about models of both wires; any id is a model here."""

from aiohttp import web

from batchwork.simulator.live_calls import LiveCalls, Wire
from batchwork.simulator.world import World


class ModelList:
    """`GET /v1/models` and `GET /v1/models/{id}` of one provider."""

    def __init__(self, world: World, wire: Wire, calls: LiveCalls) -> None:
        self._world = world
        self._wire = wire
        self._calls = calls

    async def __call__(self, request: web.BaseRequest, name: str | None = None) -> web.Response:
        """One page of the list, or one model."""
        self._world.log.note("models")
        self._wire.authorize(request.headers)
        wire = self._wire
        return self._calls.answer(wire.models(request.rel_url.query) if name is None else wire.model(name))
