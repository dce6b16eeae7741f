"""Decide what an answer adds to an item whose process was taken over before it could record it. Pure.

Whoever has taken the item over has booked the lost call at its worst case. The late answer replaces that booking by
what the call really cost. It settles the item if that is still open; else the outcome that is there stands.
"""

from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from batchwork.core.event import Admitted, Attempted, ItemEvent, Settled
from batchwork.core.failure import FailureKind
from batchwork.core.outcome import Failed, Status, Succeeded
from batchwork.core.runstate import ItemState

OPEN: Final = frozenset({Status.PENDING, Status.DEFERRED})
_SECOND = "its answer came after another one"


@dataclass(frozen=True, slots=True, kw_only=True)
class LateAnswer:
    """How a call has ended that was booked as lost: `attempts` were made before it, `reserved_nano` was set aside."""

    seq: int  # the number that its process gave the event
    event: Attempted | Settled
    attempts: int
    reserved_nano: int


def facts_of(late: LateAnswer, state: ItemState) -> tuple[ItemEvent, ...] | None:
    """What is to be recorded, by whoever is the only one to write about the item; None: its call is not booked yet.

    A call that its new process has under way stays admitted, and is booked when it ends. A late failure leaves the item
    to the others: that its process was away may be the reason.
    """
    event, worst = late.event, late.reserved_nano
    if worst and state.attempts <= late.attempts:
        return None
    outcome = event.outcome if isinstance(event, Settled) else None
    end: ItemEvent
    if isinstance(outcome, Succeeded) and state.status in OPEN:
        attempts = state.attempts if worst else state.attempts + 1
        cost = None if outcome.cost_nano is None else state.paid_nano - worst + event.charged_nano
        index = outcome.index if state.index is None else state.index
        answer = replace(outcome, index=index, attempts=attempts, cost_nano=cost)
        end = replace(event, outcome=answer)
    elif not worst or (event.charged_nano, event.unconfirmed) == (worst, True):
        return ()
    else:
        end = booking(event)
    lost = Attempted(item=event.item, kind=FailureKind.CONNECTION, charged_nano=-worst, unconfirmed=True)
    under_way = Admitted(item=event.item, reserved_nano=state.reserved_nano)
    return (*((lost,) if worst else ()), end, *((under_way,) if state.reserved_nano else ()))


def booking(event: Attempted | Settled) -> Attempted:
    """The cost of a call whose answer no longer counts, because the item has its outcome."""
    if isinstance(event, Attempted):
        return event
    outcome = event.outcome
    return Attempted(
        item=event.item,
        kind=outcome.failure.kind if isinstance(outcome, Failed) else FailureKind.CONNECTION,
        charged_nano=event.charged_nano,
        unconfirmed=event.unconfirmed,
        usage=outcome.usage,
        message=_SECOND,
        latency_s=outcome.latency_s,
    )
