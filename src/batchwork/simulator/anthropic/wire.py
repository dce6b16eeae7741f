"""Anthropic's Messages call as the live path sees it, and the pages of its lists."""

from collections.abc import Iterator, Mapping
from typing import Any

from multidict import CIMultiDict

from batchwork.simulator.anthropic.models import model_of
from batchwork.simulator.anthropic.parse import VERSIONS, parse_messages
from batchwork.simulator.anthropic.render import error_of, event, events_of, limit_headers, message_of
from batchwork.simulator.bill import Usage
from batchwork.simulator.bodies import bearer
from batchwork.simulator.clock import real_s
from batchwork.simulator.errors import Refused, refuse_if
from batchwork.simulator.prompt import Answer, Prompt
from batchwork.simulator.providers import ANTHROPIC
from batchwork.simulator.wire import Wire

_HIGHEST_LIMIT = 1000


class AnthropicWire(Wire):
    """`POST /v1/messages`."""

    api = limited_as = "anthropic"
    path = "/v1/messages"
    provider = ANTHROPIC
    request_id_header = "request-id"
    error = staticmethod(error_of)

    def key_in(self, headers: Mapping[str, str]) -> str:
        """The key; `x-api-key` wins over a bearer token."""
        return headers.get("x-api-key") or bearer(headers)

    def authorize(self, headers: Mapping[str, str]) -> None:
        """Refuse a wrong key or version."""
        super().authorize(headers)
        version = headers.get("anthropic-version")
        if version is None:
            raise Refused(400, "anthropic-version: header is required")
        if version not in VERSIONS:
            raise Refused(400, f"anthropic-version: '{version}' is not a valid version")

    def parse(self, headers: Mapping[str, str], body: Any, model: str = "", *, counting: bool = False) -> Prompt:
        """The prompt of a live call."""
        del model  # it stands in the body
        beta = "anthropic-beta" in headers
        return parse_messages(body, headers["anthropic-version"], beta=beta, counting=counting)

    def produced(self, usage: Usage) -> None:
        """Output tokens count once they are produced."""
        self.limits.output.take(usage.output, real_s())

    def limit_headers(self) -> CIMultiDict[str]:
        """The rate-limit family."""
        return limit_headers(self.limits, self._world.clock.offset_s)

    def answer(
        self, prompt: Prompt, answer: Answer, usage: Usage, number: int, batched_at: float | None = None
    ) -> dict[str, Any]:
        """The whole body; `batched_at` is when its batch had it."""
        tier = "standard" if batched_at is None else "batch"
        return message_of(prompt, answer, usage, f"msg_sim{number:08d}", tier)

    def events(self, prompt: Prompt, body: dict[str, Any]) -> Iterator[bytes]:  # noqa: ARG002 - all is in the body
        """The body as events."""
        return events_of(body)

    def error_event(self) -> bytes:
        """An error that comes after the 200."""
        return event("error", {"error": {"type": "overloaded_error", "message": "Overloaded"}})

    def limited(self, what: str, wait_s: float) -> Refused:
        """A refusal by the rate limit."""
        message = f"This request would exceed your organization's rate limit of {what} per minute."
        return Refused(429, message, type="rate_limit_error", retry_after_s=wait_s)

    def model(self, name: str) -> dict[str, Any]:
        """One model object."""
        return model_of(name)

    def page(self, items: list[dict[str, Any]], query: Mapping[str, str]) -> dict[str, Any]:
        """A page of a list: `limit`, `after_id` and `before_id`."""
        text = query.get("limit", "20")
        limit = int(text) if text.isdigit() else 0
        refuse_if(not 1 <= limit <= _HIGHEST_LIMIT, f"limit: Input should be between 1 and {_HIGHEST_LIMIT}")
        ids = [item["id"] for item in items]
        start, end = 0, len(items)
        for name in ("after_id", "before_id"):
            if (cursor := query.get(name)) is None:
                continue
            refuse_if(cursor not in ids, f"{name}: '{cursor}' is not in this list")
            if name == "after_id":
                start = ids.index(cursor) + 1
            else:
                end = ids.index(cursor)
                start = max(start, end - limit)
        data = list(items[start : min(end, start + limit)])
        more = start + limit < end if "before_id" not in query else start > 0
        first, last = (data[0]["id"], data[-1]["id"]) if data else (None, None)
        return {"data": data, "has_more": more, "first_id": first, "last_id": last}
