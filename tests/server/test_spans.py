"""A span for every request and every call."""

import asyncio
import sys
from typing import Any

import pytest

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import TokenCounter
from batchwork.core.reply import Reply
from batchwork.core.request import Request
from batchwork.server import spans
from batchwork.server.spans import BackendWrapper
from tests.server.house import serving

SECRET = "the-treaty-is-signed-at-dawn"


class _Span:
    def __init__(self, name: str, attributes: dict[str, Any]) -> None:
        self.name = name
        self.attributes = dict(attributes)

    def set_attribute(self, name: str, value: Any) -> None:
        self.attributes[name] = value

    def __enter__(self) -> "_Span":
        return self

    def __exit__(self, *_: object) -> None:
        pass


class _Tracer:
    def __init__(self) -> None:
        self.spans: list[_Span] = []

    def start_as_current_span(self, name: str, *, attributes: dict[str, Any], **_: Any) -> _Span:
        self.spans.append(_Span(name, attributes))
        return self.spans[-1]


def test_every_call_is_a_span_with_the_genai_names_and_without_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _Tracer()
    monkeypatch.setattr(spans, "tracer", lambda: seen)

    def script(request: Request, call: int) -> Any:
        if call == 2:
            raise BackendError(Failure(kind=FailureKind.REFUSED, message=SECRET))
        return SECRET

    with serving(MockBackend(clock=SystemClock(), script=script)) as house:
        house.prompts([SECRET, SECRET], batch_size=1)
    whole, first, second = seen.spans
    assert whole.name == "POST /api/v1/prompts"
    assert first.name == "chat mock:echo"
    assert first.attributes["gen_ai.operation.name"] == "chat"
    assert first.attributes["gen_ai.provider.name"] == "mock"
    assert first.attributes["gen_ai.request.model"] == "mock:echo"
    assert first.attributes["gen_ai.request.max_tokens"] == 1024
    assert first.attributes["gen_ai.usage.input_tokens"] > 0
    assert first.attributes["gen_ai.response.finish_reasons"] == ["end_turn"]
    assert second.attributes["error.type"] == "refused"
    assert SECRET not in repr([span.attributes for span in seen.spans])


def test_without_the_package_there_are_no_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    backend = MockBackend(clock=SystemClock())
    assert spans.traced(backend, "m") is backend


class Counting(MockBackend):
    async def count_tokens(self, request: Request) -> int:
        return 7


async def loud(request: Request, *, ceiling_nano: int | None = None) -> Reply:
    return Reply(text=f"{request.messages[0].content}! {ceiling_nano}")


def test_calls_go_around_the_backend_and_everything_else_to_it() -> None:
    backend = MockBackend(clock=SystemClock())
    wrapper = BackendWrapper(backend, loud)
    assert wrapper.traits is backend.traits
    assert asyncio.run(wrapper.complete(Request.ask("hi"), ceiling_nano=5)).text == "hi! 5"
    assert backend.calls == 0


def test_a_wrapper_counts_tokens_where_its_backend_does() -> None:
    assert not isinstance(BackendWrapper(MockBackend(clock=SystemClock()), loud), TokenCounter)
    wrapper = BackendWrapper(Counting(clock=SystemClock()), loud)
    assert isinstance(wrapper, TokenCounter)
    assert asyncio.run(wrapper.count_tokens(Request.ask("hi"))) == 7
