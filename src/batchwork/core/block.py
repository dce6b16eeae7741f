"""What processes that work on one run tell each other: blocks of places that one has placed and all may take. Pure.

A block is named by its first place. Blocks do not overlap, and one that is done is gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from batchwork.core.batch_book import BatchBook
from batchwork.core.late_answer import LateAnswer
from batchwork.core.outcome import Status
from batchwork.core.request import Request
from batchwork.core.runstate import ItemState

BLOCK_ITEMS = 256  # in a block, at most
_AT_HAND = 2  # blocks that are free for everybody who may ask next


RUN = "shared_input"  # among the settings that a journal keeps of a run: the name of its shared input


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedInput:
    """An input without an order of its own, whose rows come to several processes: each places those that it gets."""

    run: str  # the same for all of them
    worker: str  # the name of this one; whoever had it before is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a process has to tell, and how many blocks it wants."""

    finished: tuple[int, ...] = ()
    left: tuple[int, ...] = ()  # it will not finish these: somebody else may
    offered: tuple[tuple[int, int], ...] = ()  # first place, and the one behind the last
    wants: int = 0
    first_row: bytes | None = None  # of its own input, where it has one; that of the run is the same
    reads: bool = False  # its input has more
    adopts: bool = False  # it takes what others have left at the provider


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenBlock:
    """A block that this process has now: the items in it that are to be done, as they stand."""

    first: int
    items: Sequence[tuple[ItemState, Request]]
    settled: Sequence[ItemState] = ()  # but with a call that its worker before us had under way


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphan:
    """A provider batch whose process has ended: this one follows it now, as it is `told`."""

    chunk: int
    told: BatchBook
    batch_id: str | None = None  # where the process that made it came back too late to record that
    # Where nobody knows whether it was made: for how long its process can have begun to make it no more.
    fenced_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What a process gets, and how the journal stands after that."""

    taken: tuple[TakenBlock, ...] = ()
    free: int = 0
    held: int = 0  # blocks of other processes
    helpers: int = 0  # other processes that live and do not read the input
    has_owner: bool = False  # another process lives that does
    done: dict[Status, int] = field(default_factory=dict)  # by other processes, ever: items by where they stand
    spent_nano: int = 0  # the same
    late: tuple[LateAnswer, ...] = ()  # to items that this process has
    is_read: bool = False  # another process has more of the input to offer
    orphans: tuple[Orphan, ...] = ()

    @property
    def is_settled(self) -> bool:
        """Nobody else has anything to do."""
        return not self.taken and not self.free and not self.held


def blocks_to_offer(sight: Sight, *, for_itself: bool = False) -> int:
    """How many blocks the owner should offer now, so that nobody who takes blocks waits for its next turn."""
    return max(0, _AT_HAND * (sight.helpers + for_itself) - sight.free)
