"""Work for a run that others work on, too: the input, of which blocks are offered to them, and blocks that are free.

The owner of a journal reads its input and works on it. While others are there, it reads on ahead of its own window and
offers what it has placed in blocks; at the end of the input it takes blocks as everybody does, and waits until all are
done. A process that has joined takes blocks until the owner is gone. In a run through provider batches everybody takes
blocks from the start, so that whoever takes over knows which items were in whose hands.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import TracebackType
from typing import Self

from batchwork.core.batch_book import Ticket
from batchwork.core.block import BLOCK_ITEMS, Sight, TakenBlock, Turn, blocks_to_offer
from batchwork.core.errors import BatchworkError, DatabaseAwayError
from batchwork.core.intake import Work
from batchwork.core.outcome import Status
from batchwork.core.ports import Clock, SharedJournal
from batchwork.core.stats import Tally
from batchwork.engine.read_ahead import DRY, LATER, Later

_log = logging.getLogger(__name__)
_BESIDE_OTHERS_S, _ALONE_S = 0.2, 0.5  # between two turns
_ENDS = (Status.SUCCEEDED, Status.FAILED, Status.SKIPPED)
_LEAST_ITEMS = 16  # in a block
_ROWS_AT_ONCE = 2048  # of the input, read for others before the loop gets a turn


class Sharing:
    """The source of one run on a shared journal; inside `async with` it talks to the others."""

    def __init__(
        self,
        journal: SharedJournal,
        tally: Tally,
        source: Iterator[Work | Later | None] | None,
        *,
        clock: Clock,
        wake: Callable[[], None],
        stop: Callable[[BaseException], None],
        window: int,
        max_wait_s: float,
        first_row: bytes | None = None,
        take_up: Callable[[Ticket, float | None], None] | None = None,
    ) -> None:
        self._journal, self._tally, self._clock, self._wake, self._stop = journal, tally, clock, wake, stop
        self._source = source  # None: it has ended, or another process reads it
        self._max_wait_s = max_wait_s
        self._first_row = first_row
        self._take_up = take_up  # follow a provider batch; None: the run makes none
        self._block_items = max(_LEAST_ITEMS, min(BLOCK_ITEMS, 2 * window))
        self._kept: deque[Work] = deque()  # rows that nobody else can do, read for the others
        self._taken: deque[Work] = deque()
        self._sight = Sight()
        self._first_sight: Sight | None = None
        self._untold = Turn()
        self._is_over = False
        self._is_closing = self._has_more = False
        self._is_gap = False  # the row that was read last is in a block of somebody else
        self._poke = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._take_turns())
        self._task.add_done_callback(self._ended)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._is_closing = True  # what is under way at the database comes to its end: nobody else may use the session
        self._poke.set()
        await asyncio.wait([self._task])
        with suppress(BatchworkError):  # the run has its own end; whoever reaps this process does the same
            await self._turn(offered=(), wants=0)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._stop(error)

    # -- what the run reads ---------------------------------------------------------------------

    def __iter__(self) -> Iterator[Work | Later | None]:
        return self

    def __next__(self) -> Work | Later | None:
        if self._kept:
            return self._kept.popleft()
        if self._source is not None and self._take_up is None:
            with suppress(StopIteration):
                return self._row()
        if len(self._taken) <= self._block_items // 2:
            self._poke.set()
        if self._taken:
            return self._taken.popleft()
        if self._is_over:
            raise StopIteration
        return DRY if self._is_dry else LATER

    @property
    def _is_dry(self) -> bool:
        """Nobody has anything to offer, unless one gives up what it has."""
        return self._first_sight is not None and self._source is None and not (self._sight.free or self._sight.is_read)

    def _row(self) -> Work | Later | None:
        """The next row of the input; StopIteration at its end."""
        assert self._source is not None
        try:
            work = next(self._source)
        except StopIteration:
            self._source = None
            raise
        if isinstance(work, Work) and self._journal.is_elsewhere(work.index, work.item):
            self._journal.release(work.item)
            self._is_gap = True
            return None
        return work

    # -- beside it ------------------------------------------------------------------------------

    async def _take_turns(self) -> None:
        while not self._is_over and not self._is_closing:
            await self._turn(offered=self._gathered(), wants=self._wanted())
            self._is_over = self._source is None and not self._taken and self._has_ended()
            if self._taken or self._kept or self._is_over:
                self._wake()
            if self._to_offer and self._source is not None and self._has_more:
                continue
            is_alone = not self._sight.helpers and not self._sight.held and not self._journal.is_joined
            with suppress(TimeoutError):
                async with asyncio.timeout(_ALONE_S if is_alone else _BESIDE_OTHERS_S):
                    await self._poke.wait()
            self._poke.clear()

    def _has_ended(self) -> bool:
        if self._journal.is_joined:
            return not self._sight.has_owner and not self._sight.free
        return self._sight.is_settled

    def _wanted(self) -> int:
        takes = self._source is None or self._take_up is not None
        return int(takes and len(self._taken) <= self._block_items // 2)

    async def _turn(self, *, offered: tuple[tuple[int, int], ...], wants: int) -> None:
        """Tell what is done, and ask; while the database is away the same is told again."""
        finished, left = self._journal.done_with()
        before = self._untold
        turn = self._untold = Turn(
            finished=(*before.finished, *finished),
            left=(*before.left, *left),
            offered=(*before.offered, *offered),
            wants=wants,
            first_row=self._first_row,
            reads=self._source is not None,
            adopts=self._take_up is not None and not self._journal.is_joined and not self._is_closing,
        )
        if turn.finished or turn.left or turn.offered:
            await self._journal.durable()  # what others rely on is on disk
        since = self._clock.now()
        while True:
            try:
                sight = await asyncio.to_thread(self._journal.exchange, turn)
                break
            except DatabaseAwayError:
                if self._is_closing or self._clock.now() - since >= self._max_wait_s:
                    raise
                await self._clock.sleep(_ALONE_S)
        self._untold, self._sight = Turn(), sight
        self._count_others(sight)
        for orphan in sight.orphans:
            if self._take_up is not None and not self._journal.batches.is_open(orphan.chunk):
                self._take_up(self._journal.adopt(orphan), orphan.fenced_s)
        for block in sight.taken:
            self._take(block)
        for late in sight.late:
            self._journal.take_in(late)

    def _count_others(self, sight: Sight) -> None:
        """Let the tally follow what others do, from the first look on; whoever joins finds what was done before."""
        if self._first_sight is None:
            self._first_sight = sight
            if self._journal.is_joined:
                self._tally.reused = sum(sight.done.get(status, 0) for status in _ENDS)
        first = self._first_sight
        self._tally.elsewhere = {
            status: count - first.done.get(status, 0)
            for status, count in sight.done.items()
            if status is not Status.PENDING
        }
        self._tally.elsewhere_nano = sight.spent_nano - first.spent_nano

    def _take(self, block: TakenBlock) -> None:
        self._journal.hold(block)
        if self._journal.is_joined:
            self._tally.read += len(block.items)
        for state, request in block.items:
            assert state.index is not None
            if state.item in self._journal.batches.rides:
                continue
            self._taken.append(
                Work(
                    item=state.item,
                    index=state.index,
                    request=request,
                    problem=None,
                    paid_nano=state.paid_nano,
                    attempts=state.attempts,
                    deferred=state.status is Status.DEFERRED,
                )
            )

    def _gathered(self) -> tuple[tuple[int, int], ...]:
        """Blocks of the rows that come next, for those who have nothing to do."""
        self._has_more = True
        return tuple(filter(None, (self._gather() for _ in range(self._to_offer))))

    @property
    def _to_offer(self) -> int:
        if self._first_sight is None:  # what others have left may be in the rows that come next
            return 0
        return blocks_to_offer(self._sight, for_itself=self._take_up is not None)

    def _gather(self) -> tuple[int, int] | None:
        first = stop = None
        count = 0
        for _ in range(_ROWS_AT_ONCE):
            work: Work | Later | None = LATER
            self._is_gap = False
            if self._source is not None:
                with suppress(StopIteration):
                    work = self._row()
            if self._is_gap and count:  # a block is one stretch: what others have must not lie inside
                break
            if work is LATER:  # there is nothing yet, or nothing more
                self._has_more = False
                break
            if not isinstance(work, Work):
                continue
            if work.request is None:  # what is wrong with it stands nowhere else
                self._kept.append(work)
                continue
            first, stop, count = work.index if first is None else first, work.index + 1, count + 1
            self._journal.release(work.item)
            if count >= self._block_items:
                break
        return None if first is None or stop is None else (first, stop)
