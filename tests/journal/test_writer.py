"""Commits start at once and then some way apart; a disk that is full loses nothing, neither written nor in memory."""

from __future__ import annotations

import asyncio
import resource
from contextlib import closing
from pathlib import Path

import pytest

import batchwork
from batchwork.core.errors import JournalWriteError
from batchwork.journal import JournalReader
from tests.support.journals import BEGAN, python, row, settle, sqlite_journal, succeeded
from tests.support.scripted import Scripted
from tests.support.virtual_time import run_virtual, virtual_now


def test_a_full_disk_is_a_clear_error_and_a_rerun_goes_on(tmp_path: Path) -> None:
    """The process may write no file beyond 300 KB: to SQLite that is a disk without space."""
    path = tmp_path / "j.db"
    code = (
        "import resource, signal, sys, batchwork\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
        "try: batchwork.run([f'{n} ' + 'x' * 2000 for n in range(400)], model='mock:echo',"
        " journal=sys.argv[1], max_in_flight=5)\n"
        "except batchwork.JournalWriteError as error: print('said:', error)\n"
    )
    result = python(code, path)
    assert "said:" in result.stdout, result.stderr
    assert str(path) in result.stdout
    backend = Scripted(free=True)
    prompts = [f"{n} " + "x" * 2000 for n in range(400)]
    results = run_virtual(batchwork.arun(prompts, model="mock:echo", backend=backend, journal=path))
    assert [r.text for r in results] == prompts
    assert 0 < len(backend.asked) < 400


def test_a_commit_that_fails_loses_nothing_and_the_next_may_succeed(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    journal = sqlite_journal(path)
    journal.begin(BEGAN)
    item = journal.place(0, row("a")).item
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    settle(journal, item, succeeded(0, "x" * 500_000))

    async def fails() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
        try:
            with pytest.raises(JournalWriteError):
                await journal.durable()
            with pytest.raises(JournalWriteError):
                await journal.durable()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    run_virtual(fails())
    journal.close()
    reader = JournalReader(path)
    (entry,) = reader.entries()
    reader.close()
    assert entry.outcome is not None
    assert entry.outcome.text == "x" * 500_000


def test_a_defect_in_writing_reaches_those_who_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    journal.begin(BEGAN)

    def defect(_: object) -> None:
        raise ZeroDivisionError

    async def fails() -> None:
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                await journal.durable()

    with monkeypatch.context() as patch:
        patch.setattr("batchwork.journal.writer.JournalWriter._put_in", defect)
        run_virtual(fails())
    journal.close()


def test_the_first_commit_starts_at_once_and_the_next_ones_some_way_apart(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    journal.begin(BEGAN)

    async def written(number: int) -> float:
        journal.place(number, row(f"{number}"))
        await journal.durable()
        return virtual_now()

    async def one_by_one() -> list[float]:
        return [await written(number) for number in range(4)]

    assert run_virtual(one_by_one()) == pytest.approx([0, 0.005, 0.010, 0.015])
    journal.close()


def test_whatever_is_recorded_in_between_shares_a_commit_and_is_on_disk_when_it_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    journal = sqlite_journal(path)
    journal.begin(BEGAN)
    on_disk: list[tuple[float, int]] = []

    async def written(number: int) -> None:
        await asyncio.sleep(number / 1000)
        journal.place(number, row(f"{number}"))
        await journal.durable()
        with closing(JournalReader(path)) as reader:
            on_disk.append((virtual_now(), reader.count()))

    async def many() -> None:
        await asyncio.gather(*(written(number) for number in range(11)))

    run_virtual(many())
    journal.close()
    moments = sorted({moment for moment, _ in on_disk})
    assert moments == pytest.approx([0, 0.005, 0.010])
    assert [count for _, count in on_disk] == [1] + [6] * 5 + [11] * 5


def test_a_close_and_another_loop_do_not_wait_for_the_next_commit_to_be_due(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    journal = sqlite_journal(path)
    journal.begin(BEGAN)

    async def written(number: int) -> float:
        journal.place(number, row(f"{number}"))
        await journal.durable()
        return virtual_now()

    async def late() -> None:
        await asyncio.sleep(3600)
        await written(0)

    async def given_up() -> None:
        await written(2)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await written(3)

    run_virtual(late())
    assert run_virtual(written(1)) <= 0.005  # an hour before the last commit, by its own clock
    run_virtual(given_up())
    journal.close()
    with closing(JournalReader(path)) as reader:
        assert reader.count() == 4


def test_what_is_recorded_while_the_interpreter_ends_is_written_all_the_same(tmp_path: Path) -> None:
    """Its thread starts nothing any more then, but a loop in a thread of its own may still be at work."""
    path = tmp_path / "j.db"
    journal = sqlite_journal(path)
    journal.begin(BEGAN)
    journal._writer._thread.shutdown()

    async def written(number: int) -> None:
        journal.place(number, row(f"{number}"))
        await journal.durable()

    run_virtual(written(0))
    journal.place(1, row("1"))
    journal.close()
    with closing(JournalReader(path)) as reader:
        assert reader.count() == 2
