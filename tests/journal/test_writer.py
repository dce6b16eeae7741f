"""A disk that is full loses nothing that was written, and nothing that is still in memory."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

import batchwork
from batchwork.core.errors import JournalWriteError
from batchwork.journal import JournalReader
from tests.support.journals import BEGAN, python, row, settle, sqlite_journal, succeeded
from tests.support.scripted import Scripted
from tests.support.virtual_time import run_virtual


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
