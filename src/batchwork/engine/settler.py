"""Books what calls cost and settles items: the one settler of live runs, batch runs and attached batches.

Every fact goes to the journal before anybody sees it; what a callback raises stops the run cleanly. What a call costs
is decided in `core/pricing.py`.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from batchwork.core.errors import CallbackError
from batchwork.core.event import LONGEST_MESSAGE, Attempted, Event, Settled
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.intake import Work
from batchwork.core.outcome import AnyOutcome, Deferred, Failed, Pending, Succeeded
from batchwork.core.pricing import Charge, charge_for
from batchwork.core.reply import Reply, ReportedLimits
from batchwork.core.stats import Tally
from batchwork.engine.life import Life
from batchwork.engine.parts import Parts


class Settler:
    """Keeps the accounts of the items of one run."""

    def __init__(self, parts: Parts, tally: Tally) -> None:
        self._p = parts
        self._tally = tally
        self._price = parts.price if parts.price is not None and not parts.price.is_free else None
        self._told: tuple[float | None, ...] = ()  # the provider's rates, as it told them last

    def book(self, life: Life, result: Reply | Failure, *, worst_nano: int) -> None:
        """A call has ended: its cost goes onto the item's account and into the run's sums."""
        charge = charge_for(result, price=self._price, worst_nano=worst_nano)
        usage = result.usage
        life.book(charge, usage)
        self._tally.charged_nano += charge.nano
        if charge.unconfirmed:
            self._tally.unconfirmed_nano += charge.nano
        if usage is not None:
            self._tally.input_tokens += usage.input_tokens
            self._tally.output_tokens += usage.output_tokens

    def cut_off(self, life: Life, worst_nano: int) -> None:
        """The run ends while a call is in flight; the run's own sums have it from the journal, when it has ended."""
        life.book(Charge(worst_nano, unconfirmed=True), None)
        life.cut_off = True

    def leave(self, life: Life) -> None:
        """The run ends before the item has an outcome: tell what its calls cost so far."""
        if self._p.on_left is not None and life.attempts:
            self._p.on_left(Pending(cut_off=life.cut_off, **self._so_far(life)))

    def unbook_lost(self, life: Life, nano: int) -> None:
        """An answer was booked at its worst case because it could not be had, and has come after all."""
        if not nano:
            return
        life.paid_nano -= nano
        life.attempts -= 1
        self._tally.charged_nano -= nano
        self._tally.unconfirmed_nano -= nano
        kind = FailureKind.RESULT_LOST
        self._p.journal.record(Attempted(item=life.item, kind=kind, charged_nano=-nano, unconfirmed=True))

    def record_attempt(self, life: Life, result: Reply | Failure, failure: Failure) -> None:
        """Record a call that did not settle its item: what came back, and the failure that it is for the item."""
        reply = result if isinstance(result, Reply) else result.reply
        self._p.journal.record(
            Attempted(
                item=life.item,
                kind=failure.kind,
                charged_nano=life.charged_nano,
                unconfirmed=life.unconfirmed,
                usage=result.usage,
                message=failure.message[:LONGEST_MESSAGE].encode("utf-8", "replace").decode(),
                request_id=failure.request_id if reply is None else reply.provider_id,
                latency_s=life.latency_s,
            )
        )
        life.charged_nano, life.unconfirmed = 0, False

    def record_outcome(self, life: Life, outcome: AnyOutcome) -> Settled:
        """Record an outcome; one that was deferred and is deferred again stands in the journal already."""
        event = Settled(item=life.item, outcome=outcome, charged_nano=life.charged_nano, unconfirmed=life.unconfirmed)
        if not (life.deferred and isinstance(outcome, Deferred)):
            self._p.journal.record(event)
        return event

    def record_unsent(self, work: Work) -> Settled:
        """Record that an item cannot even be asked."""
        failure = Failure(kind=FailureKind.BAD_INPUT, message=work.problem or "not a request")
        cost = self._known(work.paid_nano)
        outcome = Failed(index=work.index, failure=failure, attempts=work.attempts, cost_nano=cost)
        event = Settled(item=work.item, outcome=outcome)
        self._p.journal.record(event)
        return event

    def show(self, event: Settled) -> None:
        """It is on disk: everybody may see it. Raises CallbackError where a callback raised."""
        self._tally.count(event.outcome)
        if self._p.on_event is not None:
            tell(self._p.on_event, event)
        if self._p.on_settled is not None:
            self._p.on_settled(event.outcome)

    def succeeded(self, life: Life, reply: Reply, value: object) -> Succeeded:
        """The item has its answer."""
        return Succeeded(  # written out: nearly every item comes this way
            index=life.index,
            reply=self._slim(reply),
            parsed=value,
            attempts=life.attempts,
            cost_nano=self._known(life.paid_nano),
            usage=life.usage,
            latency_s=life.latency_s,
            label=life.request.label,
        )

    def failed(self, life: Life, failure: Failure) -> Failed:
        """The item is given up."""
        reply = None if failure.reply is None else self._slim(failure.reply)
        kept = msgspec.structs.replace(failure, limits=None, reply=reply)
        return Failed(failure=kept, **self._so_far(life))

    def deferred(self, life: Life, worst_nano: int) -> Deferred:
        """There is no money for it."""
        ledger = self._p.gate.ledger
        budget_nano = (ledger.lacking(worst_nano) or ledger).budget
        return Deferred(needed_nano=worst_nano, budget_nano=budget_nano, **self._so_far(life))

    def _so_far(self, life: Life) -> dict[str, Any]:
        return {
            "index": life.index,
            "attempts": life.attempts,
            "cost_nano": self._known(life.paid_nano),
            "usage": life.usage,
            "latency_s": life.latency_s,
            "label": life.request.label,
        }

    def _known(self, nano: int) -> int | None:
        return nano if self._p.price is not None else nano or None

    def _slim(self, reply: Reply) -> Reply:
        """A reply without what only the gate needs, and without its body where nobody wants that."""
        body = reply.body if self._p.keep_bodies else None
        if reply.limits is None and reply.body is body:
            return reply
        return msgspec.structs.replace(reply, limits=self._news(reply.limits), body=body)

    def _news(self, limits: ReportedLimits | None) -> ReportedLimits | None:
        """The provider's limits where their rates are new: the journal keeps them with the reply that told them."""
        if limits is None or (told := limits.rates()) == self._told:
            return None
        self._told = told
        return limits


def listener_for(on_event: Callable[[Event], None] | None) -> Callable[[Event], None] | None:
    """What a journal is to call: everything is told as it is recorded but outcomes, which are told once on disk."""
    if on_event is None:
        return None
    return lambda event: None if isinstance(event, Settled) else tell(on_event, event)


def tell(on_event: Callable[[Event], None] | None, event: Event) -> None:
    """Call back, if there is anybody to call. Raises CallbackError where the callback raised."""
    if on_event is None:
        return
    try:
        on_event(event)
    except Exception as error:  # the user's callback is foreign code
        raise CallbackError(f"on_event raised {type(error).__name__}: {error}") from error
