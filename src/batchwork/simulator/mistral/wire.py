"""Mistral's chat completions as the live path sees them, OpenAI's but for whose they are; the pages of its lists."""

from collections.abc import Mapping
from typing import Any

from batchwork.simulator.errors import Refused
from batchwork.simulator.openai.render import error_of
from batchwork.simulator.openai.service import SERVICES
from batchwork.simulator.openai.wire import CHAT, OpenAIWire
from batchwork.simulator.providers import MISTRAL
from batchwork.simulator.world import World


def flat_error(refused: Refused, request_id: str = "") -> dict[str, Any]:
    """The error, which stands in no envelope."""
    return {"object": "error", **error_of(refused, request_id)["error"]}


class MistralWire(OpenAIWire):
    """`POST /v1/chat/completions` of Mistral."""

    provider = MISTRAL
    request_id_header = "mistral-correlation-id"
    error = staticmethod(flat_error)

    def __init__(self, world: World, path: str = CHAT) -> None:
        super().__init__(world, path, SERVICES["mistral"])

    def page(self, items: list[dict[str, Any]], query: Mapping[str, str]) -> dict[str, Any]:
        """A page of the list of jobs: `page`, from 0, and `page_size`; newest first only where it is asked for so."""
        number, size = (int(text) if (text := query.get(name, usual)).isdigit() else 0
                        for name, usual in (("page", "0"), ("page_size", "100")))  # fmt: skip
        items = items if query.get("order_by") == "-created" else items[::-1]
        return {"object": "list", "data": items[number * size : (number + 1) * size], "total": len(items)}
