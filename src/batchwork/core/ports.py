"""The protocols through which the rooms of the house meet."""

import math
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, runtime_checkable

from batchwork.core.batch_book import BatchBook, Ticket
from batchwork.core.block import Orphan, Sight, TakenBlock, Turn
from batchwork.core.event import Began, Event
from batchwork.core.failure import Failure
from batchwork.core.intake import InputRow
from batchwork.core.late_answer import LateAnswer
from batchwork.core.outcome import AnyOutcome, Status
from batchwork.core.packing import BatchLimits
from batchwork.core.reply import Reply
from batchwork.core.request import Message, Request
from batchwork.core.runstate import ItemState
from batchwork.core.text_pack import PackLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What the rest of the house needs to know about a backend before the first call."""

    name: str
    limited: bool = False  # it has rate limits of its own that are not known before it has answered
    free: bool = False  # its calls cost nothing
    batches: bool = False  # its provider takes many requests at once, for less money and later
    price_provider: str | None = None  # under which provider the price table lists its models
    notice: str | None = None  # what a user must be told, for example that it is a mock
    sampling: frozenset[str] | None = None  # the sampling parameters it takes; None: it does not say
    price_model: str | None = None  # under which id the price table lists the model, where that is not its name here
    overhead_tokens: int = 0  # input tokens that it adds around every request
    image_tokens: int | None = None  # the most that one image makes there; None: that grows with the image
    cache_writes: bool = False  # it has prompts written into the provider's cache unasked
    default_in_flight: int | None = None  # how many calls at once suit it when nobody says; None: as many as anybody
    address: str | None = None  # where its calls go, once it is open, for people to read
    batch_notice: str | None = None  # what a user must be told before a batch is made
    schemas: str | None = None  # whose rules for schemas hold there, once it is open; None: those of its name, if any

    @property
    def where(self) -> str:
        """What to call the place its calls go to."""
        return self.address or self.name


class Backend(Protocol):
    """Somewhere a request can be sent."""

    @property
    def traits(self) -> Traits:
        """What is known about it before the first call."""

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        """Answer one request, or raise a `BackendError`. Never retries, never sleeps, never prices.

        `ceiling_nano` is the most this call may cost, for a backend that can enforce it itself.
        """

    async def aclose(self) -> None:
        """Give back connections and processes."""


class EmbedBackend(Backend, Protocol):
    """A backend whose calls make embeddings: a request is a pack of texts, and its reply has their vectors.

    A pack that is refused for something that may be one text's fault fails as BAD_INPUT, a text alone as what it is: so
    a run does not pause over packs that are about to fall into parts.
    """

    @property
    def pack_limits(self) -> PackLimits:
        """What one call may hold."""


@runtime_checkable
class TokenCounter(Protocol):
    """A backend whose provider counts the input tokens of a request without charging for it."""

    async def count_tokens(self, request: Request) -> int:
        """Input tokens of this request; a `BackendError` when the call failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTag:
    """By what a batch can be found again at the provider."""

    run_id: str
    chunk: int
    custom_ids: tuple[str, ...]
    intended_at: float  # UTC, on our clock
    looked_at: float = math.inf  # the same, when it was first looked for: it is not younger than that
    slack_s: float = 600.0  # by how much our clock may have been off then, beyond what it is now
    known: frozenset[str] = frozenset()  # batches of which we know that they are others
    file_id: str | None = None  # the file it is made of, where its provider makes batches of files

    @property
    def name(self) -> str:
        """One word for run and chunk, where a provider keeps metadata."""
        return f"{self.run_id}-{self.chunk}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchProgress:
    """Where a batch stands at the provider. `failure` says that it ended as a whole before anything ran.

    `bad_lines` says which of its requests it was refused for, by their place from 1, where the provider tells;
    `unlisted` is what became of those that its results do not tell of, where that is known.
    """

    ended: bool
    failure: Failure | None = None
    bad_lines: tuple[tuple[int, Failure], ...] = ()
    total: int | None = None  # requests in it, where the provider tells
    done: int | None = None  # of those, how many it has answered so far
    expires_at: float | None = None  # UTC: when it will be gone, and everything in it with it
    unlisted: Failure | None = None


class Sighting(Enum):
    """What a look at the provider's list says about a batch whose submission has an unknown outcome."""

    ABSENT = "absent"
    UNDECIDED = "undecided"  # something there may be it, and cannot be read yet


@dataclass(frozen=True, slots=True)
class Candidate:
    """A batch that has ended and may be the one that is looked for: what would tell, its results, cannot be read."""

    batch_id: str


@runtime_checkable
class BatchBackend(Protocol):
    """A backend whose provider takes many requests at once, for less money and later.

    Like `complete`, none of these retries, sleeps or prices; each raises `BackendError` when its call failed.
    """

    @property
    def batch_limits(self) -> BatchLimits:
        """What one batch can hold."""

    def batch_line(self, custom_id: str, request: Request) -> bytes:
        """The request as it stands in a batch."""

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        """Create a batch; the provider's id for it. Not idempotent. `NotCreatedError`: it failed before that step."""

    async def poll_batch(self, batch_id: str) -> BatchProgress:
        """Where it stands."""

    def collect_batch(self, batch_id: str) -> AsyncIterator[tuple[str, Reply | Failure]]:
        """Everything an ended batch has to give, by custom id, in any order; of expired and cancelled ones too.

        A request that was not executed comes as a failure of the kind EXPIRED. What cannot be read is passed over, and
        told by a `BackendError` once everything else was given.
        """

    async def cancel_batch(self, batch_id: str) -> None:
        """Ask the provider to stop; what is finished can still be collected."""

    async def find_batch(self, tag: BatchTag) -> str | Sighting | Candidate:
        """Look for a batch in the provider's own list: its id, or what the list says."""


@runtime_checkable
class FileBatchBackend(BatchBackend, Protocol):
    """A backend whose provider makes a batch of an uploaded file: the file's id is in the tag, and identifies it."""

    async def upload_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        """Upload the lines; the provider's id for the file. It costs nothing, and nothing runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerVerdict:
    """What a checker makes of a reply: accepted (no failure), or why not, and how to ask again."""

    value: Any = None
    failure: Failure | None = None
    reask: tuple[Message, ...] = ()  # turns to append for another try; empty when there is no point in one


class Checker(Protocol):
    """Says whether an answer is acceptable. The only place that does."""

    def check(self, request: Request, reply: Reply) -> AnswerVerdict:
        """Judge one reply. Pure."""


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> float:
        """Monotonic seconds: for durations."""

    def utc(self) -> float:
        """Seconds since 1970, UTC: for records."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""

    def call_later(self, seconds: float, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after so many seconds; the function returned takes that back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The money in a journal, over all runs on it."""

    spent_nano: int
    unconfirmed_nano: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing(Totals):
    """What a journal knows when a run begins on it."""

    run_id: str
    recovered: int  # calls whose fate an earlier run left open, now booked at their worst case


@dataclass(slots=True, kw_only=True)
class Entry:
    """One place of the latest input as the journal holds it."""

    index: int
    item: int
    status: Status
    paid_nano: int
    attempts: int
    outcome: AnyOutcome | None = None
    request: Request | None = None
    columns: dict[str, Any] | None = None


class JournalView(Protocol):
    """The read side of a journal: a journal itself, what it has queued included, or a reader of its file."""

    def at(self, index: int) -> ItemState | None:
        """The item at this place of the latest input; one that came since the last commit may be missing."""

    def entries(
        self,
        start: int = 0,
        stop: int | None = None,
        *,
        statuses: frozenset[Status] | None = None,
        bodies: bool = True,
        asked: bool = True,
    ) -> Iterator[Entry]:
        """Places in input order; with `bodies` their outcomes, and with `asked` their requests and columns."""

    def count(self) -> int:
        """How many places the latest input has, as far as it was read."""

    def counts(self, *, below: int | None = None) -> dict[Status, int]:
        """How many of them, or of those below a place, stand where; counted afresh."""

    def totals(self) -> Totals:
        """The money, over all runs."""

    def close(self) -> None:
        """Write what is queued and let go; a `JournalWriteError` when that could not be written."""


class Journal(JournalView, Protocol):
    """Remembers what was asked, sent, paid and answered.

    `record` queues a fact, `durable` waits until all queued facts are on disk. `listener` is called with every fact the
    moment it is queued, also with those that a journal records by itself.
    """

    listener: Callable[[Event], None] | None

    @property
    def batches(self) -> BatchBook:
        """What it knows of provider batches."""

    def begin(self, began: Began) -> Standing:
        """Start a run: book calls that an earlier run left open, and begin to read an input from its start."""

    def place(self, index: int, intake: InputRow) -> ItemState:
        """The item that stands at `index`: one already known, or a new one, which is recorded."""

    def reopen(self, item: int) -> ItemState:
        """Take a failed item up again."""

    def book_lost_calls(self) -> int:
        """Book calls that nobody waits for any more at their worst case; how many there were."""

    def record(self, event: Event) -> None:
        """Queue one fact."""

    async def durable(self) -> None:
        """Return when everything recorded so far is on disk; a `JournalWriteError` when it could not be written."""

    def take(self, item: int) -> ItemState:
        """Hold an item that is known, so that facts about it can be recorded."""

    def request_of(self, item: int) -> Request:
        """What an item asks."""

    def release(self, item: int) -> None:
        """The engine is done with this item for now: the journal need not hold it in memory."""


@runtime_checkable
class ForeseeingJournal(Protocol):
    """A journal that is far away: it is told of rows before they are placed, so that it can look up many at once."""

    @property
    def foresees(self) -> int:
        """How many rows it wants to be told of at once."""

    def foresee(self, rows: Sequence[InputRow]) -> None:
        """These rows are placed next, in this order."""


@runtime_checkable
class SharedJournal(Journal, Protocol):
    """A journal on which several processes may be at work: one is its owner and reads the input, others have joined."""

    @property
    def is_shared(self) -> bool:
        """Whether this process lets others work with it."""

    @property
    def worker(self) -> int:
        """The number of this process among those that ever worked on it."""

    @property
    def is_joined(self) -> bool:
        """Whether another process is its owner."""

    @property
    def begins(self) -> bool:
        """Whether this process says what the run's ceiling is."""

    def is_elsewhere(self, index: int, item: int = -1) -> bool:
        """Whether another process works on this place since before this run began, or the item is in a batch."""

    def exchange(self, turn: Turn) -> Sight:
        """Tell the others and ask them, waiting for the answer; for a thread beside the loop."""

    def hold(self, block: TakenBlock) -> None:
        """Be the one who works on the items of a block; `release` of each of them ends that."""

    def done_with(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The blocks that are finished since the last time, and those that are left with work in them."""

    def take_in(self, late: LateAnswer) -> None:
        """Record the answer of a process that was taken over; an item that is still open is settled by it."""

    def is_settled(self, item: int) -> bool:
        """Whether an item that is held here has its outcome, which may have come from elsewhere."""

    def adopt(self, orphan: Orphan) -> Ticket:
        """Follow a batch that another process has left."""

    async def confirm(self) -> None:
        """Return when it is sure that this process was not taken over a moment ago; else a `JournalFencedError`."""

    async def hand_over(self, chunk: int, batch_id: str) -> bool:
        """Leave a batch that this process has made to whoever has taken it over; False: nobody wants it any more."""

    async def made_late(self, chunk: int) -> str | None:
        """What was left so for a batch that was taken over; None: nothing, and nobody can from now on."""
