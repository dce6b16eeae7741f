"""How much of a turn of the event loop work may take."""

import asyncio

import pytest

from batchwork.server.loop_time import LoopTime, TimeSlices


class Stopped:
    """A clock that moves by hand."""

    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Stopped:
    return Stopped()


def loop_time(clock: Stopped) -> LoopTime:
    made = LoopTime()
    made.clock = clock  # type: ignore[assignment]
    return made


def test_a_turn_has_eight_milliseconds_and_the_next_one_has_them_again(clock: Stopped) -> None:
    async def story() -> None:
        time = loop_time(clock)
        assert time.is_left()
        clock.at = 0.009
        assert not time.is_left()
        await asyncio.sleep(0)
        assert time.is_left()

    asyncio.run(story())


def test_those_who_wait_go_on_one_per_turn_in_the_order_they_came(clock: Stopped) -> None:
    async def story() -> None:
        time, order = loop_time(clock), list[int]()

        async def work(number: int) -> None:
            await time.wait()
            order.append(number)
            clock.at += 0.01  # more than a turn has

        tasks = [asyncio.create_task(work(number)) for number in range(4)]
        per_turn = []
        while len(order) < 4:
            before = len(order)
            await asyncio.sleep(0)
            per_turn.append(len(order) - before)
        assert order == [0, 1, 2, 3]
        assert max(per_turn) == 1
        await asyncio.gather(*tasks)

    asyncio.run(story())


def test_one_that_gives_up_waiting_stands_in_nobodys_way(clock: Stopped) -> None:
    async def story() -> tuple[bool, bool]:
        time = loop_time(clock)

        async def use_up_the_turn() -> None:
            time.is_left()
            clock.at = 1.0

        jobs = (use_up_the_turn(), time.wait(), time.wait())
        _, first, second = [asyncio.create_task(job) for job in jobs]
        await asyncio.sleep(0)
        assert not first.done()
        first.cancel()
        await asyncio.wait([first, second], timeout=1)
        return first.cancelled(), second.done() and not second.cancelled()

    assert asyncio.run(story()) == (True, True)


def test_a_task_works_through_its_slice_before_it_waits_again(clock: Stopped) -> None:
    async def story() -> int:
        slices, waits = TimeSlices(loop_time(clock)), 0
        for _ in range(20):
            clock.at += 0.001
            before = slices._until
            await slices.next()
            waits += slices._until != before
        return waits

    assert asyncio.run(story()) == 5
