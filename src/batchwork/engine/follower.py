"""Follows a provider batch to its end and collects its results: the one follower of batch runs and attached batches.

A look that fails says nothing about the batch, so it is taken again. A download that breaks off, or that lacks answers,
is begun again. What stays unreadable although the batch has ended is lost, and only that: everything else was taken in.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from batchwork.core.breaker import Pause
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.policy import Policy
from batchwork.core.ports import BatchBackend, BatchProgress, Clock
from batchwork.core.reply import Reply
from batchwork.engine import pauses
from batchwork.engine.attempt import within
from batchwork.engine.looks import Sight, looks
from batchwork.engine.waits import Waits

_log = logging.getLogger(__name__)
Take = Callable[[str, Reply | Failure], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The batch cannot be followed now, and stays at the provider: why, for people and as the provider said it."""

    pause: Pause
    failure: Failure


class BatchFollower:
    """Polls and collects; sends nothing and decides nothing about items."""

    def __init__(
        self,
        backend: BatchBackend,
        policy: Policy,
        clock: Clock,
        waits: Waits,
        *,
        where: str,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self._backend = backend
        self._policy = policy
        self._clock = clock
        self._waits = waits
        self._where = where
        self._notice: Callable[[str], object] = notice or bool

    async def until_ended(self, batch_id: str, *, unknown_wait_s: float) -> BatchProgress | Unreachable | None:
        """Look at it at growing intervals until it has ended; None when the run closes first.

        One that the provider does not know may be made with another key, at another address, or be too young for a list
        that lags: it is asked for again for `unknown_wait_s`. Its answers may be paid for, so nothing is sent again.
        """
        unknown_s = 0.0
        sight = self.sight(batch_id)
        for pause_s in looks(self._policy.batch):
            if self._waits.is_closed:
                break
            try:
                progress = await within(self._policy.timeout_s, self._backend.poll_batch(batch_id))
            except BackendError as error:
                failure = error.failure
                if sight.lost(failure):
                    return Unreachable(pauses.out_of_sight(batch_id, failure, self._where), failure)
                if failure.kind is FailureKind.REJECTED:
                    if unknown_s >= unknown_wait_s:
                        return Unreachable(pauses.not_known(batch_id, failure), failure)
                    unknown_s += pause_s
            else:
                sight.seen()
                if progress.ended:
                    return progress
            await self._waits.wait(pause_s)
        return None

    async def collect(
        self, batch_id: str, take: Take, *, is_complete: Callable[[Failure | None], bool]
    ) -> Failure | Unreachable | None:
        """Hand every result to `take` until `is_complete`, which hears what was wrong with the last download.

        None when it is, or when the run closes; the failure of those items that cannot be had.
        """
        unreadable_s, downloads, whole = 0.0, 0, 0
        longest_s = self._policy.batch.results_wait_s
        try:
            for pause_s in looks(self._policy.batch):
                problem = await self._download(batch_id, take)
                downloads += 1
                if is_complete(problem) or self._waits.is_closed:
                    return None
                if problem is None:
                    whole += 1
                    if whole > 1:
                        return _lost(f"batch {batch_id} ended without a word about this item")
                elif downloads > 1 and unreadable_s >= longest_s:
                    return _lost(f"batch {batch_id} has ended, and its results cannot be read ({problem})")
                elif downloads == 1:
                    self._tell(batch_id, problem)
                wait_s = min(pause_s, max(longest_s - unreadable_s, self._policy.batch.poll_first_s))
                unreadable_s += wait_s
                await self._waits.wait(wait_s)
                if problem is not None:  # is it these results, or everything, the key for example?
                    there = await self.until_ended(batch_id, unknown_wait_s=self._policy.batch.adopt_wait_s)
                    if not isinstance(there, BatchProgress):
                        return there
            return None
        finally:
            self._notice("")

    async def _download(self, batch_id: str, take: Take) -> Failure | None:
        try:
            async for name, result in self._backend.collect_batch(batch_id):
                await take(name, result)
        except BackendError as error:
            return error.failure
        return None

    def _tell(self, batch_id: str, problem: Failure) -> None:
        text = (
            f"the results of batch {batch_id} cannot be read ({problem}): asking again for"
            f" {self._policy.batch.results_wait_s:g} s, then what could not be read fails as result_lost"
        )
        _log.warning("%s", text)
        self._notice(text)

    def sight(self, batch: str) -> Sight:
        """The looks at one batch."""
        return Sight(batch, where=self._where, policy=self._policy, clock=self._clock)


def _lost(message: str) -> Failure:
    return Failure(kind=FailureKind.RESULT_LOST, message=message, unconfirmed=True)
