"""What becomes of a group when its connection, its database or its worker goes away."""

from __future__ import annotations

import asyncio
import random
import threading
from contextlib import closing
from typing import Any

import pytest

from batchwork.core.dsn import Dsn
from batchwork.core.errors import JournalLockedError
from batchwork.core.event import Admitted, Settled
from batchwork.core.runstate import fold
from tests.support.journals import BEGAN, Pass, row, run_pass, settle, succeeded
from tests.support.postgres_server import PostgresServer, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    import psycopg

    from batchwork.postgres import workers, writer
    from batchwork.postgres.connection import DatabaseAwayError
    from batchwork.postgres.journal import PostgresJournal
    from batchwork.postgres.reader import DatabaseReader


def open_journal(dsn: Dsn, *, max_wait_s: float = 20.0) -> PostgresJournal:
    return PostgresJournal(dsn, utc=lambda: 1000.0, max_wait_s=max_wait_s)


def counted_events(dsn: Dsn) -> dict[str, int]:
    """How many events of each kind there are; they have no gap and are about items that are there."""
    with closing(DatabaseReader(dsn)) as reader:
        events = list(reader.events())
        fold(events)
        assert reader.sums().seq == len(events)
    counts: dict[str, int] = {}
    for event in events:
        counts[type(event).__name__] = counts.get(type(event).__name__, 0) + 1
    return counts


@pytest.mark.parametrize("landed", [True, False])
def test_a_commit_whose_answer_was_lost_is_neither_sent_twice_nor_dropped(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, landed: bool
) -> None:
    dsn = Dsn.parse(postgres.journal())
    execute = writer.DatabaseWriter._execute
    cut: list[int] = []

    def cut_off(self: Any, session: Any, packed: Any, group: Any) -> None:
        if len(cut) < 3:
            cut.append(1)
            if landed:
                execute(self, session, packed, group)
            session.close()
            raise psycopg.OperationalError("the connection is gone")
        execute(self, session, packed, group)
        cut.clear()

    monkeypatch.setattr(writer.DatabaseWriter, "_execute", cut_off)
    with closing(open_journal(dsn)) as journal:
        run_pass(journal, Pass([(f"p{n}", None) for n in range(5)], ["succeeded"] * 5))
        journal.flush()
        run_pass(journal, Pass([(f"p{n}", None) for n in range(3)]))  # it becomes shorter, in a transaction
    monkeypatch.undo()
    assert counted_events(dsn) == {"Began": 2, "Opened": 5, "Admitted": 5, "Settled": 5, "Ended": 2}
    with closing(open_journal(dsn)) as journal:
        assert journal.count() == 3
        assert journal.totals().spent_nano == 55


def test_a_database_that_crashes_and_sessions_that_are_ended_lose_and_double_nothing() -> None:
    server = PostgresServer()
    items, dsn = 600, Dsn.parse(server.journal())
    over = threading.Event()
    broken = []

    def break_things() -> None:
        dice = random.Random(7)
        for crash in (False, True, False):
            if over.wait(dice.uniform(0.05, 0.2)):
                return
            if crash:
                server.crash()
            else:
                end_writers(server)
            broken.append(crash)

    async def main() -> None:
        breaker.start()
        places = iter(range(items))

        async def work() -> None:
            for place in places:
                item = journal.place(place, row(f"p{place}")).item
                journal.record(Admitted(item=item, reserved_nano=10))
                await journal.durable()
                journal.record(Settled(item=item, outcome=succeeded(place), charged_nano=3))
                await journal.durable()
                journal.release(item)
                await asyncio.sleep(0.005)

        async with asyncio.TaskGroup() as group:
            for _ in range(16):
                group.create_task(work())
        journal.close()

    try:
        breaker = threading.Thread(target=break_things)
        journal = open_journal(dsn)
        journal.begin(BEGAN)
        asyncio.run(main())
        over.set()
        breaker.join()
        assert sum(broken) >= 1
        assert counted_events(dsn) == {"Began": 1, "Opened": items, "Admitted": items, "Settled": items}
    finally:
        over.set()
        server.close()


def test_a_database_that_stays_away_is_said_with_the_number_of_answers_and_written_when_it_is_back() -> None:
    server = PostgresServer()
    try:
        dsn = Dsn.parse(server.journal())
        journal = open_journal(dsn, max_wait_s=0.3)
        journal.begin(BEGAN)
        items = [journal.place(n, row(f"p{n}")).item for n in range(3)]
        journal.flush()
        server.stop()
        for n, item in enumerate(items):
            settle(journal, item, succeeded(n))

        async def durable() -> None:
            await journal.durable()

        with pytest.raises(DatabaseAwayError, match="3 answers are not written"):
            asyncio.run(durable())
        server.start()
        journal.close()
        assert counted_events(dsn)["Settled"] == 3
    finally:
        server.close()


def test_whoever_cannot_wait_is_not_held_up_by_a_database_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_MOMENT_S", 0.3)
    server = PostgresServer()
    try:
        journal = open_journal(Dsn.parse(server.journal()), max_wait_s=900.0)
        journal.begin(BEGAN)
        journal.flush()
        server.stop()

        async def interrupted() -> None:
            journal.place(0, row("a"))
            waiting = asyncio.create_task(journal.durable())
            await asyncio.sleep(0.3)  # it is being sent, again and again
            with pytest.raises(DatabaseAwayError):
                journal.flush()
            with pytest.raises(DatabaseAwayError):
                await waiting

        asyncio.run(asyncio.wait_for(interrupted(), 20))
        with pytest.raises(DatabaseAwayError):
            journal.close()
    finally:
        server.close()


def test_whoever_was_replaced_writes_nothing_more(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "GRACE_S", 0.2)
    monkeypatch.setattr(workers, "LEASE_S", 0.2)  # the server may have been started for this test
    monkeypatch.setattr(writer, "HEARTBEAT_S", 3600.0)  # with each, it would open a connection anew and go on
    dsn = Dsn.parse(postgres.journal())
    first = open_journal(dsn)
    first.begin(BEGAN)
    item = first.place(0, row("a")).item
    first.record(Admitted(item=item, reserved_nano=100))
    first.flush()
    with pytest.raises(JournalLockedError, match="being written by"):
        open_journal(dsn)
    with closing(DatabaseReader(dsn)) as reader:
        postgres.execute(f"UPDATE \"{dsn.schema}\".worker SET renewed_at = now() - interval '10 s'")
        assert reader.writer() == first._writer.name  # it is silent, and holds its lock
        end_writers(postgres)
        assert reader.writer() is None
    second = open_journal(dsn)
    assert second.begin(BEGAN).recovered == 1
    settle(first, item, succeeded(0))
    with pytest.raises(JournalLockedError, match="1 answer is not written"):
        first.flush()
    with pytest.raises(JournalLockedError):
        first.close()
    second.close()
    assert "Settled" not in counted_events(dsn)


def end_writers(postgres: PostgresServer) -> None:
    postgres.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name ~ 'writer'")


@pytest.mark.parametrize(
    "renewed",
    ["now()", "now() - interval '1 hour'", "pg_postmaster_start_time() - interval '1 s'"],
)
def test_nobody_is_replaced_until_it_had_the_time_to_come_back(postgres: PostgresServer, renewed: str) -> None:
    dsn = Dsn.parse(postgres.journal())
    open_journal(dsn).close()
    with psycopg.connect(dsn.text.partition("?")[0], autocommit=True) as session:
        session.execute(f'SET search_path = "{dsn.schema}"')
        assert workers.wait_for_others(session) == 0.0  # it said goodbye
        session.execute(f"UPDATE worker SET state = 'live', renewed_at = {renewed}")  # type: ignore[arg-type]
        wait = workers.wait_for_others(session)
        (up,) = session.execute("SELECT extract(epoch FROM now() - pg_postmaster_start_time())").fetchone() or (0,)
    # A fresh sign of life: a moment. One from before the database came back: one lease from then on.
    assert wait == pytest.approx(3.0 if renewed == "now()" else max(0.0, 30.0 - float(up)), abs=1.0)
