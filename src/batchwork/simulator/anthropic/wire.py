"""Anthropic's Messages call as the live path sees it."""

from collections.abc import Iterator, Mapping
from typing import Any

from aiohttp import web
from multidict import CIMultiDict

from batchwork.simulator.anthropic.parse import VERSIONS, parse_messages
from batchwork.simulator.anthropic.render import error_body, limit_headers, message_of
from batchwork.simulator.anthropic.stream import event, events_of
from batchwork.simulator.bill import Usage
from batchwork.simulator.buckets import Limits
from batchwork.simulator.clock import real_s
from batchwork.simulator.errors import Refused
from batchwork.simulator.keys import bearer
from batchwork.simulator.prompt import Prompt, Said
from batchwork.simulator.world import World

_FAULTS = {
    "400": (400, "invalid_request_error", "simulated: the request is not valid", None),
    "401": (401, "authentication_error", "invalid x-api-key", None),
    "403": (403, "permission_error", "simulated: your API key does not have permission to use this resource", None),
    "404": (404, "not_found_error", "model: {model}", None),
    "408": (408, "timeout_error", "simulated: the request timed out", None),
    "409": (409, "conflict_error", "simulated: a conflict with another request", None),
    "422": (422, "invalid_request_error", "simulated: the request cannot be processed", None),
    "429": (429, "rate_limit_error", "simulated: this request would exceed your rate limit", None),
    "quota": (429, "rate_limit_error", "simulated: your spend limit is reached", "enforced_spend_limit_reached"),
    "500": (500, "api_error", "Internal server error", None),
    "503": (503, "api_error", "Service unavailable", None),
    "504": (504, "timeout_error", "The request timed out", None),
    "529": (529, "overloaded_error", "Overloaded", None),
}


class AnthropicWire:
    """`POST /v1/messages`."""

    api = "anthropic"
    path = "/v1/messages"
    request_id_header = "request-id"

    def __init__(self, world: World) -> None:
        self._world = world

    def authorize(self, headers: Mapping[str, str]) -> str:
        """The API version asked for; `x-api-key` wins over a bearer token.

        Raises:
            Refused: no key, a key that is not known, or no version.
        """
        key = headers.get("x-api-key") or bearer(headers)
        if not key and self._world.config.key_required:
            raise Refused(401, "x-api-key header is required", type="authentication_error")
        if not self._world.config.takes(key):
            raise Refused(401, "invalid x-api-key", type="authentication_error")
        version = headers.get("anthropic-version")
        if version is None:
            raise Refused(400, "anthropic-version: header is required")
        if version not in VERSIONS:
            raise Refused(400, f"anthropic-version: '{version}' is not a valid version")
        return version

    def parse(self, request: web.BaseRequest, body: object) -> Prompt:
        """The prompt of a live call."""
        return parse_messages(body, request.headers["anthropic-version"], beta="anthropic-beta" in request.headers)

    @property
    def limits(self) -> Limits:
        """The limits these calls share."""
        return self._world.anthropic_limits

    def admit(self, prompt: Prompt) -> tuple[float, str]:
        """Seconds to wait and for what; (0, "") takes the call in."""
        limits = self._world.anthropic_limits
        return limits.admit_split(prompt.input_tokens, real_s()) if limits.limited else (0.0, "")

    def produced(self, usage: Usage) -> None:
        """Output tokens count once they are produced."""
        self.limits.output.take(usage.output, real_s())

    def limit_headers(self) -> CIMultiDict[str]:
        """The rate-limit family."""
        return limit_headers(self.limits, self._world.clock.offset_s)

    def answer(self, prompt: Prompt, said: Said, usage: Usage, number: int) -> dict[str, Any]:
        """The whole body."""
        return message_of(prompt, said, usage, f"msg_sim{number:08d}")

    def events(self, prompt: Prompt, said: Said, usage: Usage, number: int) -> Iterator[bytes]:
        """The body as events."""
        return events_of(prompt, said, usage, f"msg_sim{number:08d}")

    def error_event(self) -> bytes:
        """An error that comes after the 200."""
        return event("error", {"error": {"type": "overloaded_error", "message": "Overloaded"}})

    def error(self, refused: Refused, request_id: str) -> bytes:
        """The error envelope."""
        return error_body(refused, request_id)

    def fault(self, kind: str, model: str) -> Refused:
        """An HTTP fault in the provider's words."""
        status, error_type, message, code = _FAULTS[kind]
        wait = self._world.config.retry_after_s if kind == "429" else None
        return Refused(status, message.format(model=model), type=error_type, code=code, retry_after_s=wait)

    def limited(self, what: str, wait_s: float) -> Refused:
        """A refusal by the rate limit."""
        message = f"This request would exceed your organization's rate limit of {what} per minute."
        return Refused(429, message, type="rate_limit_error", retry_after_s=wait_s)
