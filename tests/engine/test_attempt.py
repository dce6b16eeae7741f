"""One timer between all calls of a run: each still ends at its own deadline, and cancellation stays what it is."""

from __future__ import annotations

import asyncio

import pytest

from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import Traits
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request
from batchwork.engine.attempt import Deadlines, attempt
from tests.support.virtual_time import VirtualLoop, run_virtual, virtual_now


class Slow:
    """Answers after as many seconds as the prompt says."""

    traits = Traits(name="slow")

    def __init__(self, on_cancel: Exception | None = None) -> None:
        self._on_cancel = on_cancel

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        try:
            await asyncio.sleep(float(str(request.messages[0].content)))
        except asyncio.CancelledError:
            if self._on_cancel is not None:
                raise self._on_cancel from None
            raise
        return Reply(text="ok", usage=Usage())

    async def aclose(self) -> None:
        pass


async def call(deadlines: Deadlines, seconds: float, backend: Slow | None = None) -> tuple[Reply | Failure, float]:
    said = await attempt(
        backend or Slow(), Request.ask(str(seconds)), deadlines=deadlines, now=virtual_now(), ceiling_nano=None
    )
    return said, virtual_now()


def test_every_call_ends_at_its_own_deadline_and_not_before() -> None:
    async def main() -> list[tuple[Reply | Failure, float]]:
        deadlines = Deadlines(SystemClock(), 10.0)

        async def after(start: float, seconds: float) -> tuple[Reply | Failure, float]:
            await asyncio.sleep(start)
            return await call(deadlines, seconds)

        return await asyncio.gather(after(0, 9.9), after(3, 100), after(4, 1), after(5, 9.5), after(6, 11))

    first, late, short, near, last = run_virtual(main())
    assert [type(said) for said, _ in (first, late, short, near, last)] == [Reply, Failure, Reply, Reply, Failure]
    assert [at for _, at in (first, late, short, near, last)] == pytest.approx([9.9, 13, 5, 14.5, 16], abs=0.01)
    assert isinstance(late[0], Failure)
    assert late[0].kind is FailureKind.TIMEOUT
    assert late[0].unconfirmed


def test_a_task_may_go_on_after_a_deadline() -> None:
    async def main() -> tuple[int, float]:
        deadlines = Deadlines(SystemClock(), 1.0)
        await call(deadlines, 5)
        await call(deadlines, 5)
        said, at = await call(deadlines, 0.5)
        assert isinstance(said, Reply)
        task = asyncio.current_task()
        assert task is not None
        return task.cancelling(), at

    cancelling, at = run_virtual(main())
    assert cancelling == 0
    assert at == pytest.approx(2.5, abs=0.01)


def test_a_cancellation_by_somebody_else_is_no_timeout() -> None:
    async def main() -> None:
        task = asyncio.create_task(call(Deadlines(SystemClock(), 10.0), 100))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert virtual_now() < 2

    run_virtual(main())


def test_a_cancellation_wins_over_a_deadline_at_the_same_instant() -> None:
    async def main() -> None:
        task = asyncio.create_task(call(Deadlines(SystemClock(), 10.0), 100))
        asyncio.get_running_loop().call_at(10.0, task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task

    run_virtual(main())


def test_what_a_backend_makes_of_the_deadline_is_believed() -> None:
    lost = Failure(kind=FailureKind.CONNECTION, message="cut off")

    async def main() -> tuple[Reply | Failure, int]:
        said, _ = await call(Deadlines(SystemClock(), 1.0), 5, Slow(on_cancel=BackendError(lost)))
        task = asyncio.current_task()
        assert task is not None
        return said, task.cancelling()

    assert run_virtual(main()) == (lost, 0)


def test_no_timer_is_left_behind() -> None:
    loop = VirtualLoop()
    try:
        loop.run_until_complete(call(Deadlines(SystemClock(), 600.0), 1))
        assert not [timer for timer in loop._scheduled if not timer.cancelled()]  # type: ignore[attr-defined]
    finally:
        loop.close()
