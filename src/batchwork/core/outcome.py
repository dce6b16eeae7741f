"""How an item ended: succeeded, failed, deferred or skipped. The latest one per key counts."""

from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar

import msgspec

from batchwork.core.failure import Failure
from batchwork.core.money import to_dollars
from batchwork.core.reply import Reply, ToolCall, Usage


class Status(StrEnum):
    """Where an item stands. `pending` is the only one that is not an outcome."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DEFERRED = "deferred"
    SKIPPED = "skipped"

    __hash__ = str.__hash__  # equal to the plain word, and kept by the string; Enum's own hash is a Python call


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What every outcome tells; `status` says which kind it is."""

    status: ClassVar[Status]

    index: int
    attempts: int = 0
    cost_nano: int | None = 0  # all attempts together; None when the price is not known
    usage: Usage | None = None  # all attempts together
    latency_s: float = 0.0  # of the last call
    label: str | None = None

    @property
    def cost(self) -> Decimal | None:
        """Dollars paid for this item, failed attempts included; None when the price is not known."""
        return None if self.cost_nano is None else to_dollars(self.cost_nano)

    @property
    def text(self) -> str | None:
        """The answer, when there is one."""
        return None

    @property
    def value(self) -> Any:
        """The answer as validated JSON, when a schema was asked for."""
        return None

    @property
    def parsed(self) -> Any:
        """The same; an instance of the model where one was asked for."""
        return None

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls of tools that the model asks for."""
        return ()

    @property
    def error(self) -> str | None:
        """Why there is no answer, as `kind: message`; None after a success."""
        return None

    @property
    def truncated(self) -> bool:
        """The answer was cut off by `max_tokens`."""
        return False


class Succeeded(Outcome, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="succeeded"):
    """The item has its answer."""

    status: ClassVar[Status] = Status.SUCCEEDED
    reply: Reply
    parsed: Any = None

    @property
    def text(self) -> str | None:
        """The answer."""
        return self.reply.text

    @property
    def value(self) -> Any:
        """The answer as validated JSON, when a schema was asked for."""
        return self.parsed

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls of tools that the model asks for."""
        return self.reply.tool_calls

    @property
    def truncated(self) -> bool:
        """The answer was cut off by `max_tokens`."""
        return self.reply.truncated


class Failed(Outcome, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="failed"):
    """The item ended without an answer that can be used; what was said is kept in `failure.reply`."""

    status: ClassVar[Status] = Status.FAILED
    failure: Failure

    @property
    def text(self) -> str | None:
        """What the model said although it cannot be used (a refusal, an invalid answer)."""
        return self.failure.reply.text if self.failure.reply is not None else None

    @property
    def error(self) -> str | None:
        """Why there is no answer."""
        return str(self.failure)


class Deferred(Outcome, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="deferred"):
    """The money left does not cover this item's worst case; a later run with more money takes it up."""

    status: ClassVar[Status] = Status.DEFERRED
    needed_nano: int = 0
    budget_nano: int | None = None  # all of it, spent or not

    @property
    def never_fits(self) -> bool:
        """Not even the whole budget covers it."""
        return self.budget_nano is not None and self.needed_nano > self.budget_nano

    @property
    def error(self) -> str | None:
        """Why it was not sent."""
        return f"deferred: may cost up to ${to_dollars(self.needed_nano)}, which no longer fits under max_cost"


class Skipped(Outcome, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag="skipped"):
    """Left out by a rule of the caller's. A status of the format: no door has such rules yet."""

    status: ClassVar[Status] = Status.SKIPPED
    reason: str = ""

    @property
    def error(self) -> str | None:
        """Which rule left it out."""
        return f"skipped: {self.reason}"


class Pending(Outcome, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Not an outcome: the run ended before this item did. Never recorded; a rerun takes it up."""

    status: ClassVar[Status] = Status.PENDING
    cancelled: bool = False
    cut_off: bool = False  # its last call was in flight: it may have been answered and billed

    @property
    def error(self) -> str | None:
        """Why there is no answer yet."""
        if self.cancelled:
            return "cancelled: the job was cancelled before this item was done"
        return "pending: the run ended before this item; run it again to go on"


AnyOutcome = Succeeded | Failed | Deferred | Skipped
