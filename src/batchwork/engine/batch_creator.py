"""Creates a batch at the provider exactly once: what may have arrived is looked for before anything is sent again."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from batchwork.core.decision import Tries, wait_before_retry
from batchwork.core.errors import BackendError, NotCreatedError
from batchwork.core.failure import Failure
from batchwork.core.failure_table import Operation, Trait, may_have_created, traits_of
from batchwork.core.ports import BatchTag, Candidate, FileBatchBackend, SharedJournal, Sighting
from batchwork.engine.attempt import within
from batchwork.engine.batch import BatchContext
from batchwork.engine.follower import Sight, looks

_log = logging.getLogger(__name__)
Tag = Callable[[], BatchTag]  # made anew for every look: siblings get their numbers meanwhile
KeepFile = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Unseen:
    """Nobody knows whether the batch arrived, because the provider could not be asked: the intent must stay."""

    failure: Failure


class BatchCreator:
    """Creates batches where no creation is idempotent."""

    def __init__(self, context: BatchContext, *, sight: Callable[[str], Sight]) -> None:
        self._is_cancelled = context.is_cancelled
        self._journal = context.parts.journal
        self._backend = context.backend
        self._policy = context.parts.policy
        self._waits = context.waits
        self._tally = context.tally
        self._dice = context.parts.dice
        self._sight = sight

    async def create(self, lines: list[bytes], tag: Tag, keep_file: KeepFile) -> str | Failure | Sighting | Unseen:
        """The provider's id, why it refused, that the batch is absent (undecided when the run closes first), or unseen.

        Without lines it is a batch that an earlier run intended: it is only looked for. Where a batch is made of a
        file, `keep_file` has the file's id on disk before the batch is made, and in every later tag.
        """
        if not lines:
            return await self._look_for(tag)
        tries, waited_s = 0, 0.0
        while not self._waits.is_closed and not self._is_cancelled():
            tries += 1
            try:
                if isinstance(self._backend, FileBatchBackend) and tag().file_id is None:
                    await keep_file(await self._uploaded(self._backend, lines, tag()))
                if isinstance(self._journal, SharedJournal):  # whoever takes this process over counts on it
                    await self._journal.confirm()
                return await within(self._policy.timeout_s, self._backend.submit_batch(lines, tag()))
            except BackendError as error:
                failure = error.failure
                is_open = not isinstance(error, NotCreatedError) and may_have_created(failure)
            if is_open:
                seen = await self._look_for(tag)
                if seen is not Sighting.ABSENT:
                    return seen
            wait_s = self.wait_after(failure, tries)
            if wait_s is None or waited_s + wait_s > self._policy.stall_s:
                wait_s = self._until_quota_ends(failure)
                if wait_s is None:
                    return failure
            waited_s += wait_s
            await self._waits.wait(wait_s)
        return Sighting.ABSENT  # the run closes or is cancelled, and the last try surely did not arrive

    async def _uploaded(self, backend: FileBatchBackend, lines: list[bytes], tag: BatchTag) -> str:
        try:
            return await within(self._policy.timeout_s, backend.upload_batch(lines, tag))
        except BackendError as error:
            raise NotCreatedError(error.failure) from error

    async def _look_for(self, tag: Tag) -> str | Sighting | Unseen:
        """Look at the provider's list, which may lag, until the batch is found or surely absent.

        One that has ended and may be it, and stays unreadable, is taken for it: its items are lost then, at their worst
        case, where sending them again could pay for them twice.
        """
        looked_s, unreadable_s, told = 0.0, 0.0, False
        first, longest_s = tag(), self._policy.batch.adopt_wait_s
        name = first.name
        sight = self._sight(name)
        try:
            for pause_s in looks(self._policy.batch):
                seen: str | Sighting | Candidate
                try:
                    seen = await within(
                        self._policy.timeout_s, self._backend.find_batch(replace(tag(), looked_at=first.looked_at))
                    )
                except BackendError as error:
                    if sight.lost(error.failure):
                        return Unseen(error.failure)
                    seen = Sighting.UNDECIDED
                else:
                    sight.seen()
                if isinstance(seen, str):
                    _log.info("batch %s was found at the provider as %s", name, seen)
                    return seen
                if seen is Sighting.ABSENT and looked_s >= longest_s:
                    return Sighting.ABSENT
                if isinstance(seen, Candidate) and unreadable_s >= self._policy.batch.results_wait_s:
                    _log.warning(
                        "batch %s may be %s, whose results cannot be read: it is taken for it", name, seen.batch_id
                    )
                    return seen.batch_id
                if seen is Sighting.UNDECIDED and looked_s >= longest_s and not told:
                    told = True
                    self._tell_of_the_other(name)
                # The look that decides is not late: what is surely absent is sent again after `adopt_wait_s`.
                wait_s = min(pause_s, longest_s - looked_s) if looked_s < longest_s else pause_s
                await self._waits.wait(wait_s)
                if self._waits.is_closed:
                    break
                looked_s += wait_s
                unreadable_s += wait_s if isinstance(seen, Candidate) else 0.0
            return Sighting.UNDECIDED
        finally:
            self._tally.notice = ""

    def _tell_of_the_other(self, name: str) -> None:
        problem = (
            f"batch {name} may or may not have been created, and a batch of its size is still running at the provider,"
            " which shows only at its end whether it is the one: waiting for it, so that nothing is paid for twice"
        )
        _log.warning("%s", problem)
        self._tally.notice = problem

    def _until_quota_ends(self, failure: Failure) -> float | None:
        """Seconds until a quota ends, where that is known and soon enough to be waited for."""
        ends_s = failure.retry_after_s
        if Trait.LATER not in traits_of(failure.kind, Operation.CREATE) or ends_s is None:
            return None
        return ends_s + self._dice() if ends_s <= self._policy.max_wait_s else None

    def wait_after(self, failure: Failure, tries: int) -> float | None:
        """Seconds to wait before the next try, or None to give up."""
        counts = Tries(tries, tries)
        return wait_before_retry(failure, counts, policy=self._policy, dice=self._dice(), operation=Operation.CREATE)
