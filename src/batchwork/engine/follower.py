"""Follows a provider batch to its end and collects its results: the one follower of batch runs and attached batches.

A look that fails says nothing about the batch, so it is taken again; looks that only fail end in a pause, never in a
second submission. A download that breaks off, or that lacks answers, is begun again. What stays unreadable although
the batch has ended is lost, and only that: everything else was taken in.
"""

import logging
import math
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from batchwork.core.breaker import Pause, no_access
from batchwork.core.duration import duration
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.failure_table import Operation, Trait, traits_of
from batchwork.core.policy import BatchPolicy, Policy
from batchwork.core.ports import BatchBackend, BatchProgress, Clock
from batchwork.core.reply import Reply
from batchwork.core.stats import Tally
from batchwork.engine.attempt import within
from batchwork.engine.parts import Parts
from batchwork.engine.waits import Waits

_log = logging.getLogger(__name__)
_GROWTH = 1.5  # of the time between two looks at a batch
_OUTAGE_S = 3600.0  # waiting for a batch costs nothing, and batches take hours
_NEAR_ITS_END_S = 8 * 3600.0  # how long before a batch is gone its end is spoken of
Take = Callable[[str, Reply | Failure], Awaitable[None]]


class Sight:
    """The looks at one batch; says once when they begin to fail, and whoever pauses the run says it again."""

    def __init__(self, batch: str, *, where: str, policy: Policy, clock: Clock) -> None:
        self._batch = batch
        self._where = where
        self._patience_s = max(policy.stall_s, policy.batch.adopt_wait_s)
        self._clock = clock
        self._lost_since: float | None = None

    def seen(self) -> None:
        """The provider has answered: the address is right, and what comes now is an outage that may be waited out."""
        self._lost_since = None
        self._patience_s = max(self._patience_s, _OUTAGE_S)

    def lost(self, failure: Failure) -> bool:
        """A look failed; whether there is no point in another one."""
        now = self._clock.now()
        if self._lost_since is None:
            self._lost_since = now
            _log.warning(
                "cannot look at batch %s at %s (%s); if it is not seen within %g s the run pauses and nothing is lost:"
                " check the address and the network",
                self._batch,
                self._where,
                failure,
                self._patience_s,
            )
        hopeless = Trait.HOPELESS in traits_of(failure.kind, Operation.POLL)
        return hopeless or now - self._lost_since >= self._patience_s


def looks(policy: BatchPolicy) -> Iterator[float]:
    """Seconds between two looks at a batch: growing, without end."""
    pause_s = policy.poll_first_s
    while True:
        yield pause_s
        pause_s = min(max(policy.poll_longest_s, policy.poll_first_s), pause_s * _GROWTH)


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The batch cannot be followed now, and stays at the provider: why, for people and as the provider said it."""

    pause: Pause
    failure: Failure


class BatchFollower:
    """Polls and collects; sends nothing and decides nothing about items."""

    def __init__(self, parts: Parts, backend: BatchBackend, tally: Tally, waits: Waits) -> None:
        self._backend = backend
        self._policy = parts.policy
        self._clock = parts.clock
        self._tally = tally
        self._waits = waits
        self._where = parts.backend.traits.where

    async def until_ended(self, batch_id: str, *, unknown_wait_s: float) -> BatchProgress | Unreachable | None:
        """Look at it at growing intervals until it has ended; None when the run closes first.

        One that the provider does not know may be made with another key, at another address, or be too young for a list
        that lags: it is asked for again for `unknown_wait_s`. Its answers may be paid for, so nothing is sent again.
        """
        unknown_s, warned = 0.0, False
        sight = self.sight(batch_id)
        for pause_s in looks(self._policy.batch):
            if self._waits.is_closed:
                break
            try:
                progress = await within(self._policy.timeout_s, self._backend.poll_batch(batch_id))
            except BackendError as error:
                failure = error.failure
                if sight.lost(failure):
                    return Unreachable(out_of_sight(batch_id, failure, self._where), failure)
                if failure.kind is FailureKind.REJECTED:
                    if unknown_s >= unknown_wait_s:
                        return Unreachable(not_known(batch_id, failure), failure)
                    unknown_s += pause_s
            else:
                sight.seen()
                self._tally.answered_there[batch_id] = progress.done or 0
                if progress.ended:
                    self._tally.answered_there.pop(batch_id)
                    return progress
                warned = warned or self._tell_of_its_end(batch_id, progress)
            await self._waits.wait(pause_s)
        return None

    async def collect(
        self,
        batch_id: str,
        take: Take,
        *,
        is_complete: Callable[[Failure | None], bool],
        unlisted: Failure | None = None,
    ) -> Failure | Unreachable | None:
        """Hand every result to `take` until `is_complete`, which hears what was wrong with the last download.

        None when it is, or when the run closes; the failure of those items that cannot be had: `unlisted` where it is
        known what became of those that the results do not tell of.
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
                        return unlisted or _lost(f"batch {batch_id} ended without a word about this item")
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
            self._tally.notice = ""

    async def _download(self, batch_id: str, take: Take) -> Failure | None:
        try:
            async for name, result in self._backend.collect_batch(batch_id):
                await take(name, result)
        except BackendError as error:
            return error.failure
        return None

    def _tell_of_its_end(self, batch_id: str, progress: BatchProgress) -> bool:
        """Whether a batch is near the time at which it is gone with everything in it; then that was told."""
        left_s = math.inf if progress.expires_at is None else progress.expires_at - self._clock.utc()
        if left_s > _NEAR_ITS_END_S:
            return False
        text = (
            f"batch {batch_id} has {duration(max(left_s, 0.0))} left: if it has not ended by then it expires, and"
            f" nothing of it can be had, not even what it has answered ({progress.done or 0:,} so far)"
        )
        _log.warning("%s", text)
        self._tally.notice = text
        return True

    def _tell(self, batch_id: str, problem: Failure) -> None:
        text = (
            f"the results of batch {batch_id} cannot be read ({problem}): asking again for"
            f" {self._policy.batch.results_wait_s:g} s, then what could not be read fails as result_lost"
        )
        _log.warning("%s", text)
        self._tally.notice = text

    def sight(self, batch: str) -> Sight:
        """The looks at one batch."""
        return Sight(batch, where=self._where, policy=self._policy, clock=self._clock)


def _lost(message: str) -> Failure:
    return Failure(kind=FailureKind.RESULT_LOST, message=message, unconfirmed=True)


def stalled(failure: Failure, where: str) -> Pause:
    """No batch is taken, for too long."""
    if failure.kind is FailureKind.CONNECTION:
        return Pause(
            reason=f"The provider cannot be reached at {where} ({failure}).",
            remedy="Check the address ({base_url}) and the network, then {again}: no batch was made, and {kept}.",
            cause="stalled",
        )
    return Pause(
        reason=f"The provider takes no batches ({failure}).",
        remedy="Wait until it recovers, then {again}: {kept}.",
        cause="stalled",
    )


def out_of_sight(batch: str, failure: Failure, where: str) -> Pause:
    """A batch is or may be at the provider, which cannot be asked about it."""
    if failure.kind is FailureKind.AUTH:
        return no_access(failure)
    return Pause(
        reason=f"The provider at {where} cannot be asked about batch {batch} ({failure}).",
        remedy="Check the address ({base_url}) and the network, then {again}: it looks for the batch before anything"
        " is sent, so that nothing is paid for twice.",
        cause="stalled",
    )


def not_known(batch_id: str, failure: Failure) -> Pause:
    """A batch is not found where it was made."""
    return Pause(
        reason=f"The provider does not know batch {batch_id} ({failure.message}).",
        remedy="Set the key and {base_url} that the batch was made with, then {again}: it may be paid for.",
        cause="batch",
    )
