"""How an item ends: the outcomes that follow from its life, recorded and told. The same for every way of calling."""

from __future__ import annotations

from typing import Any

import msgspec

from batchwork.core.event import Settled
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.intake import Work
from batchwork.core.outcome import AnyOutcome, Deferred, Failed, Succeeded
from batchwork.core.reply import Reply
from batchwork.core.stats import Tally
from batchwork.engine.life import Life
from batchwork.engine.parts import Parts
from batchwork.engine.telling import tell


class Settler:
    """Makes the outcomes of one run."""

    def __init__(self, parts: Parts, tally: Tally) -> None:
        self._p = parts
        self._tally = tally

    def succeeded(self, index: int, life: Life, reply: Reply, value: object) -> Succeeded:
        """It has its answer."""
        return Succeeded(  # written out: nearly every item comes this way
            index=index,
            reply=self._slim(reply),
            parsed=value,
            attempts=life.attempts,
            cost_nano=self._known(life.paid_nano),
            usage=life.usage,
            latency_s=life.latency_s,
            label=life.request.label,
        )

    def failed(self, index: int, life: Life, failure: Failure) -> Failed:
        """It is given up."""
        reply = None if failure.reply is None else self._slim(failure.reply)
        kept = msgspec.structs.replace(failure, limits=None, reply=reply)
        return Failed(index=index, failure=kept, **self._so_far(life))

    def deferred(self, index: int, life: Life, worst_nano: int) -> Deferred:
        """There is no money for it."""
        return Deferred(index=index, needed_nano=worst_nano, **self._so_far(life))

    def unsent(self, work: Work) -> Failed:
        """It cannot even be asked."""
        failure = Failure(kind=FailureKind.BAD_INPUT, message=work.problem or "not a request")
        cost = self._known(work.paid_nano)
        return Failed(index=work.index, failure=failure, attempts=work.attempts, cost_nano=cost)

    def event(self, item: int, outcome: AnyOutcome, charged_nano: int) -> Settled:
        """The fact that an item has its outcome."""
        failure = outcome.failure if isinstance(outcome, Failed) else None
        unconfirmed = failure is not None and failure.unconfirmed and failure.usage is None
        return Settled(item=item, outcome=outcome, charged_nano=charged_nano, unconfirmed=unconfirmed)

    def show(self, event: Settled) -> None:
        """It is on disk: everybody may see it.

        Raises:
            CallbackError: a callback raised.
        """
        self._tally.count(event.outcome)
        tell(self._p.on_event, event)
        if self._p.on_settled is not None:
            self._p.on_settled(event.outcome)

    def _so_far(self, life: Life) -> dict[str, Any]:
        return {
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
        return msgspec.structs.replace(reply, limits=None, body=body)
