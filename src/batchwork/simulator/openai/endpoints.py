"""OpenAI's small calls: models."""

from typing import Any

from aiohttp import web

from batchwork.simulator.live import LiveCalls
from batchwork.simulator.openai.wire import OpenAIWire
from batchwork.simulator.world import World


def _words(text: str) -> list[str]:
    return text.split()


IDS = _words(
    "gpt-6-astra gpt-6.1-sol gpt-6.1-terra gpt-6-sol gpt-6-luna gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna "
    "gpt-5.5 gpt-5.4 gpt-5.4-mini gpt-5.2 gpt-5 gpt-5-mini gpt-5-nano gpt-4o gpt-4o-mini gpt-4.1 "
    "gpt-4.1-mini"
)


class OpenAIEndpoints:
    """`models`."""

    def __init__(self, world: World, wire: OpenAIWire, calls: LiveCalls) -> None:
        self._world = world
        self._wire = wire
        self._calls = calls

    async def models(self, request: web.BaseRequest) -> web.Response:
        """`GET /v1/models`."""
        self._world.log.note("models")
        self._wire.authorize(request.headers)
        return self._calls.answer({"object": "list", "data": [model_of(name) for name in IDS]})

    async def model(self, request: web.BaseRequest, name: str) -> web.Response:
        """`GET /v1/models/{id}`: any id is a model here."""
        self._world.log.note("models")
        self._wire.authorize(request.headers)
        return self._calls.answer(model_of(name))


def model_of(name: str) -> dict[str, Any]:
    """One model object."""
    return {"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "simulator"}
