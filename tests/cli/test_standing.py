"""Where the runs on a journal stand, told from the journal alone."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from batchwork.cli.standing import input_of, summary_of
from batchwork.core.errors import Interrupted
from batchwork.core.event import BatchIntended, Began, Ended, RunInput
from batchwork.core.outcome import Deferred
from batchwork.core.words import journal_commands
from batchwork.journal import JournalReader, SqliteJournal
from batchwork.options import RunOptions, plan_of, supplied_of
from batchwork.run_session import RunSession
from batchwork.summary import Exit, Summary
from tests.support.journals import BEGAN, row, settle, sqlite_journal, succeeded
from tests.support.scripted import Scripted
from tests.support.virtual_time import run_virtual

OF_TEN = msgspec.structs.replace(BEGAN, input=RunInput(total=10, source="in.jsonl"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl.journal.db"


def standing(path: Path) -> Summary:
    with closing(JournalReader(path)) as reader:
        last = reader.last_run()
        return summary_of(reader, journal_commands(path, source=None if last is None else last.input.source))


def write(path: Path, *, began: Began = OF_TEN, done: int = 2, ended: Ended | None = None) -> None:
    with closing(sqlite_journal(path)) as journal:
        begin(journal, began, done)
        if ended is not None:
            journal.record(ended)


def begin(journal: SqliteJournal, began: Began, done: int) -> None:
    journal.begin(began)
    for index in range(done):
        settle(journal, journal.place(index, row(f"p{index}")).item, succeeded(index))
    journal.flush()


def test_a_run_that_a_process_is_at_work_on_is_told_from_one_that_was_killed(path: Path) -> None:
    with closing(sqlite_journal(path)) as journal:
        begin(journal, OF_TEN, 2)
        running = standing(path)
        assert running.verdict.startswith("Running: process ")
        assert running.missing == 0
        (line,) = (text for text in running.lines() if text.startswith("running"))
        assert "2/10 (20.0%) done" in line
        assert "ETA" in line
    killed = standing(path)
    assert killed.verdict == (
        "Cut off: the latest run was killed, or its machine stopped;"
        " run the same `batchwork run in.jsonl ...` to go on."
    )
    assert "(8 more rows not reached)" in killed.lines()[1]


@pytest.mark.parametrize(
    ("ended", "code", "words"),
    [
        (Ended(stopped="interrupted"), Exit.INTERRUPTED, "Interrupted: "),
        (
            Ended(stopped="paused", reason="No credit.", remedy="Pay, then {again}."),
            Exit.PAUSED,
            "Paused: No credit. Pay, then run the same `batchwork run in.jsonl ...`.",
        ),
        (Ended(stopped="paused"), Exit.PAUSED, "Paused: The provider did not let the run go on. Mend the cause"),
        (Ended(stopped="error", reason="the disk is full"), Exit.BAD_INPUT, "Everything finished is kept"),
    ],
)
def test_how_a_run_ended_is_told_later_as_it_was_told_then(path: Path, ended: Ended, code: Exit, words: str) -> None:
    write(path, ended=ended)
    told = standing(path)
    assert told.code is code
    assert told.verdict.startswith(words)
    assert "(8 more rows not reached)" in told.lines()[1]


def retried(path: Path) -> None:
    with closing(JournalReader(path)) as reader:
        known = input_of(reader)
    assert known.is_retry
    write(path, began=msgspec.structs.replace(BEGAN, input=known), done=0, ended=Ended())


@pytest.mark.parametrize("retries", [1, 2])
def test_a_retry_after_an_early_end_says_how_many_rows_are_still_to_be_asked(path: Path, retries: int) -> None:
    write(path, ended=Ended(stopped="paused"))
    for _ in range(retries):
        retried(path)
    told = standing(path)
    assert told.code is Exit.SOME_FAILED
    assert told.verdict == (
        "8 rows of the input were never reached: run the same `batchwork run in.jsonl ...` to ask them."
    )


def test_a_retry_after_a_run_of_unknown_length_does_not_claim_that_all_was_asked(path: Path) -> None:
    write(path, began=BEGAN)
    retried(path)
    assert "not read to its end: start the same run again on this journal" in standing(path).verdict


def test_a_retry_after_a_whole_run_has_nothing_left(path: Path) -> None:
    write(path, done=10, ended=Ended(inputs=10))
    for _ in range(2):
        retried(path)
    assert standing(path).code is Exit.ALL_SUCCEEDED


@pytest.mark.parametrize(("is_first", "code"), [(True, Exit.ALL_SUCCEEDED), (False, Exit.SOME_FAILED)])
def test_a_retry_after_a_kill_has_nothing_left_where_every_place_was_reached(
    path: Path, is_first: bool, code: Exit
) -> None:
    known = msgspec.structs.replace(OF_TEN.input, is_first=is_first)  # else the places may be those of another input
    write(path, began=msgspec.structs.replace(OF_TEN, input=known), done=10)
    retried(path)
    assert standing(path).code is code


def test_an_item_that_was_deferred_and_is_in_a_batch_now_does_not_wait_for_money(path: Path) -> None:
    with closing(sqlite_journal(path)) as journal:
        begin(journal, BEGAN, 1)
        item = journal.place(1, row("b")).item
        settle(journal, item, Deferred(index=1, needed_nano=5))
        journal.record(BatchIntended(chunk=0, items=(item,), custom_ids=("c-1",), reserved_nano=5, at=0.0))
        journal.record(Ended(stopped="interrupted"))
        journal.flush()
    told = standing(path)
    assert (told.accounting.deferred, told.accounting.pending) == (0, 1)
    assert not any(line.startswith("deferred") for line in told.lines())


def test_calls_that_are_left_at_once_are_booked_and_told_at_once(path: Path) -> None:
    backend = Scripted(latency=60.0)
    options: RunOptions = {
        "model": "scripted",
        "backend": backend,
        "journal": path,
        "price": (1.0, 5.0),
        "max_in_flight": 3,
    }
    supplied = replace(supplied_of(options), input=RunInput(total=9))
    session = RunSession(plan_of(options), [row(f"p{n}") for n in range(9)], supplied)

    async def interrupted_twice() -> None:
        task = asyncio.create_task(session.execute())
        await asyncio.sleep(1)
        session.interrupt()
        session.interrupt()
        with pytest.raises(Interrupted):
            await task

    run_virtual(interrupted_twice())
    told = standing(path)
    assert told.figures is not None
    assert told.figures.cut_off == 3
    assert told.totals.unconfirmed_nano == told.totals.spent_nano > 0
    assert any("3 calls, 3 cut off" in line for line in told.lines(run="last run"))
    with closing(sqlite_journal(path)) as journal:
        assert journal.begin(BEGAN).recovered == 0
