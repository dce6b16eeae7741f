import asyncio

from batchwork.clock import SystemClock
from batchwork.engine.waits import Waits
from tests.support.virtual_time import run_virtual, virtual_now


def test_a_wait_takes_its_time_and_is_counted_while_it_does() -> None:
    async def main() -> tuple[int, int, float]:
        waits = Waits(SystemClock())
        task = asyncio.create_task(waits.wait(5.0))
        await asyncio.sleep(1.0)
        during = waits.count
        await task
        return during, waits.count, virtual_now()

    assert run_virtual(main()) == (1, 0, 5.0)


def test_closing_wakes_everybody_for_good() -> None:
    async def main() -> float:
        waits = Waits(SystemClock())
        sleepers = [asyncio.create_task(waits.wait(seconds)) for seconds in (50.0, 500.0)]
        await asyncio.sleep(1.0)
        waits.close()
        await asyncio.gather(*sleepers)
        await waits.wait(100.0)
        assert waits.is_closed
        return virtual_now()

    assert run_virtual(main()) == 1.0
