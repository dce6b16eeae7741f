"""The one settler: what a call costs goes onto the item's account, into the run's sums and into the journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from batchwork.core.errors import CallbackError
from batchwork.core.event import Attempted, Event, Reopened, Settled
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.outcome import Deferred, Failed, Skipped, Succeeded
from batchwork.core.reply import Limit, Reply, ReportedLimits, Usage
from batchwork.core.stats import Tally
from batchwork.engine.life import Life
from batchwork.engine.settler import Settler, listener_for, tell
from batchwork.journal import codec
from tests.support.parts import life_of, parts
from tests.support.scripted import failure, reply
from tests.support.virtual_time import run_virtual


def settled(work: Callable[[Settler, Life, Tally], Any], **others: Any) -> tuple[Any, list[Event]]:
    """What `work` comes to, and what the journal recorded of it."""

    async def main() -> tuple[Any, list[Event]]:
        made, tally = parts(**others), Tally()
        life = life_of(made)
        events: list[Event] = []
        made.journal.listener = events.append
        return work(Settler(made, tally), life, tally), events

    return run_virtual(main())


def test_a_call_is_booked_once_on_the_item_and_once_in_the_sums() -> None:
    def work(settler: Settler, life: Life, tally: Tally) -> tuple[int, int, int, int]:
        settler.book(life, reply(tokens_in=10, tokens_out=5), worst_nano=99_000)
        return life.paid_nano, life.attempts, tally.charged_nano, tally.input_tokens

    found, _ = settled(work)
    assert found == (15_000, 1, 15_000, 10)


def test_what_may_be_billed_without_a_word_is_booked_at_its_worst_case_as_unconfirmed() -> None:
    def work(settler: Settler, life: Life, tally: Tally) -> tuple[int, int]:
        settler.book(life, failure(FailureKind.TIMEOUT, unconfirmed=True), worst_nano=99_000)
        return life.paid_nano, tally.unconfirmed_nano

    assert settled(work)[0] == (99_000, 99_000)


def test_an_outcome_is_recorded_with_the_charge_of_its_last_call() -> None:
    def work(settler: Settler, life: Life, tally: Tally) -> Succeeded:
        answer = reply()
        settler.book(life, answer, worst_nano=99_000)
        outcome = settler.succeeded(life, answer, None)
        settler.record_outcome(life, outcome)
        return outcome

    outcome, events = settled(work)
    assert [type(event) for event in events] == [Settled]
    assert (outcome.cost_nano, events[0].charged_nano) == (15_000, 15_000)


@pytest.mark.parametrize(
    ("result", "request_id", "tokens"),
    [
        (Failure(kind=FailureKind.SERVER, message="x" * 999, request_id="req_1"), "req_1", None),
        (Failure(kind=FailureKind.SERVER, message="lone \ud800"), None, None),
        (Reply(text="no", usage=Usage(input_tokens=10), provider_id="msg_1"), "msg_1", 10),
    ],
)
def test_an_attempt_is_recorded_with_what_it_used_why_it_failed_and_by_which_name_the_provider_knows_it(
    result: Any, request_id: str | None, tokens: int | None
) -> None:
    def work(settler: Settler, life: Life, tally: Tally) -> None:
        life.latency_s = 1.5
        settler.book(life, result, worst_nano=99_000)
        final = failure(FailureKind.SCHEMA_VIOLATION) if isinstance(result, Reply) else result
        settler.record_attempt(life, result, final)

    _, (event,) = settled(work)
    assert isinstance(event, Attempted)
    assert codec.encode(event, {})
    assert 0 < len(event.message) <= 300
    assert (event.request_id, event.usage and event.usage.input_tokens, event.latency_s) == (request_id, tokens, 1.5)


def test_an_item_that_is_deferred_again_is_not_recorded_again() -> None:
    def work(settler: Settler, life: Life, tally: Tally) -> Deferred:
        life.deferred = True
        outcome = settler.deferred(life, 5)
        settler.record_outcome(life, outcome)
        return outcome

    outcome, events = settled(work)
    assert (outcome.needed_nano, events) == (5, [])


def test_without_a_price_nothing_paid_is_unknown_and_never_zero() -> None:
    def work(settler: Settler, life: Life, tally: Tally) -> Failed:
        return settler.failed(life, failure(FailureKind.REFUSED))

    assert settled(work, price=None)[0].cost_nano is None


def test_bodies_are_kept_only_where_somebody_wants_them() -> None:
    import msgspec

    answer = msgspec.structs.replace(reply(), body=b"{}")

    def work(settler: Settler, life: Life, tally: Tally) -> bytes | None:
        return settler.succeeded(life, answer, None).reply.body

    assert [settled(work, keep_bodies=wanted)[0] for wanted in (True, False)] == [b"{}", None]


def test_a_journal_tells_everything_as_it_records_it_but_outcomes() -> None:
    heard: list[Event] = []
    listener = listener_for(heard.append)
    assert listener is not None
    listener(Settled(item=0, outcome=Skipped(index=0, reason="empty")))
    listener(Reopened(item=0))
    assert heard == [Reopened(item=0)]


def test_where_nobody_listens_nothing_is_called() -> None:
    assert listener_for(None) is None
    tell(None, Reopened(item=0))


def test_what_a_callback_raises_is_named_as_its_fault() -> None:
    def broken(event: Event) -> None:
        raise ZeroDivisionError("oops")

    with pytest.raises(CallbackError, match="on_event raised ZeroDivisionError: oops"):
        tell(broken, Reopened(item=0))


def test_limits_are_kept_with_the_reply_that_tells_them_first_or_anew() -> None:
    def work(settler: Settler, life: Life, tally: Tally) -> list[dict[str, float] | None]:
        told = [
            ReportedLimits(requests=Limit(per_minute=rate, remaining=left))
            for rate, left in ((60.0, 9), (60.0, 8), (90.0, 7))
        ]
        kept = [settler.succeeded(life, reply(limits=limits), None).reply.limits for limits in (*told, None)]
        return [limits and limits.per_minute() for limits in kept]

    assert settled(work)[0] == [{"requests": 60.0}, None, {"requests": 90.0}, None]
