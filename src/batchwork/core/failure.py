"""What went wrong with one call, in one vocabulary for every backend."""

from enum import Enum

import msgspec

from batchwork.core.reply import Reply, ReportedLimits, Usage


class FailureKind(Enum):
    """The classes of failure: each is one thing that a caller would do differently."""

    RATE_LIMITED = "rate_limited"  # the provider refused: too fast
    OVERLOADED = "overloaded"  # the provider refused: too busy
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    SERVER = "server"
    AUTH = "auth"
    QUOTA = "quota"  # an allowance is used up; it may have a known end
    REJECTED = "rejected"  # the request itself is wrong
    TOO_LONG = "too_long"
    REFUSED = "refused"  # the model declined to answer
    TRUNCATED = "truncated"  # cut off by max_tokens where half an answer is none
    SCHEMA_VIOLATION = "schema_violation"
    BAD_INPUT = "bad_input"  # never sent: the input row cannot become a request
    EXPIRED = "expired"  # a provider batch ended before this item's turn
    RESULT_LOST = "result_lost"  # an answer was made, and is probably billed, but it cannot be had or read
    INTERNAL = "internal"  # a defect in a backend; the item fails, the run goes on


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One failed call.

    `reply` and `usage` are there when an answer came and was billed. `unconfirmed` says that the
    call was cut off after it was sent: the provider may have answered and billed it.
    """

    kind: FailureKind
    message: str
    retry_after_s: float | None = None
    status: int | None = None
    error_code: str | None = None
    limits: ReportedLimits | None = None
    reply: Reply | None = None
    usage: Usage | None = None
    unconfirmed: bool = False
    request_id: str | None = None  # the provider's

    def __str__(self) -> str:
        return f"{self.kind.value}: {self.message}"
