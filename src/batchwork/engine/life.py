"""One item on its way from its first call to its outcome: the same for live calls, batches and attached batches."""

from typing import Self

import msgspec

from batchwork.core.decision import Tries
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.failure_table import is_refusal
from batchwork.core.intake import Work
from batchwork.core.pricing import Charge
from batchwork.core.reply import Usage
from batchwork.core.request import Message, Request
from batchwork.core.runstate import ItemState


class Life(msgspec.Struct, gc=False, eq=False):
    """What has happened to an item so far."""

    item: int
    index: int
    original: Request  # what the input asks
    request: Request  # what is asked now: it may carry the turns of a re-ask
    attempts: int
    paid_nano: int
    deferred: bool = False  # that is what the journal says of it
    bound: int = 0  # of the input tokens of what is asked now
    charged_nano: int = 0  # by the last call, and not written down yet
    unconfirmed: bool = False  # that charge is the worst case
    cut_off: bool = False  # the run ended while its last call was in flight
    settled: bool = False  # its outcome is shown
    failures: int = 0
    refusals: int = 0
    expiries: int = 0
    reasks: int = 0
    started: float | None = None  # its first call: how long it stood in line says nothing about it
    is_resent: bool = False  # it was in another batch of this run
    refused_at: float | None = None  # its first refusal
    in_line_s: float = 0.0  # since its first call, and not counted where the time for retries is bounded
    latency_s: float = 0.0
    usage: Usage | None = None

    @classmethod
    def of(cls, work: Work) -> Self:
        """The life of an item that is to be done."""
        request = work.request
        assert request is not None
        return cls(work.item, work.index, request, request, work.attempts, work.paid_nano, work.deferred)

    @classmethod
    def known(cls, state: ItemState, request: Request) -> Self:
        """The life of an item of which an earlier run has left nothing but what stands in the journal."""
        index = state.index if state.index is not None else 0
        return cls(state.item, index, request, request, state.attempts, state.paid_nano)

    def book(self, charge: Charge, usage: Usage | None) -> None:
        """A call has ended, and cost so much."""
        self.charged_nano, self.unconfirmed = charge
        self.paid_nano += charge.nano
        self.attempts += 1
        self.deferred = False
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage + usage

    def elapsed_s(self, now: float) -> float:
        """Since its first call, without the time in which it waited for a slot."""
        return 0.0 if self.started is None else now - self.in_line_s - self.started

    def count(self, failure: Failure, now: float, *, line: bool) -> Tries:
        """How often it was tried, this failure counted in."""
        if failure.kind is FailureKind.EXPIRED:
            self.expiries += 1
        elif is_refusal(failure) and not line:
            self.refusals += 1
            if self.refused_at is None:
                self.refused_at = now
        else:
            self.failures += 1
        refused_s = 0.0 if self.refused_at is None else now - self.refused_at
        return Tries(self.failures, self.refusals, self.expiries, self.elapsed_s(now), refused_s)

    def wait_for_quota(self) -> None:
        """That says nothing about the item: it uses up no retry, and refusals are counted anew."""
        self.failures -= 1
        self.refused_at = None

    def ask_again(self, turns: tuple[Message, ...]) -> None:
        """The answer will not do: the same again, with these turns behind it."""
        self.reasks += 1
        self.request = msgspec.structs.replace(self.original, messages=(*self.original.messages, *turns))
