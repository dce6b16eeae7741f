"""Gemini's `generateContent` as the live path sees it, and the pages of its lists."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from batchwork.simulator.bill import Usage
from batchwork.simulator.errors import Refused, refuse_if
from batchwork.simulator.gemini.parse import parse_generate
from batchwork.simulator.gemini.render import answer_of, error_of, events_of, model_of
from batchwork.simulator.prompt import Answer, Prompt
from batchwork.simulator.providers import GEMINI
from batchwork.simulator.wire import Wire
from batchwork.simulator.world import World


class GeminiWire(Wire):
    """`POST /v1/models/{model}:generateContent`, whole or streamed."""

    api = "google"
    limited_as = "gemini"
    path = "/v1/models/{model}:generateContent"
    provider = GEMINI
    request_id_header = "x-goog-request-id"
    error = staticmethod(error_of)

    def __init__(self, world: World, *, stream: bool = False) -> None:
        super().__init__(world)
        self._stream = stream

    def key_in(self, headers: Mapping[str, str]) -> str:
        """The key."""
        return headers.get("x-goog-api-key", "")

    def parse(self, headers: Mapping[str, str], body: Any, model: str = "") -> Prompt:  # noqa: ARG002
        """The prompt of a live call."""
        prompt = parse_generate(body, model)
        return msgspec.structs.replace(prompt, stream=True) if self._stream else prompt

    def served(self, prompt: Prompt) -> dict[str, str]:
        """The headers that say how a call was served."""
        return {"x-gemini-service-tier": prompt.lane}

    def limited(self, what: str, wait_s: float) -> Refused:
        """A refusal by the rate limit."""
        code = "GenerateRequestsPerMinutePerProjectPerModel" if what == "requests" else "InputTokensPerModelPerMinute"
        message = f"You exceeded your current quota, please check your plan and billing details. {what} per minute"
        return Refused(429, message, type="RESOURCE_EXHAUSTED", code=code, retry_after_s=wait_s)

    def error_headers(self, refused: Refused) -> dict[str, str]:  # noqa: ARG002
        """None: the wait stands in the body."""
        return {}

    def answer(
        self, prompt: Prompt, answer: Answer, usage: Usage, number: int, batched_at: float | None = None
    ) -> dict[str, Any]:
        """The whole body."""
        del batched_at
        return answer_of(prompt, answer, usage, number)

    def events(self, prompt: Prompt, body: dict[str, Any]) -> Iterator[bytes]:  # noqa: ARG002 - all is in the body
        """The body as events."""
        return events_of(body)

    def error_event(self) -> bytes:
        """An error that comes after the 200."""
        return b"data: " + msgspec.json.encode(error_of(GEMINI.fault("503"))) + b"\r\n\r\n"

    def model(self, name: str) -> dict[str, Any]:
        """One model object."""
        return model_of(name)

    def models(self, query: Mapping[str, str]) -> dict[str, Any]:
        """The list of models."""
        return self.page([model_of(name) for name in GEMINI.models], query, "models")

    def page(self, items: list[dict[str, Any]], query: Mapping[str, str], name: str = "operations") -> dict[str, Any]:
        """A page of a list: `pageSize` and `pageToken`; an empty list has no name, as no empty field has one."""
        size, token = query.get("pageSize", "50"), query.get("pageToken", "0")
        refuse_if(not size.isdigit() or not token.isdigit(), "Invalid page size or token.")
        start, end = int(token), int(token) + max(1, min(int(size), 1000))
        page: dict[str, Any] = {name: items[start:end]} if items[start:end] else {}
        return page | ({"nextPageToken": str(end)} if end < len(items) else {})
