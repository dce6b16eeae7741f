"""OpenAI's chat completions and responses as the live path sees them, and the pages of its lists."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec
from multidict import CIMultiDict

from batchwork.simulator.bill import Usage
from batchwork.simulator.bodies import bearer
from batchwork.simulator.errors import Refused
from batchwork.simulator.openai.embeddings import embeddings_of, parse_embeddings
from batchwork.simulator.openai.parse import bad, parse_chat, parse_responses
from batchwork.simulator.openai.render import chat_events, chat_of, error_of, limit_headers, response_of
from batchwork.simulator.openai.service import Service
from batchwork.simulator.prompt import Answer, Prompt
from batchwork.simulator.providers import OPENAI
from batchwork.simulator.wire import Wire
from batchwork.simulator.world import World

CHAT, RESPONSES, EMBEDDINGS = "/v1/chat/completions", "/v1/responses", "/v1/embeddings"
_HOME = Service()
_CALLS: dict[str, tuple[Callable[..., Prompt], Callable[..., dict[str, Any]], str]] = {
    CHAT: (parse_chat, chat_of, "chatcmpl-sim"),
    RESPONSES: (parse_responses, response_of, "resp_sim"),
    EMBEDDINGS: (parse_embeddings, embeddings_of, "embd-sim"),
}


class OpenAIWire(Wire):
    """One of the model calls: chat completions, responses or embeddings, by `path`."""

    provider = OPENAI
    limited_as = "openai"
    jointly = True
    request_id_header = "x-request-id"
    error = staticmethod(error_of)

    def __init__(self, world: World, path: str = CHAT, service: Service = _HOME) -> None:
        self.path = path
        self.api = service.name
        self._service = service
        super().__init__(world)
        self._parse, self._whole, self._prefix = _CALLS[path]
        if path == EMBEDDINGS and service is not _HOME:
            self._parse = partial(parse_embeddings, elsewhere=True)

    def key_in(self, headers: Mapping[str, str]) -> str:
        """The key; some take it in a header of their own."""
        return bearer(headers) or (headers.get(self._service.key, "") if self._service.key is not None else "")

    def charged(self, prompt: Prompt) -> int:
        """The stated limit, or the input where that is more."""
        return max(prompt.input_tokens, prompt.max_tokens or 0)

    def limit_headers(self) -> CIMultiDict[str]:
        """The rate-limit family."""
        return limit_headers(self.limits)

    def error_event(self) -> bytes:
        """An error that comes after the 200."""
        return b"data: " + msgspec.json.encode(error_of(OPENAI.fault("500"))) + b"\n\n"

    def limited(self, what: str, wait_s: float) -> Refused:
        """A refusal by the rate limit."""
        message = f"Rate limit reached on {what} per min. Please try again in {wait_s:.3f}s."
        return Refused(429, message, type=what, code="rate_limit_exceeded", retry_after_s=wait_s)

    def model(self, name: str) -> dict[str, Any]:
        """One model object."""
        return {"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "simulator"}

    def models(self, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002 - it is not paged
        """The list of models."""
        return {"object": "list", "data": [self.model(name) for name in self.provider.models]}

    def page(self, items: list[dict[str, Any]], query: Mapping[str, str]) -> Any:
        """A page of a list of batches."""
        if self._service.bare_list:
            return items
        if not self._service.cursor:
            return {"object": "list", "data": items}
        return cursor_page(items, query, default=20, most=100)

    def parse(self, headers: Mapping[str, str], body: Any, model: str = "") -> Prompt:  # noqa: ARG002
        """The prompt of a live call."""
        return self._parse(body, self._world.config.default_tier)

    def answer(
        self, prompt: Prompt, answer: Answer, usage: Usage, number: int, batched_at: float | None = None
    ) -> dict[str, Any]:
        """The whole body; `batched_at` is when its batch had it."""
        created = int(self._world.clock.now() if batched_at is None else batched_at)
        return self._whole(prompt, answer, usage, f"{self._prefix}{number:08d}", created)

    def events(self, prompt: Prompt, body: dict[str, Any]) -> Iterator[bytes]:
        """The body as events; only chat completions are streamed."""
        return chat_events(body, with_usage=prompt.stream_usage)


def cursor_page(items: list[dict[str, Any]], query: Mapping[str, str], *, default: int, most: int) -> dict[str, Any]:
    """A page of a list: `limit` and `after`."""
    text = query.get("limit", str(default))
    limit = int(text) if text.isdigit() else 0
    if not 1 <= limit <= most:
        raise bad(f"limit must be between 1 and {most}, got {text}", "limit")
    start = 0
    after = query.get("after")
    if after:
        ids = [item["id"] for item in items]
        if after not in ids:
            raise bad(f"No such object: {after}", "after")
        start = ids.index(after) + 1
    data = items[start : start + limit]
    first, last = (data[0]["id"], data[-1]["id"]) if data else (None, None)
    return {"object": "list", "data": data, "has_more": start + limit < len(items), "first_id": first, "last_id": last}
