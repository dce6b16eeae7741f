import asyncio

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from batchwork.core.failure import FailureKind
from batchwork.core.reply import Limit, ReportedLimits, Usage
from batchwork.engine.gate import Denied, Grant
from tests.support.gates import Line, in_virtual_time, join, make_gate, need, refusal
from tests.support.virtual_time import run_virtual


@in_virtual_time
async def test_no_more_than_the_window_are_in_flight_and_one_that_ends_makes_room() -> None:
    gate = make_gate(most=2)
    caller, line = join(gate), Line(gate)
    for n in range(4):
        line.want(str(n), caller, need(n))
    await line.settle()
    assert (line.names, gate.in_flight) == (["0", "1"], 2)
    gate.release(line.granted("1"), charged_nano=0)
    await line.settle()
    assert line.names == ["0", "1", "2"]
    await line.close()


@in_virtual_time
async def test_within_a_caller_the_lowest_order_goes_first() -> None:
    gate = make_gate(most=1)
    caller, line = join(gate), Line(gate)
    for name in "7315":
        line.want(name, caller, need(int(name)))
    await line.settle()
    while len(line.told) < 4:
        gate.release(line.granted(line.names[-1]), charged_nano=0)
        await line.settle()
    assert line.names == ["7", "1", "3", "5"]
    await line.close()


@in_virtual_time
async def test_callers_take_turns_however_long_their_lines_are() -> None:
    gate = make_gate(most=1)
    long, short, line = join(gate), join(gate), Line(gate)
    for n in range(6):
        line.want(f"long {n}", long, need(n))
    for n in range(2):
        line.want(f"short {n}", short, need(n))
    await line.settle()
    while len(line.told) < 8:
        gate.release(line.granted(line.names[-1]), charged_nano=0)
        await line.settle()
    assert sorted(line.names.index(f"short {n}") for n in range(2)) <= [2, 4]
    await line.close()


@in_virtual_time
async def test_each_caller_has_its_own_bound() -> None:
    gate = make_gate(most=10)
    narrow, wide, line = join(gate, bound=1), join(gate), Line(gate)
    for n in range(3):
        line.want(f"narrow {n}", narrow, need(n))
        line.want(f"wide {n}", wide, need(n))
    await line.settle()
    assert sorted(line.names) == ["narrow 0", "wide 0", "wide 1", "wide 2"]
    await line.close()


@in_virtual_time
async def test_requests_leave_at_the_rate_that_was_stated() -> None:
    gate = make_gate(rpm=60)
    caller, line = join(gate), Line(gate)
    for n in range(6):
        line.want(str(n), caller, need(n))
    await asyncio.sleep(10)
    assert [round(line.at[str(n)], 3) for n in range(6)] == [0, 0, 1, 2, 3, 4]
    await line.close()


@in_virtual_time
async def test_at_a_fast_rate_calls_leave_in_groups_and_none_of_the_rate_is_lost() -> None:
    gate = make_gate(most=3000, rpm=300_000)  # five in a millisecond, and a bucket of 250
    caller, line = join(gate, bound=3000), Line(gate)
    for n in range(2250):
        line.want(str(n), caller, need(n))
    await asyncio.sleep(1)
    assert len(line.at) == 2250
    assert max(line.at.values()) == pytest.approx(0.4, abs=0.01)
    assert len(set(line.at.values())) <= 82
    await line.close()


@pytest.mark.parametrize("limit", ["input_tpm", "output_tpm"])
def test_tokens_leave_at_the_rate_that_was_stated(limit: str) -> None:
    async def main() -> None:
        gate = make_gate(**{limit: 6000})
        caller, line = join(gate), Line(gate)
        for n in range(3):
            line.want(str(n), caller, need(n, tokens=100))
        await asyncio.sleep(10)
        assert [round(line.at[str(n)]) for n in range(3)] == [0, 1, 2]
        await line.close()

    run_virtual(main())


@in_virtual_time
async def test_a_call_that_used_less_than_expected_gives_the_rest_back() -> None:
    gate = make_gate(input_tpm=6000)
    caller, line = join(gate), Line(gate)
    line.want("big", caller, need(0, tokens=100))
    line.want("next", caller, need(1, tokens=100))
    await line.settle()
    gate.release(line.granted("big"), charged_nano=0, usage=Usage(input_tokens=0, output_tokens=0))
    await line.settle()
    assert line.names == ["big", "next"]
    await line.close()


@in_virtual_time
async def test_a_retry_after_holds_the_call_that_was_refused_and_nobody_else() -> None:
    gate = make_gate()
    first, second, line = join(gate), join(gate), Line(gate)
    line.want("refused", first, need())
    await line.settle()
    gate.release(line.granted("refused"), charged_nano=0, failure=refusal(after=30.0))
    line.want("other", second, need())
    await asyncio.sleep(3)
    assert line.names == ["refused", "other"]
    await line.close()


@in_virtual_time
async def test_when_nobody_is_let_through_everybody_waits_and_one_call_tries_whether_it_is_over() -> None:
    gate = make_gate(most=20)
    caller, line = join(gate), Line(gate)
    for n in range(150):
        line.want(str(n), caller, need(n))
    refused = 0
    while refused < len(line.told) or not refused:  # whatever was started is refused, until nobody starts any more
        await asyncio.sleep(0.05)
        failure = refusal(after=10.0, kind=FailureKind.OVERLOADED)
        gate.release(line.granted(str(refused)), charged_nano=0, failure=failure)
        refused += 1
        await line.settle()
    started = len(line.told)
    await asyncio.sleep(10.2)
    assert len(line.told) == started + 1
    gate.release(line.granted(str(started)), charged_nano=0, failure=refusal(after=5.0, kind=FailureKind.OVERLOADED))
    await asyncio.sleep(4.5)
    assert len(line.told) == started + 1
    await asyncio.sleep(2.0)  # the next one is not refused within half a second
    assert len(line.told) > started + 3
    await line.close()


@in_virtual_time
async def test_no_herd_follows_the_end_of_a_quota() -> None:
    gate = make_gate(most=100)
    caller, line = join(gate), Line(gate)
    for n in range(150):
        line.want(str(n), caller, need(n))
    await line.settle()
    for n in range(100):
        gate.release(line.granted(str(n)), charged_nano=0, failure=refusal(after=10.0, kind=FailureKind.QUOTA))
    await asyncio.sleep(10.5)
    assert len(line.told) - 100 == 4
    await line.close()


@in_virtual_time
async def test_a_hundred_refusals_of_one_episode_cut_the_window_once() -> None:
    gate = make_gate(most=100)
    caller, line = join(gate), Line(gate)
    for n in range(300):
        line.want(str(n), caller, need(n))
    await asyncio.sleep(1)
    for n in range(100):
        gate.release(line.granted(str(n)), charged_nano=0, failure=refusal(kind=FailureKind.OVERLOADED))
    await asyncio.sleep(2)
    assert gate.window == 70
    await line.close()


@in_virtual_time
async def test_a_limited_provider_is_met_slowly_until_it_tells_its_limits() -> None:
    gate = make_gate(most=100, slow=True)
    caller, line = join(gate), Line(gate)
    for n in range(100):
        line.want(str(n), caller, need(n))
    await line.settle()
    assert gate.in_flight == 4
    limits = ReportedLimits(requests=Limit(per_minute=60_000, remaining=900))
    gate.release(line.granted("0"), charged_nano=0, usage=Usage(), limits=limits)
    await asyncio.sleep(1)
    assert gate.in_flight == 99
    await line.close()


@in_virtual_time
async def test_limits_told_by_the_provider_are_kept() -> None:
    gate = make_gate()
    caller, line = join(gate), Line(gate)
    line.want("first", caller, need())
    await line.settle()
    limits = ReportedLimits(requests=Limit(per_minute=60, remaining=0))
    gate.release(line.granted("first"), charged_nano=0, usage=Usage(), limits=limits)
    for n in range(3):
        line.want(str(n), caller, need(n))
    await asyncio.sleep(10)
    assert [round(line.at[str(n)]) for n in range(3)] == [1, 2, 3]
    await line.close()


@in_virtual_time
async def test_where_the_user_states_a_limit_the_lower_one_holds() -> None:
    gate = make_gate(rpm=60)
    caller, line = join(gate), Line(gate)
    line.want("first", caller, need())
    await line.settle()
    higher = ReportedLimits(requests=Limit(per_minute=6000, remaining=100))
    gate.release(line.granted("first"), charged_nano=0, usage=Usage(), limits=higher)
    for n in range(3):
        line.want(str(n), caller, need(n))
    await asyncio.sleep(10)
    assert [round(line.at[str(n)]) for n in range(3)] == [0, 1, 2]
    await line.close()


@in_virtual_time
async def test_a_waiter_that_is_cancelled_leaves_no_trace() -> None:
    gate = make_gate(most=1, ceiling=100)
    caller, line = join(gate), Line(gate)
    line.want("holder", caller, need(0, worst=60))
    line.want("waiting", caller, need(1, worst=40))
    await line.settle()
    line.tasks["waiting"].cancel()
    await line.settle()
    assert (caller.in_flight + len(caller.queue), gate.in_flight, gate.ledger.reserved) == (1, 1, 60)
    gate.release(line.granted("holder"), charged_nano=0)
    assert (gate.in_flight, gate.ledger.reserved, gate.ledger.spent) == (0, 0, 0)
    await line.close()


@in_virtual_time
async def test_one_that_is_cancelled_in_the_moment_it_is_admitted_gives_everything_back() -> None:
    gate = make_gate(most=1, ceiling=100, rpm=60)
    caller, line = join(gate), Line(gate)
    line.want("holder", caller, need(0, worst=60))
    line.want("unlucky", caller, need(1, worst=40))
    await line.settle()
    gate.release(line.granted("holder"), charged_nano=10)
    line.tasks["unlucky"].cancel()
    await line.settle()
    assert (gate.in_flight, gate.ledger.reserved, gate.ledger.spent) == (0, 0, 10)
    line.want("next", caller, need(2, worst=40))
    await line.settle()
    assert line.names == ["holder", "next"]
    await line.close()


@in_virtual_time
async def test_one_that_waits_for_money_and_is_cancelled_is_forgotten() -> None:
    gate = make_gate(ceiling=100)
    caller, line = join(gate), Line(gate)
    line.want("holder", caller, need(0, worst=60))
    line.want("parked", caller, need(1, worst=50))
    await line.settle()
    line.tasks["parked"].cancel()
    await line.settle()
    gate.release(line.granted("holder"), charged_nano=0)
    await line.settle()
    assert (gate.in_flight, gate.ledger.reserved, caller.parked) == (0, 0, [])
    await line.close()


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 80), st.integers(0, 20), st.integers(0, 20), st.booleans()), min_size=1, max_size=25
    )
)
@example(  # one that goes away stood before another that waits for money
    [
        (0, 0, 0, True),
        (27, 1, 0, False),
        (79, 3, 3, True),
        (80, 0, 4, True),
        (0, 0, 5, True),
        (55, 0, 17, True),
        (80, 14, 0, False),
        (0, 0, 0, False),
        (35, 0, 0, False),
        (74, 0, 0, False),
    ]
)
def test_no_slot_and_no_reservation_ever_leaks(calls: list[tuple[int, int, int, bool]]) -> None:
    async def main() -> None:
        gate = make_gate(most=3, ceiling=200, rpm=600)
        callers = [join(gate, bound=2), join(gate)]

        async def call(order: int, worst: int, seconds: int) -> None:
            grant = await gate.admit(callers[order % 2], need(order, worst))
            if isinstance(grant, Grant):
                sent = False
                try:
                    await asyncio.sleep(seconds)
                    sent = True
                finally:
                    gate.release(grant, charged_nano=worst // 2) if sent else gate.abandon(grant, sent=False)

        tasks = [asyncio.ensure_future(call(n, worst, seconds)) for n, (worst, seconds, _, _) in enumerate(calls)]
        for task, (_, _, when, cancelled) in zip(tasks, calls, strict=True):
            if cancelled:
                asyncio.get_running_loop().call_later(when, task.cancel)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (gate.in_flight, gate.ledger.reserved) == (0, 0)
        assert [caller.in_flight + len(caller.queue) for caller in callers] == [0, 0]
        assert gate.ledger.spent <= 200

    run_virtual(main())


@in_virtual_time
async def test_a_closed_caller_is_turned_away_and_the_others_go_on() -> None:
    gate = make_gate(most=1)
    closing, other, line = join(gate), join(gate), Line(gate)
    line.want("in flight", closing, need(0))
    line.want("in line", closing, need(1))
    line.want("other", other, need(0))
    await line.settle()
    gate.close(closing)
    line.want("late", closing, need(2))
    await line.settle()
    assert [dict(line.told)[name] for name in ("in line", "late")] == [Denied.CLOSED, Denied.CLOSED]
    gate.release(line.granted("in flight"), charged_nano=0)
    await line.settle()
    assert line.names[-1] == "other"
    await line.close()


@in_virtual_time
async def test_a_first_wave_gives_nothing_back_to_a_limit_that_is_told_after_it() -> None:
    gate = make_gate()
    caller, line = join(gate), Line(gate)
    for n in range(100):
        line.want(f"wave {n}", caller, need(n, tokens=20))
    await asyncio.sleep(0.1)
    told = ReportedLimits(input_tokens=Limit(per_minute=60_000, remaining=0))
    for name in line.names:  # a provider that lets 50 calls of 20 tokens through in a second
        gate.release(line.granted(name), charged_nano=0, failure=refusal(1.0), limits=told)
    for n in range(100):
        line.want(f"later {n}", caller, need(n, tokens=20))
    await line.settle()
    assert line.names[100:] == [], "nothing is left there, and what was refused had taken nothing of it"
    await line.close()
