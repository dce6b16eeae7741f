"""What late answers add to an item, in any order, beside a model that only counts calls."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from batchwork.core.event import Admitted, Attempted, ItemEvent, Settled
from batchwork.core.failure import FailureKind
from batchwork.core.late_answer import OPEN, LateAnswer, booking, facts_of
from batchwork.core.outcome import Status, Succeeded
from batchwork.core.runstate import ItemState, lost_call
from tests.support.journals import failed, succeeded

WORST = 100


@dataclass
class Call:
    """A call of one process: what the provider bills for it, and how it ends."""

    attempts: int
    cost: int
    end: str  # succeeded, failed or attempted

    def event(self) -> Attempted | Settled:
        if self.end == "attempted":
            return Attempted(item=0, kind=FailureKind.SERVER, charged_nano=self.cost)
        outcome = succeeded(0, f"of call {self.attempts}") if self.end == "succeeded" else failed(0)
        return Settled(item=0, outcome=outcome, charged_nano=self.cost)


class Item:
    """One item, on which processes work one after the other; those before the last were taken over."""

    def __init__(self) -> None:
        self.state = ItemState(0, b"", 0)
        self.spent = self.unconfirmed = self.reserved = 0
        self.outcome: str | None = None
        self.under_way: Call | None = None
        self.lost: list[Call] = []
        self.sent: list[Call] = []
        self.told: list[Call] = []  # their answers are recorded, in time or late

    def record(self, event: ItemEvent) -> None:
        if isinstance(event, Settled) and isinstance(event.outcome, Succeeded):
            assert self.state.status in OPEN  # nothing settled is settled again
            self.outcome = event.outcome.text
        spent, unconfirmed, reserved = self.state.apply(event)
        self.spent, self.unconfirmed = self.spent + spent, self.unconfirmed + unconfirmed
        self.reserved += reserved

    def send(self, cost: int, end: str) -> None:
        if self.under_way is None and self.state.status in OPEN:
            self.under_way = Call(self.state.attempts, cost, end)
            self.sent.append(self.under_way)
            self.record(Admitted(item=0, reserved_nano=WORST))

    def answer(self) -> None:
        """The process that has the item gets its answer, which may be the second one by now."""
        if self.under_way is None:
            return
        event, self.under_way = self.under_way.event(), None
        self.told.append(self.sent[-1])
        if self.state.status not in OPEN:
            event = booking(event)
        elif isinstance(event, Settled):  # its process knows of all attempts so far
            event = replace(event, outcome=replace(event.outcome, attempts=self.state.attempts + 1))
        self.record(event)

    def take_over(self) -> None:
        """Another process has it now, and books what it finds open."""
        if self.under_way is not None:
            self.lost.append(self.under_way)
            self.under_way = None
        if self.state.reserved_nano:
            self.record(lost_call(self.state))

    def hand_in(self, which: int) -> None:
        if not self.lost:
            return
        call = self.lost.pop(which % len(self.lost))
        late = LateAnswer(seq=1, event=call.event(), attempts=call.attempts, reserved_nano=WORST)
        facts = facts_of(late, self.state)
        assert facts is not None
        self.told.append(call)
        for fact in facts:
            self.record(fact)


STEPS = st.one_of(
    st.tuples(st.just("send"), st.integers(0, WORST), st.sampled_from(["succeeded", "failed", "attempted"])),
    st.just(("answer",)),
    st.just(("take_over",)),
    st.tuples(st.just("hand_in"), st.integers(0, 5)),
)


@given(st.lists(STEPS, max_size=40))
def test_whatever_the_order_every_call_is_booked_once_and_the_first_answer_stands(
    steps: list[tuple[object, ...]],
) -> None:
    item = Item()
    first: str | None = None
    for name, *arguments in steps:
        getattr(item, str(name))(*arguments)
        first = first or item.outcome
        billed = sum(call.cost for call in item.sent)
        assert item.outcome == first
        assert item.state.reserved_nano == item.reserved == (WORST if item.under_way else 0)
        assert item.spent + item.reserved >= billed - (item.under_way.cost if item.under_way else 0)
        assert item.spent == sum(call.cost for call in item.told) + WORST * len(item.lost)
        assert item.unconfirmed == WORST * len(item.lost)
        assert item.state.attempts >= len(item.told) + len(item.lost)
        assert (item.state.status is Status.SUCCEEDED) == (first is not None)


def test_a_call_that_is_not_booked_yet_waits_and_one_of_which_nothing_is_known_stays_booked() -> None:
    state = ItemState(0, b"", 0, reserved_nano=WORST)
    answer = Settled(item=0, outcome=succeeded(0), charged_nano=7)
    assert facts_of(LateAnswer(seq=1, event=answer, attempts=0, reserved_nano=WORST), state) is None
    state.apply(lost_call(state))
    unknown = Attempted(item=0, kind=FailureKind.TIMEOUT, charged_nano=WORST, unconfirmed=True)
    assert facts_of(LateAnswer(seq=1, event=unknown, attempts=0, reserved_nano=WORST), state) == ()
    (lost, settled) = facts_of(LateAnswer(seq=1, event=answer, attempts=0, reserved_nano=WORST), state) or ()
    assert (lost.item, lost.charged_nano, settled.outcome.attempts) == (0, -WORST, 1)  # type: ignore[attr-defined]
