"""Reading an input in a thread of its own."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.engine.read_ahead import LATER, ReadAhead


async def _taken(rows: ReadAhead[int], woken: asyncio.Event, most: int | None = None) -> list[int]:
    taken: list[int] = []
    for row in rows:
        if row is LATER:
            woken.clear()
            await woken.wait()
        else:
            taken.append(row)
            if len(taken) == most:
                break
    return taken


def _read(source: Iterator[int], *, window: int, most: int | None = None) -> list[int]:
    async def main() -> list[int]:
        woken = asyncio.Event()
        rows = ReadAhead(source, window=window, wake=woken.set)
        try:
            return await _taken(rows, woken, most)
        finally:
            await rows.aclose()

    with asyncio.Runner() as runner:
        return runner.run(main())


@given(count=st.integers(0, 400), window=st.integers(1, 300))
def test_everything_comes_once_and_in_order(count: int, window: int) -> None:
    assert _read(iter(range(count)), window=window) == list(range(count))


@given(window=st.integers(1, 20), most=st.integers(1, 50))
def test_it_is_never_more_than_a_window_ahead(window: int, most: int) -> None:
    read: list[int] = []

    def source() -> Iterator[int]:
        for n in range(1000):
            read.append(n)
            yield n

    assert _read(source(), window=window, most=most) == list(range(most))
    assert len(read) <= most + window + 1  # the one more that is being read while another is taken


def test_what_the_source_raises_comes_after_the_rows_before_it() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise OSError("gone")

    async def main() -> list[int]:
        woken = asyncio.Event()
        rows = ReadAhead(source(), window=5, wake=woken.set)
        assert await _taken(rows, woken, 1) == [1]
        with pytest.raises(OSError, match="gone"):
            await _taken(rows, woken)
        await rows.aclose()
        return []

    with asyncio.Runner() as runner:
        runner.run(main())


def test_nobody_holds_a_source_any_more_that_was_not_read_to_its_end() -> None:
    closed: list[bool] = []

    def source() -> Iterator[int]:
        try:
            yield from range(100)
        finally:
            closed.append(True)

    assert _read(source(), window=3, most=2) == [0, 1]
    assert closed == [True]


def test_a_read_that_blocks_holds_up_nobody_and_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("batchwork.engine.read_ahead._PATIENCE_S", 0.01)
    go_on = threading.Event()

    def source() -> Iterator[int]:
        yield 1
        go_on.wait(20)
        yield 2

    assert _read(source(), window=3, most=1) == [1]
    go_on.set()
    for thread in threading.enumerate():
        if isinstance(thread, ReadAhead):
            thread.join()  # it ends by itself, although its loop has gone


def test_the_readers_context_is_that_of_whoever_started_it() -> None:
    from contextvars import ContextVar

    told: ContextVar[int] = ContextVar("told")
    told.set(7)
    assert _read((told.get() for _ in range(2)), window=1) == [7, 7]
