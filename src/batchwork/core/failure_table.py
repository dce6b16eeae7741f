"""Decide what a failure means, by its kind and by what was being done: the one table of failure kinds.

Pure. A kind has traits per operation, because the same answer means different things to different questions: a 503 to a
call turned it away, a 503 to the creation of a batch may have come after the batch was made.
"""

from enum import Enum, Flag, auto

from batchwork.core.failure import Failure, FailureKind


class Operation(Enum):
    """What was being done when it failed."""

    CALL = "call"  # one request, sent by itself or as a line of a batch
    CREATE = "create"  # of a provider batch
    POLL = "poll"  # and looking through the provider's list
    COLLECT = "collect"  # downloading the results of a batch


class Trait(Flag):
    """What follows from a failure."""

    NONE = 0
    RETRYABLE = auto()  # the same again may succeed
    REFUSAL = auto()  # turned away unread: it says nothing about the request and costs nothing
    HOPELESS = auto()  # nothing else will succeed either before somebody acts: the run pauses
    LATER = auto()  # it ends by itself, at a time that may be known
    ARRIVED = auto()  # the provider may have done what was asked although it said otherwise
    BILLED = auto()  # the provider may bill it: booked at the worst case, as unconfirmed
    COUNTED = auto()  # so many of these in a row pause the run


_NO, _R, _A, _B, _H = Trait.NONE, Trait.RETRYABLE, Trait.ARRIVED, Trait.BILLED, Trait.HOPELESS
_C, _REFUSAL = Trait.COUNTED, Trait.RETRYABLE | Trait.REFUSAL
_ITEM = (_NO, _NO, _R, _R)  # it is about one request, and no answer to anything else
_KINDS: dict[FailureKind, tuple[Trait, Trait, Trait, Trait]] = {
    # of a call                                  creating     polling  collecting
    FailureKind.RATE_LIMITED: (_REFUSAL | _C, _REFUSAL, _R, _R),
    FailureKind.OVERLOADED: (_REFUSAL | _C, _REFUSAL | _A, _R, _R),
    FailureKind.TIMEOUT: (_R | _C, _R | _A, _R, _R),
    FailureKind.CONNECTION: (_R | _C, _R, _R, _R),  # says itself, by `unconfirmed`, whether anything was sent
    FailureKind.SERVER: (_R | _C, _R | _A, _R, _R),
    FailureKind.INTERNAL: (_C, _A, _R, _R),
    FailureKind.AUTH: (_H | _C, _H, _H, _R),  # a poll says whether it is the key, or these results alone
    FailureKind.QUOTA: (_H | _C | Trait.LATER, _H | Trait.LATER, _R, _R),
    FailureKind.REJECTED: (_C, _NO, _R, _R),
    FailureKind.TOO_LONG: _ITEM,
    FailureKind.REFUSED: _ITEM,
    FailureKind.TRUNCATED: _ITEM,
    FailureKind.SCHEMA_VIOLATION: _ITEM,
    FailureKind.BAD_INPUT: _ITEM,
    FailureKind.EXPIRED: (Trait.LATER, _NO, _R, _R),  # in another batch, so often as the policy says
    FailureKind.RESULT_LOST: (_B | _C, _R | _A, _R, _R),
}
_COLUMNS = {operation: column for column, operation in enumerate(Operation)}

# Error statuses after which a call may be billed all the same. They are a gateway's word, not the model's: whoever
# waits in between gave up, the work behind it may go on to its end. Every other error status is the provider's own
# statement that it did not do the work, and none bills those (a 429, 503 or 529 is turned away before anything runs).
BILLED_STATUSES = frozenset({408, 502, 504, 520, 522, 524})
# Statuses that prove that a creation had no effect. Every other one, a good one with a strange body included, does not.
_CREATED_NOTHING = frozenset({400, 401, 402, 403, 404, 405, 413, 415, 422, 429})


def traits_of(kind: FailureKind, operation: Operation = Operation.CALL) -> Trait:
    """What follows from a failure of this kind."""
    return _KINDS[kind][_COLUMNS[operation]]


def is_refusal(failure: Failure) -> bool:
    """Whether a call was turned away unread."""
    return Trait.REFUSAL in traits_of(failure.kind)


def may_be_billed(failure: Failure) -> bool:
    """Whether a call that failed may stand on the bill at a price that nobody told us."""
    return failure.unconfirmed or failure.status in BILLED_STATUSES or Trait.BILLED in traits_of(failure.kind)


def may_have_created(failure: Failure) -> bool:
    """Whether the creation of a batch may have taken effect although its answer says otherwise, or never came."""
    if failure.unconfirmed:
        return True
    if failure.status is not None:  # the best witness there is
        return failure.status not in _CREATED_NOTHING
    return Trait.ARRIVED in traits_of(failure.kind, Operation.CREATE)
