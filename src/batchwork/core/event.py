"""The only facts the journal records, in the order in which they happened.

An item is named by its ordinal in the journal: it is given once, when the item is first opened,
and never changes, whatever place the item has in the input of a later run.
"""

from typing import Any, Final

import msgspec

from batchwork.core.failure import FailureKind
from batchwork.core.outcome import AnyOutcome
from batchwork.core.reply import Usage
from batchwork.core.request import Request
from batchwork.core.stats import RunFigures


class RunInput(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a run reads and where its results go, for whoever looks at its journal later. A retry keeps it."""

    total: int | None = None  # rows of the input, where that is known beforehand
    source: str | None = None  # the input as the command line named it
    output: str | None = None  # the file of results, seen from the journal's folder
    is_retry: bool = False  # it takes up what the journal has, and reads no input
    is_first: bool = False  # the journal was empty before it
    is_alone: bool = False  # no other process may work on it, though its journal could be shared
    was_read: bool = False  # of a retry: an earlier run has read the input to its end


class Began(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="began"):
    """A run started on this journal."""

    run_id: str
    model: str
    max_cost_nano: int | None = None
    priced: bool = True  # what its calls cost is known
    settings: dict[str, Any] = {}
    input: RunInput = RunInput()


class ItemEvent(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something happened to one item."""

    item: int


class Opened(ItemEvent, frozen=True, kw_only=True, gc=False, tag="opened"):
    """An input row was read at `index`. `request` is there the first time its key is met."""

    index: int
    fingerprint: bytes
    occurrence: int
    request: Request | None = None
    columns: dict[str, Any] | None = None


class Admitted(ItemEvent, frozen=True, kw_only=True, gc=False, tag="admitted"):
    """A call is about to be sent, with so much money set aside for it."""

    reserved_nano: int


LONGEST_MESSAGE: Final = 300  # characters of a failure's message that an attempt keeps


class Attempted(ItemEvent, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="attempted"):
    """A call ended without settling its item. A charge below zero takes back what an earlier one has booked."""

    kind: FailureKind
    charged_nano: int = 0
    unconfirmed: bool = False  # booked at its worst case: the provider may have billed it
    # What follows says how it went, for people; journals of 0.1 have none of it.
    usage: Usage | None = None
    message: str = ""  # at most LONGEST_MESSAGE characters of it
    request_id: str | None = None  # the provider's
    latency_s: float = 0.0


class Settled(ItemEvent, frozen=True, kw_only=True, gc=False, tag="settled"):
    """An item has its outcome. `charged_nano` is the last call alone; the outcome's cost is all of them."""

    outcome: AnyOutcome
    charged_nano: int = 0
    unconfirmed: bool = False


class Reopened(ItemEvent, frozen=True, kw_only=True, gc=False, tag="reopened"):
    """A failed or deferred item is to be tried again."""


class Ended(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag="ended"):
    """A run ended. `inputs` is the number of rows when the input was read to its end.

    Where it ended early, `reason` and `remedy` say why and what to do; the remedy has names in braces, for which the
    door at hand has its own words.
    """

    inputs: int | None = None
    stopped: str | None = None
    figures: RunFigures | None = None
    reason: str | None = None
    remedy: str | None = None


class BatchIntended(msgspec.Struct, frozen=True, kw_only=True, tag="batch_intended"):
    """A provider batch is about to be submitted."""

    chunk: int
    items: tuple[int, ...]
    custom_ids: tuple[str, ...]
    reserved_nano: int
    at: float
    worst_nano: tuple[int, ...] = ()  # the reservation, item by item


class BatchUploaded(msgspec.Struct, frozen=True, kw_only=True, tag="batch_uploaded"):
    """The provider has the file that the batch will be made of: if the batch is made, this file identifies it."""

    chunk: int
    file_id: str


class BatchSubmitted(msgspec.Struct, frozen=True, kw_only=True, tag="batch_submitted"):
    """The provider has it."""

    chunk: int
    batch_id: str


class BatchClosed(msgspec.Struct, frozen=True, kw_only=True, tag="batch_closed"):
    """Everything it had to give was taken in, or it surely never existed."""

    chunk: int
    how: str  # collected, absent, refused, lost or unsure


class BatchReopened(msgspec.Struct, frozen=True, kw_only=True, tag="batch_reopened"):
    """A batch that was closed as lost is asked once more for the answers to these items."""

    chunk: int
    items: tuple[int, ...]


BatchEvent = BatchIntended | BatchUploaded | BatchSubmitted | BatchClosed | BatchReopened
Event = Began | ItemEvent | BatchEvent | Ended
