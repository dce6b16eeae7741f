"""A backend that does what a test tells it, call by call, and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Traits
from batchwork.core.reply import Reply, ReportedLimits, Usage
from batchwork.core.request import Request

Answer = Callable[[str, int], Reply | Failure | str]


def reply(text: str = "ok", *, tokens_in: int = 10, tokens_out: int = 5, limits: ReportedLimits | None = None) -> Reply:
    return Reply(text=text, usage=Usage(input_tokens=tokens_in, output_tokens=tokens_out), limits=limits)


def failure(kind: FailureKind, *, after: float | None = None, unconfirmed: bool = False) -> Failure:
    return Failure(kind=kind, message="scripted", retry_after_s=after, unconfirmed=unconfirmed)


def prompt_of(request: Request) -> str:
    content = request.messages[-1].content
    return content if isinstance(content, str) else str(content)


class Scripted:
    """`answer(prompt, how_manieth_call_of_this_prompt)` after `latency(prompt)` seconds."""

    def __init__(
        self,
        answer: Answer | None = None,
        *,
        latency: Callable[[str], float] | float = 0.0,
        free: bool = False,
        limited: bool = False,
    ) -> None:
        self._answer = answer or (lambda prompt, call: prompt)
        self._latency = latency
        self.traits = Traits(name="scripted", free=free, limited=limited)
        self.asked: list[str] = []
        self.starts: list[float] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.closed = False

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        prompt = prompt_of(request)
        self.asked.append(prompt)
        self.starts.append(asyncio.get_running_loop().time())
        call = self.asked.count(prompt)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self._latency if isinstance(self._latency, float) else self._latency(prompt))
        finally:
            self.in_flight -= 1
        said = self._answer(prompt, call)
        if isinstance(said, Failure):
            raise BackendError(said)
        return said if isinstance(said, Reply) else reply(said)

    async def aclose(self) -> None:
        self.closed = True
