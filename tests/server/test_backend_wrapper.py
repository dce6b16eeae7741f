"""A backend with something around every call."""

import asyncio

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.ports import TokenCounter
from batchwork.core.reply import Reply
from batchwork.core.request import Request
from batchwork.server.backend_wrapper import BackendWrapper


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
