"""OpenAI's chat completions and responses as the live path sees them."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from aiohttp import web
from multidict import CIMultiDict

from batchwork.simulator.bill import Usage
from batchwork.simulator.buckets import Limits
from batchwork.simulator.clock import real_s
from batchwork.simulator.errors import Refused
from batchwork.simulator.keys import bearer
from batchwork.simulator.openai.parse import parse_chat, parse_responses
from batchwork.simulator.openai.render import chat_events, chat_of, error_body, error_of, limit_headers, response_of
from batchwork.simulator.prompt import Prompt, Said
from batchwork.simulator.world import World

_FAULTS = {
    "400": (400, "invalid_request_error", "simulated: the request is not valid", "invalid_value"),
    "401": (401, "invalid_request_error", "Incorrect API key provided.", "invalid_api_key"),
    "403": (403, "invalid_request_error", "simulated: country, region, or territory not supported", None),
    "404": (
        404,
        "invalid_request_error",
        "The model `{model}` does not exist or you do not have access to it.",
        "model_not_found",
    ),
    "408": (408, "server_error", "simulated: the request timed out", None),
    "409": (409, "invalid_request_error", "simulated: a conflict with another request", None),
    "422": (422, "invalid_request_error", "simulated: the request cannot be processed", None),
    "429": (429, "requests", "simulated: rate limit reached", "rate_limit_exceeded"),
    "quota": (
        429,
        "insufficient_quota",
        "You exceeded your current quota, please check your plan.",
        "insufficient_quota",
    ),
    "500": (500, "server_error", "The server had an error while processing your request.", None),
    "503": (503, "server_error", "The engine is currently overloaded, please try again later.", None),
    "504": (504, "server_error", "The server did not answer in time.", None),
    "529": (503, "server_error", "Slow down.", "slow_down"),
}


class OpenAIWire:
    """What chat completions and responses have in common."""

    api = "openai"
    path = ""
    request_id_header = "x-request-id"

    def __init__(self, world: World) -> None:
        self._world = world

    def authorize(self, headers: Mapping[str, str]) -> str:
        """The key that was given; empty where none is required.

        Raises:
            Refused: none, or one that is not known.
        """
        key = bearer(headers)
        if not key and self._world.config.key_required:
            message = "You didn't provide an API key. Provide it in an Authorization header using Bearer auth."
            raise Refused(401, message, code="missing_api_key")
        if not self._world.config.takes(key):
            raise Refused(401, "Incorrect API key provided.", code="invalid_api_key")
        return key

    @property
    def limits(self) -> Limits:
        """The limits these calls share."""
        return self._world.openai_limits

    def admit(self, prompt: Prompt) -> tuple[float, str]:
        """Seconds to wait and for what; (0, "") takes the call in."""
        limits = self._world.openai_limits
        if not limits.limited:
            return 0.0, ""
        return limits.admit_joint(max(prompt.input_tokens, prompt.max_tokens or 0), real_s())

    def produced(self, usage: Usage) -> None:
        """Nothing: the stated limit was charged on arrival."""

    def limit_headers(self) -> CIMultiDict[str]:
        """The rate-limit family."""
        return limit_headers(self.limits)

    def error_event(self) -> bytes:
        """An error that comes after the 200."""
        return b"data: " + msgspec.json.encode(error_of(self.fault("500", ""))) + b"\n\n"

    def error(self, refused: Refused, request_id: str) -> bytes:  # noqa: ARG002 - its envelope carries no id
        """The error envelope."""
        return error_body(refused)

    def fault(self, kind: str, model: str) -> Refused:
        """An HTTP fault in the provider's words."""
        status, error_type, message, code = _FAULTS[kind]
        wait = self._world.config.retry_after_s if kind == "429" else None
        return Refused(status, message.format(model=model), type=error_type, code=code, retry_after_s=wait)

    def limited(self, what: str, wait_s: float) -> Refused:
        """A refusal by the rate limit."""
        message = f"Rate limit reached on {what} per min. Please try again in {wait_s:.3f}s."
        return Refused(429, message, type=what, code="rate_limit_exceeded", retry_after_s=wait_s)


class ChatWire(OpenAIWire):
    """`POST /v1/chat/completions`."""

    path = "/v1/chat/completions"

    def parse(self, request: web.BaseRequest, body: object) -> Prompt:  # noqa: ARG002
        """The prompt of a live call."""
        return parse_chat(body, self._world.config.default_tier)

    def answer(self, prompt: Prompt, said: Said, usage: Usage, number: int) -> dict[str, Any]:
        """The whole body."""
        return chat_of(prompt, said, usage, f"chatcmpl-sim{number:08d}", int(self._world.clock.now()))

    def events(self, prompt: Prompt, said: Said, usage: Usage, number: int) -> Iterator[bytes]:
        """The body as events."""
        return chat_events(prompt, said, usage, f"chatcmpl-sim{number:08d}", int(self._world.clock.now()))


class ResponsesWire(OpenAIWire):
    """`POST /v1/responses`."""

    path = "/v1/responses"

    def parse(self, request: web.BaseRequest, body: object) -> Prompt:  # noqa: ARG002
        """The prompt of a live call."""
        return parse_responses(body, self._world.config.default_tier)

    def answer(self, prompt: Prompt, said: Said, usage: Usage, number: int) -> dict[str, Any]:
        """The whole body."""
        return response_of(prompt, said, usage, f"resp_sim{number:08d}", int(self._world.clock.now()))

    def events(self, prompt: Prompt, said: Said, usage: Usage, number: int) -> Iterator[bytes]:
        """Responses are answered whole."""
        yield msgspec.json.encode(self.answer(prompt, said, usage, number))
