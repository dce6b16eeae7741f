"""A provider with batches, in memory and in virtual time: what it has, it has, whether its client lives or not."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import msgspec

from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.packing import BatchLimits
from batchwork.core.ports import BatchProgress, BatchTag, Sighting, Traits
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request
from tests.support.scripted import prompt_of

Answer = Callable[[str, int], Reply | Failure | str]


@dataclass
class Batch:
    tag: BatchTag
    lines: list[tuple[str, str]]
    ends_at: float
    cancelled: bool = False
    answers: dict[str, Reply | Failure] = field(default_factory=dict)


class BatchProvider:
    """Lives longer than any client; `trouble(step)` may return a failure for `submit`, `poll`, `find`, `collect`."""

    def __init__(
        self, answer: Answer | None = None, *, takes_s: float = 30.0, limits: BatchLimits | None = None
    ) -> None:
        self._answer = answer or (lambda prompt, time: prompt)
        self.takes_s = takes_s
        self.limits = limits or BatchLimits(max_requests=1000, max_bytes=1_000_000)
        self.batches: dict[str, Batch] = {}
        self.numbers = itertools.count()  # clients may be in several threads
        self.billed: Counter[str] = Counter()
        self.trouble: Callable[[str], Failure | None] = lambda step: None
        self.lost_answers = 0  # so many submissions arrive although their answer does not
        self.hides_for_s = 0.0  # the list lags

    def end_all(self) -> None:
        """Every batch has ended, and those to come end at once."""
        self.takes_s = 0.0
        for batch in self.batches.values():
            batch.ends_at = 0.0

    def client(self) -> BatchClient:
        return BatchClient(self)

    def run(self, batch: Batch) -> None:
        if batch.answers:
            return
        for name, prompt in batch.lines:
            if batch.cancelled:
                batch.answers[name] = Failure(kind=FailureKind.EXPIRED, message="cancelled")
                continue
            self.billed[prompt] += 1
            said = self._answer(prompt, self.billed[prompt])
            if isinstance(said, str):
                said = Reply(text=said, usage=Usage(input_tokens=10, output_tokens=5))
            if isinstance(said, Failure):
                self.billed[prompt] -= 1
            batch.answers[name] = said


class BatchClient:
    """What a backend with batches looks like to the engine."""

    traits = Traits(name="scripted", batches=True)

    def __init__(self, provider: BatchProvider) -> None:
        self._provider = provider

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        raise AssertionError("a run in batch mode makes no live calls")

    async def aclose(self) -> None:
        pass

    @property
    def batch_limits(self) -> BatchLimits:
        return self._provider.limits

    def batch_line(self, custom_id: str, request: Request) -> bytes:
        return msgspec.json.encode((custom_id, prompt_of(request)))

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        self._check("submit")
        now = asyncio.get_running_loop().time()
        batch_id = f"batch_{next(self._provider.numbers)}"
        decoded = [tuple(msgspec.json.decode(line)) for line in lines]
        self._provider.batches[batch_id] = Batch(tag, decoded, now + self._provider.takes_s)
        if self._provider.lost_answers:
            self._provider.lost_answers -= 1
            raise BackendError(Failure(kind=FailureKind.CONNECTION, message="reset", unconfirmed=True))
        return batch_id

    async def poll_batch(self, batch_id: str) -> BatchProgress:
        self._check("poll")
        batch = self._provider.batches[batch_id]
        return BatchProgress(ended=batch.cancelled or asyncio.get_running_loop().time() >= batch.ends_at)

    async def collect_batch(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | Failure]]:
        batch = self._provider.batches[batch_id]
        self._provider.run(batch)
        for number, (name, said) in enumerate(reversed(batch.answers.items())):
            if number == 1:
                self._check("collect")
            yield name, said

    async def cancel_batch(self, batch_id: str) -> None:
        self._provider.batches[batch_id].cancelled = True

    async def find_batch(self, tag: BatchTag) -> str | Sighting:
        self._check("find")
        now = asyncio.get_running_loop().time()
        for batch_id, batch in self._provider.batches.items():
            visible = now >= batch.ends_at - self._provider.takes_s + self._provider.hides_for_s
            if batch.tag.name == tag.name and visible:
                return batch_id
        return Sighting.ABSENT

    def _check(self, step: str) -> None:
        if (failure := self._provider.trouble(step)) is not None:
            raise BackendError(failure)
