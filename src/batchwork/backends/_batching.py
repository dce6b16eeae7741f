"""What the batches of every provider have in common: how an answer about one is read, and a backend's doors to them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from typing import ClassVar, TypeVar

import msgspec
from yarl import URL

from batchwork.backends._headers import ahead_s
from batchwork.backends._http import Answer, Http
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.packing import BatchLimits
from batchwork.core.ports import BatchProgress, BatchTag, Candidate, Sighting
from batchwork.core.reply import Reply
from batchwork.core.request import Request

PAGE = 100
_CLOCKS_DIFFER_S = 600.0  # by so much more or less when the batch was intended than now
T = TypeVar("T")


class Batches(ABC):
    """One provider's batches. Like `complete`, nothing here retries, sleeps or prices."""

    limits: ClassVar[BatchLimits]

    def __init__(self, http: Http, failure: Callable[[Answer], Failure], utc: Callable[[], float]) -> None:
        self._http = http
        self._failure = failure
        self._utc = utc

    @abstractmethod
    def line(self, custom_id: str, request: Request) -> bytes:
        """One request of a batch."""

    @abstractmethod
    async def submit(self, lines: list[bytes], tag: BatchTag) -> str:
        """Create a batch; the provider's id for it."""

    @abstractmethod
    async def poll(self, batch_id: str) -> BatchProgress:
        """Where it stands."""

    @abstractmethod
    def collect(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | Failure]]:
        """Its results, by custom id, in any order."""

    @abstractmethod
    async def cancel(self, batch_id: str) -> None:
        """Ask the provider to stop."""

    @abstractmethod
    async def find(self, tag: BatchTag) -> str | Sighting | Candidate:
        """Look for a batch of ours in the provider's list."""

    def _oldest(self, tag: BatchTag, answer: Answer) -> float:
        """When the batch that is looked for was made at the earliest, on the clock of whoever answers now."""
        return tag.intended_at - ahead_s(answer.headers, self._utc()) - _CLOCKS_DIFFER_S

    def _read(self, answer: Answer, decode: Callable[[bytes], T], *, unconfirmed: bool = False) -> T:
        """What an answer about a batch says."""
        if answer.status not in (200, 201):
            raise BackendError(self._failure(answer))
        try:
            return decode(answer.body)
        except msgspec.DecodeError as error:
            problem = f"the answer about a batch cannot be read: {error}"
            failure = Failure(kind=FailureKind.SERVER, message=problem, unconfirmed=unconfirmed)
            raise BackendError(failure) from error

    async def _lines(self, url: URL, decode: Callable[[bytes], T]) -> AsyncIterator[T]:
        """The lines of a file of results. One that cannot be read is told after all others were given."""
        problem: msgspec.DecodeError | None = None
        async for line in self._http.lines(url):
            if isinstance(line, Answer):
                raise BackendError(self._failure(line))
            try:
                told = decode(line)
            except msgspec.DecodeError as error:
                problem = problem or error
                continue
            yield told
        if problem is not None:
            message = f"a line of {url.path} cannot be read: {problem}"
            raise BackendError(Failure(kind=FailureKind.SERVER, message=message)) from problem


class WithBatches:
    """The part of a backend that is about batches."""

    _batches: Batches

    @property
    def batch_limits(self) -> BatchLimits:
        """What one batch can hold."""
        return self._batches.limits

    def batch_line(self, custom_id: str, request: Request) -> bytes:
        """The request as it stands in a batch."""
        return self._batches.line(custom_id, request)

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        """Create a batch."""
        return await self._batches.submit(lines, tag)

    async def poll_batch(self, batch_id: str) -> BatchProgress:
        """Where it stands."""
        return await self._batches.poll(batch_id)

    def collect_batch(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | Failure]]:
        """Everything an ended batch has to give."""
        return self._batches.collect(batch_id)

    async def cancel_batch(self, batch_id: str) -> None:
        """Ask the provider to stop."""
        await self._batches.cancel(batch_id)

    async def find_batch(self, tag: BatchTag) -> str | Sighting | Candidate:
        """Look for a batch of ours in the provider's list."""
        return await self._batches.find(tag)
