"""Anthropic's small calls: token counts and models."""

from collections.abc import Sequence
from typing import Any

from aiohttp import web

from batchwork.simulator.anthropic.generations import IDS, generation_of
from batchwork.simulator.anthropic.parse import parse_messages
from batchwork.simulator.anthropic.wire import AnthropicWire
from batchwork.simulator.bodies import decoded, parsed
from batchwork.simulator.errors import Refused
from batchwork.simulator.live import LiveCalls
from batchwork.simulator.world import World

_HIGHEST_LIMIT = 1000


class AnthropicEndpoints:
    """`count_tokens` and `models`."""

    def __init__(self, world: World, wire: AnthropicWire, calls: LiveCalls) -> None:
        self._world = world
        self._wire = wire
        self._calls = calls

    async def count_tokens(self, request: web.BaseRequest) -> web.Response:
        """`POST /v1/messages/count_tokens`: free, and not in the log of model calls."""
        self._world.log.note("count_tokens")
        version = self._wire.authorize(request.headers)
        body, beta = decoded(await request.read()), "anthropic-beta" in request.headers
        prompt = parsed(lambda: parse_messages(body, version, beta=beta, counting=True))
        return self._calls.answer({"input_tokens": prompt.input_tokens})

    async def models(self, request: web.BaseRequest) -> web.Response:
        """`GET /v1/models`."""
        self._world.log.note("models")
        self._wire.authorize(request.headers)
        return self._calls.answer(page([model_of(name) for name in IDS], request))

    async def model(self, request: web.BaseRequest, name: str) -> web.Response:
        """`GET /v1/models/{id}`: any id is a model here."""
        self._world.log.note("models")
        self._wire.authorize(request.headers)
        return self._calls.answer(model_of(name))


def model_of(name: str) -> dict[str, Any]:
    """One model object."""
    takes = generation_of(name)
    supported = ("batch", "citations", "structured_outputs", "pdf_input", "image_input", "code_execution")
    capabilities: dict[str, Any] = {word: {"supported": True} for word in supported}
    capabilities["context_management"] = {"supported": False}
    capabilities["thinking"] = {
        "supported": True,
        "types": {"adaptive": {"supported": True}, "enabled": {"supported": takes.thinking_enabled}},
    }
    capabilities["effort"] = {"supported": True} | {
        level: {"supported": True} for level in ("low", "medium", "high", "xhigh", "max")
    }
    return {
        "type": "model",
        "id": name,
        "display_name": f"Simulated {name}",
        "created_at": "2026-01-01T00:00:00Z",
        "max_input_tokens": 1_000_000,
        "max_tokens": 64_000,
        "lifecycle": "active",
        "deprecated_at": None,
        "retires_at": None,
        "line": name.split("-")[1] if name.count("-") else name,
        "capabilities": capabilities,
    }


def page(items: Sequence[dict[str, Any]], request: web.BaseRequest) -> dict[str, Any]:
    """A page of a list: `limit`, `after_id` and `before_id`.

    Raises:
        Refused: a limit out of range, or a cursor that is not in the list.
    """
    query = request.rel_url.query
    limit = _limit(query.get("limit", "20"))
    ids = [item["id"] for item in items]
    start, end = 0, len(items)
    for name in ("after_id", "before_id"):
        if (cursor := query.get(name)) is None:
            continue
        if cursor not in ids:
            raise Refused(400, f"{name}: '{cursor}' is not in this list")
        if name == "after_id":
            start = ids.index(cursor) + 1
        else:
            end = ids.index(cursor)
            start = max(start, end - limit)
    data = list(items[start : min(end, start + limit)])
    more = start + limit < end if "before_id" not in query else start > 0
    first, last = (data[0]["id"], data[-1]["id"]) if data else (None, None)
    return {"data": data, "has_more": more, "first_id": first, "last_id": last}


def _limit(text: str) -> int:
    limit = int(text) if text.isdigit() else 0
    if not 1 <= limit <= _HIGHEST_LIMIT:
        raise Refused(400, f"limit: Input should be between 1 and {_HIGHEST_LIMIT}")
    return limit
