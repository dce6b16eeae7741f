"""The gate and money: who waits, who overtakes, who is told that there is none."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from batchwork.engine.gate import Denied, Grant
from tests.support.gates import Line, in_virtual_time, join, make_gate, need
from tests.support.virtual_time import run_virtual


@in_virtual_time
async def test_what_does_not_fit_steps_aside_and_cheaper_calls_overtake() -> None:
    gate = make_gate(ceiling=100)
    caller, line = join(gate), Line(gate)
    line.want("holder", caller, need(0, worst=60))
    line.want("dear", caller, need(1, worst=50))
    line.want("cheap", caller, need(2, worst=40))
    await line.settle()
    assert line.names == ["holder", "cheap"]
    gate.release(line.granted("holder"), charged_nano=1)
    gate.release(line.granted("cheap"), charged_nano=1)
    await line.settle()
    assert line.names[-1] == "dear"
    assert isinstance(line.granted("dear"), Grant)
    await line.close()


@in_virtual_time
async def test_what_can_no_longer_fit_is_told_so_as_soon_as_that_is_certain() -> None:
    gate = make_gate(ceiling=100)
    caller, line = join(gate), Line(gate)
    line.want("holder", caller, need(0, worst=60))
    line.want("dear", caller, need(1, worst=50))
    line.want("never", caller, need(2, worst=101))
    await line.settle()
    assert dict(line.told)["never"] is Denied.NO_MONEY
    assert "dear" not in line.names
    gate.release(line.granted("holder"), charged_nano=60)
    await line.settle()
    assert dict(line.told)["dear"] is Denied.NO_MONEY
    await line.close()


@settings(max_examples=60)
@given(
    ceiling=st.integers(0, 400),
    calls=st.lists(st.tuples(st.integers(1, 120), st.floats(0, 1), st.integers(1, 9)), max_size=25),
)
def test_at_the_end_nothing_is_denied_that_surely_fitted(ceiling: int, calls: list[tuple[int, float, int]]) -> None:
    async def main() -> None:
        gate = make_gate(ceiling=ceiling, most=5)
        caller = join(gate)
        denied: list[int] = []

        async def call(order: int, worst: int, share: float, seconds: int) -> None:
            grant = await gate.admit(caller, need(order, worst))
            if isinstance(grant, Denied):
                assert gate.ledger.spent + worst > ceiling, "denied although it fitted"
                denied.append(worst)
                return
            await asyncio.sleep(seconds)
            gate.release(grant, charged_nano=int(worst * share))

        await asyncio.gather(*(call(n, *one) for n, one in enumerate(calls)))
        assert gate.ledger.spent <= ceiling
        assert gate.ledger.reserved == 0
        assert all(gate.ledger.spent + worst > ceiling for worst in denied)

    run_virtual(main())


@in_virtual_time
async def test_thousands_who_wait_for_money_are_told_together_that_there_is_none() -> None:
    gate = make_gate(most=1000, ceiling=10_000)
    caller, line = join(gate, bound=5000), Line(gate)
    line.want("holder", caller, need(0, worst=9_999))
    for n in range(4000):
        line.want(f"parked {n}", caller, need(n + 1, worst=2))
    await line.settle()
    gate.release(line.granted("holder"), charged_nano=9_999)
    await line.settle()
    assert sum(answer is Denied.NO_MONEY for _, answer in line.told) == 4000
    await line.close()
