"""Submit a batch exactly once: what may have arrived is looked for before anything is sent again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.policy import BatchPolicy, Policy
from batchwork.core.ports import BatchBackend, BatchTag, Sighting
from batchwork.core.retry import wait_before_retry
from batchwork.engine.attempt import within
from batchwork.engine.naps import Naps
from batchwork.engine.sight import Sight

_log = logging.getLogger(__name__)
_GROWTH = 1.5  # of the time between two looks at a batch
# A connection says itself, by `unconfirmed`, whether anything was sent over it.
_MAYBE_THERE = frozenset({FailureKind.TIMEOUT, FailureKind.SERVER, FailureKind.INTERNAL})


@dataclass(frozen=True, slots=True)
class Unseen:
    """Nobody knows whether the batch arrived, because the provider could not be asked: the intent must stay."""

    failure: Failure


class BatchSender:
    """Creates batches at the provider, where no creation is idempotent."""

    def __init__(
        self,
        backend: BatchBackend,
        policy: Policy,
        naps: Naps,
        *,
        sight: Callable[[str], Sight],
        dice: Callable[[], float],
    ) -> None:
        self._backend = backend
        self._policy = policy
        self._naps = naps
        self._sight = sight
        self._dice = dice

    async def send(self, lines: list[bytes], tag: BatchTag) -> str | Failure | Sighting | Unseen:
        """The provider's id, why it refused, that the batch is absent (undecided when the run closes first), or unseen.

        Without lines it is a batch that an earlier run intended: it is only looked for.
        """
        if not lines:
            return await self._look_for(tag)
        tries, waited_s = 0, 0.0
        while not self._naps.is_closed:
            tries += 1
            try:
                return await within(self._policy.timeout_s, self._backend.submit_batch(lines, tag))
            except BackendError as error:
                failure = error.failure
            if failure.unconfirmed or failure.kind in _MAYBE_THERE:
                seen = await self._look_for(tag)
                if seen is not Sighting.ABSENT:
                    return seen
            wait_s = self.wait_after(failure, tries)
            if wait_s is None or waited_s + wait_s > self._policy.stall_s:
                return failure
            waited_s += wait_s
            await self._naps.take(wait_s)
        return Sighting.ABSENT  # the run closes, and the last try surely did not arrive

    async def _look_for(self, tag: BatchTag) -> str | Sighting | Unseen:
        """Look at the provider's list, which may lag, until the batch is found or surely absent."""
        looked_s = 0.0
        sight = self._sight(tag.name)
        for pause_s in pauses_between_looks(self._policy.batch):
            try:
                seen = await within(self._policy.timeout_s, self._backend.find_batch(tag))
            except BackendError as error:
                if sight.lost(error.failure):
                    return Unseen(error.failure)
                seen = Sighting.UNDECIDED
            else:
                sight.seen()
            if isinstance(seen, str):
                _log.info("batch %s was found at the provider as %s", tag.name, seen)
                return seen
            if seen is Sighting.ABSENT and looked_s >= self._policy.batch.adopt_wait_s:
                return Sighting.ABSENT
            await self._naps.take(pause_s)
            if self._naps.is_closed:
                break
            looked_s += pause_s
        return Sighting.UNDECIDED

    def wait_after(self, failure: Failure, tries: int) -> float | None:
        """Seconds to wait before the next try, or None to give up."""
        return wait_before_retry(
            failure, attempts=tries, refusals=tries, elapsed_s=0.0, policy=self._policy.retry, dice=self._dice()
        )


def pauses_between_looks(policy: BatchPolicy) -> Iterator[float]:
    """Growing intervals, without end."""
    pause_s = policy.poll_first_s
    while True:
        yield pause_s
        pause_s = min(max(policy.poll_longest_s, policy.poll_first_s), pause_s * _GROWTH)
