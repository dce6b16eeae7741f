"""A provider that says what it is told to, on loopback, and writes down what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure
from batchwork.core.ports import Backend
from batchwork.core.reply import Reply
from batchwork.core.request import Request
from batchwork.settings import Settings

ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-haiku-5-5",
    "content": [{"type": "text", "text": "yes"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 12, "output_tokens": 3},
}
OPENAI = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "gpt-6-luna",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
}


GEMINI = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "yes"}]}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 3, "totalTokenCount": 15},
    "modelVersion": "gemini-3.8-flash",
    "responseId": "resp_1",
}
ANSWERS = {
    "anthropic": ("", ANTHROPIC),
    "bedrock": ("", {}),
    "gemini": ("", GEMINI),
}  # by backend: what follows the host, what is said


@dataclass
class Say:
    """One scripted answer."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: str = ""  # "before": drop the connection instead of answering; "middle": after half of the body


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: Any
    raw: bytes
    raw_path: str = ""


class Canned:
    """Answers every request with the same words."""

    def __init__(self, say: Say) -> None:
        self.say = say
        self.asked: list[Asked] = []
        self.connections: set[Any] = set()

    async def __aenter__(self) -> Canned:
        self._runner = web.ServerRunner(web.Server(self._handle))
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await request.content.read()  # read() has a limit of its own
        self.connections.add(request.transport)
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = json.loads(raw) if raw else None
        self.asked.append(Asked(request.path, headers, body, raw, request.rel_url.raw_path))
        say = self.say
        assert request.transport is not None
        if say.cut == "before":
            request.transport.abort()
            return web.Response()
        body = say.body if isinstance(say.body, bytes) else json.dumps(say.body).encode()
        if say.cut == "middle":
            response = web.StreamResponse(status=say.status, headers={"content-length": str(len(body))})
            await response.prepare(request)
            await response.write(body[: len(body) // 2])
            request.transport.close()
            return response
        return web.Response(body=body, status=say.status, headers={"content-type": "application/json", **say.headers})


@dataclass
class Exchanged:
    """What came back from one call, and what was sent for it."""

    outcome: Reply | Failure
    asked: list[Asked]

    @property
    def reply(self) -> Reply:
        assert isinstance(self.outcome, Reply), self.outcome
        return self.outcome

    @property
    def failure(self) -> Failure:
        assert isinstance(self.outcome, Failure), self.outcome
        return self.outcome

    @property
    def body(self) -> Any:
        return self.asked[-1].body


Exchange = Callable[..., Exchanged]


async def attempt(backend: Backend, request: Request) -> Reply | Failure:
    try:
        return await backend.complete(request)
    except BackendError as error:
        return error.failure


@pytest.fixture
def exchange() -> Exchange:
    """Ask a canned provider one thing."""

    def ask(
        model: str,
        say: Any = None,
        request: Request | None = None,
        *,
        status: int = 200,
        cut: str = "",
        base: str | None = None,
        **headers: str,
    ) -> Exchanged:
        path, usual = ANSWERS.get(model.partition(":")[0], ("/v1", OPENAI))
        if not isinstance(say, Say):
            said = usual if say is None else say
            say = Say(said, status, {k.replace("_", "-"): v for k, v in headers.items()}, cut)

        async def main() -> Exchanged:
            async with Canned(say) as server:
                setup = Setup(
                    clock=SystemClock(),
                    max_in_flight=4,
                    settings=Settings(),
                    base_url=server.url + (path if base is None else base),
                    api_key="sk-the-secret-key",
                )
                backend, _ = open_backend(model, setup)
                try:
                    outcome = await attempt(backend, request or Request.ask("Is it?"))
                finally:
                    await backend.aclose()
                return Exchanged(outcome, server.asked)

        return asyncio.run(main())

    return ask


@pytest.fixture
def canned() -> Callable[[Any], Canned]:
    return lambda body: Canned(Say(body))


@pytest.fixture
def message() -> Callable[..., dict[str, Any]]:
    """Anthropic's answer with some fields changed."""
    return lambda **fields: {**ANTHROPIC, **fields}


@pytest.fixture
def generated() -> Callable[..., dict[str, Any]]:
    """Gemini's answer with some fields of its candidate changed; `usage` takes the place of its own."""

    def make(*, usage: Any = GEMINI["usageMetadata"], parts: Any = None, **fields: Any) -> dict[str, Any]:
        content = {"role": "model", "parts": [{"text": "yes"}] if parts is None else parts}
        candidate = {"content": content, "finishReason": "STOP", **fields}
        return {**GEMINI, "usageMetadata": usage, "candidates": [candidate]}

    return make


@pytest.fixture
def completion() -> Callable[..., dict[str, Any]]:
    """OpenAI's answer with some fields of its choice changed; `usage` and `error` go to the top."""

    def make(*, usage: Any = OPENAI["usage"], finish: str = "stop", **fields: Any) -> dict[str, Any]:
        said = {"role": "assistant", "content": "yes", **fields}
        return {**OPENAI, "usage": usage, "choices": [{"index": 0, "finish_reason": finish, "message": said}]}

    return make
