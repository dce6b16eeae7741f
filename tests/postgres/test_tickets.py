"""Provider batches of several processes on one run: whoever ends, nothing of a batch is sent again or paid twice."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from batchwork.core.dsn import Dsn
from batchwork.core.event import BatchIntended, BatchSubmitted
from batchwork.core.ports import BatchTag
from batchwork.engine.engine import Supplied
from batchwork.input_source import input_source
from batchwork.options import plan_of
from batchwork.run_session import RunSession
from tests.support.batch_provider import BatchClient, BatchProvider
from tests.support.journals import BEGAN
from tests.support.postgres_server import PostgresServer, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    from batchwork.postgres import workers
    from batchwork.postgres.journal import PostgresJournal
    from batchwork.postgres.reader import DatabaseReader
    from batchwork.postgres.tickets import CHUNK_BITS

PROMPTS = [f"prompt {n:03d}" for n in range(240)]
COST_NANO, WORST_NANO = 15_000, 100_000  # what a request costs, and at most
OPTIONS: dict[str, Any] = {
    "model": "mock:echo",
    "mode": "batch",
    "price": (1.0, 1.0),
    "max_tokens": 10,
    "max_in_flight": 8,
    "items_per_batch": 30,
    "poll_interval": 0.05,
    "adopt_wait": 0.2,
    "timeout": 10.0,
    "max_parallel_batches": 1,
}
OnSubmit = Callable[[str, BatchTag], Awaitable[None]]


class Client(BatchClient):
    """A process's own way to the provider; `on_submit` is called before and after every creation."""

    def __init__(self, provider: BatchProvider, on_submit: OnSubmit | None) -> None:
        super().__init__(provider)
        self._on_submit = on_submit

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        if self._on_submit is not None:
            await self._on_submit("before", tag)
        batch_id = await super().submit_batch(lines, tag)
        if self._on_submit is not None:
            await self._on_submit("after", tag)
        return batch_id


def session_of(journal: str, provider: BatchProvider, on_submit: OnSubmit | None = None, **options: Any) -> RunSession:
    chosen: Any = {"journal": journal, **OPTIONS, **options}
    plan = replace(plan_of(chosen), shares=True)
    return RunSession(plan, input_source(PROMPTS, chosen).rows, Supplied(backend=Client(provider, on_submit)))


def together(journal: str, provider: BatchProvider, on_submit: OnSubmit, **options: Any) -> list[Any]:
    """Three runs at once, each in a thread and an event loop of its own, as processes would be; what each has."""
    return at_once([session_of(journal, provider, on_submit, **options) for _ in range(3)])


def at_once(sessions: list[RunSession]) -> list[Any]:
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda each=each: results.append(asyncio.run(each.execute()))) for each in sessions
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    return results


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    while not is_so():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


class Worker:
    """The rows of a journal's workers, as a test changes them."""

    def __init__(self, postgres: PostgresServer, journal: str) -> None:
        self._postgres, self.dsn = postgres, Dsn.parse(journal)

    def execute(self, sql: str, *values: Any) -> list[Any]:
        return self._postgres.execute(sql.replace("@", f'"{self.dsn.schema}".'), *values)

    def is_owner(self, chunk: int) -> bool:
        return self.execute("SELECT is_owner FROM @worker WHERE id = %s", chunk >> CHUNK_BITS) == [(True,)]

    def fence(self, chunk: int) -> bool:
        """Take the maker of a batch over, as one that showed no sign of life for a lease; whether it was at work."""
        dead = "state = 'dead', epoch = epoch + 1, renewed_at = clock_timestamp() - %s * interval '1 s'"
        fence = f"UPDATE @worker SET {dead} WHERE id = %s AND state = 'live' RETURNING id"
        nearly_s = workers.LEASE_S + 2 * OPTIONS["timeout"] - 0.5  # then what it was about to make is looked for
        was_at_work = bool(self.execute(fence, nearly_s, chunk >> CHUNK_BITS))
        if was_at_work:  # as whoever declares it dead does: one that is stopped would keep the owner's lock
            self.execute(workers._END_SESSIONS, workers._lock_of(self.dsn.schema), [chunk >> CHUNK_BITS])
        return was_at_work


def check(dsn: Dsn, provider: BatchProvider, results: list[Any]) -> None:
    """Everything was billed once, every run has it in its order, and what is booked is the bill."""
    assert len(results) == 3
    for each in results:
        assert [outcome.text for outcome in each] == PROMPTS
        each.close()
    assert provider.billed == Counter(PROMPTS)
    check_sums(dsn, COST_NANO * len(PROMPTS))


def check_sums(dsn: Dsn, bill_nano: int) -> None:
    with closing(DatabaseReader(dsn)) as reader:
        sums = reader.sums()
        assert sums.counts == reader.counts()
        assert reader.open_batches() == []
        assert (sums.spent, sums.unconfirmed, sums.reserved) == (bill_nano, 0, 0)
        assert reader._connection.one("SELECT sum(riding), (SELECT count(*) FROM ticket) FROM worker") == (0, 0)


def test_runs_at_once_send_everything_once_each_in_batches_of_its_own(postgres: PostgresServer) -> None:
    journal, provider, makers = postgres.journal(), BatchProvider(takes_s=0.1), set[int]()

    async def met(step: str, tag: BatchTag) -> None:
        makers.add(tag.chunk >> CHUNK_BITS)
        await until(lambda: len(makers) == 3)  # so that nobody does all of it

    check(Dsn.parse(journal), provider, together(journal, provider, met, timeout=60.0))
    assert len(makers) == 3


@pytest.mark.parametrize(
    ("victim", "when"), [("owner", "before"), ("helper", "after"), ("helper", "unheard"), ("owner", "collected")]
)
def test_the_batches_of_who_was_taken_over_are_adopted_and_nothing_is_paid_twice(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, victim: str, when: str
) -> None:
    journal, dead, provider = postgres.journal(), list[int](), BatchProvider(takes_s=0.1)
    worker = Worker(postgres, journal)

    def take_over(chunk: int) -> None:
        if not dead and worker.is_owner(chunk) == (victim == "owner") and worker.fence(chunk):
            dead.append(chunk)

    async def called(step: str, tag: BatchTag) -> None:
        if victim == "helper" and worker.is_owner(tag.chunk):
            await until(lambda: bool(dead))  # so that it does not do all of it
        if step == when or (step == "after" and when == "unheard"):
            take_over(tag.chunk)

    def answered(prompt: str, nth: int) -> str:
        if when == "collected" and not dead:
            tags = [batch.tag for batch in provider.batches.values() if prompt in dict(batch.lines).values()]
            take_over(tags[0].chunk)
        return prompt

    provider._answer = answered
    if when == "unheard":  # as of one that was killed: nobody says which batch it has made
        monkeypatch.setattr("batchwork.postgres.journal.hand_over", lambda session, chunk, batch_id: True)
    check(worker.dsn, provider, together(journal, provider, called))
    assert dead


def test_a_batch_that_is_made_when_it_was_given_up_is_cancelled(
    postgres: PostgresServer,
) -> None:
    journal, made_late, provider = postgres.journal(), list[str](), BatchProvider(takes_s=0.1)
    worker = Worker(postgres, journal)

    async def stand_still(step: str, tag: BatchTag) -> None:
        if step == "before" and not made_late:
            made_late.append(tag.name)
            worker.fence(tag.chunk)
            while worker.execute("SELECT 1 FROM @ticket WHERE chunk = %s", tag.chunk):
                time.sleep(0.02)  # noqa: ASYNC251 - the whole process stands still

    async def let_it_come_first(step: str, tag: BatchTag) -> None:
        await until(lambda: bool(made_late))

    # A process that is stopped notices no timeout: this one has a long one.
    stopped = session_of(journal, provider, stand_still, timeout=60.0)
    others = [session_of(journal, provider, let_it_come_first) for _ in range(2)]
    check(worker.dsn, provider, at_once([stopped, *others]))
    assert [batch.cancelled for batch in provider.batches.values() if batch.tag.name in made_late] == [True]


@pytest.mark.scale
def test_the_ceiling_holds_and_is_used_up_though_a_process_has_ended_with_batches_at_the_provider(
    postgres: PostgresServer,
) -> None:
    journal, dead, provider = postgres.journal(), list[int](), BatchProvider(takes_s=0.05)
    worker, ceiling = Worker(postgres, journal), 200 * COST_NANO

    async def called(step: str, tag: BatchTag) -> None:
        if step == "after" and not dead and worker.fence(tag.chunk):
            dead.append(tag.chunk)

    results = together(journal, provider, called, max_cost=ceiling / 1e9)
    results.append(asyncio.run(session_of(journal, provider, max_cost=ceiling / 1e9).execute()))
    assert len(results) == 4
    for each in results:
        assert each.accounting.succeeded + each.accounting.deferred == len(PROMPTS)
        each.close()
    assert dead
    assert set(provider.billed.values()) == {1}
    billed = provider.billed.total() * COST_NANO
    assert ceiling - WORST_NANO < billed <= ceiling  # not one more would have fitted
    check_sums(worker.dsn, billed)


def test_batches_of_the_time_before_they_had_rows_are_followed_and_their_money_is_booked(
    postgres: PostgresServer,
) -> None:
    journal, provider = postgres.journal(), BatchProvider(takes_s=0.1)
    worker = Worker(postgres, journal)
    with closing(PostgresJournal(worker.dsn, utc=lambda: 1000.0)) as old:
        old.begin(BEGAN)
        (first,) = input_source(PROMPTS[:1], OPTIONS).rows
        item = old.place(0, first).item
        intended = BatchIntended(
            chunk=1, items=(item,), custom_ids=("a",), reserved_nano=WORST_NANO, at=1.0, worst_nano=(WORST_NANO,)
        )
        old.record(intended)
        old.record(BatchSubmitted(chunk=1, batch_id="batch_0"))
    worker.execute("DELETE FROM @ticket")
    worker.execute("UPDATE @worker SET riding = 0")

    async def submit_old() -> None:
        line = provider.client().batch_line("a", first.request)
        await provider.client().submit_batch([line], BatchTag(run_id="", chunk=1, custom_ids=("a",), intended_at=1.0))

    asyncio.run(submit_old())
    with closing(asyncio.run(session_of(journal, provider).execute())) as results:
        assert [outcome.text for outcome in results] == PROMPTS
    assert provider.billed == Counter(PROMPTS)
    check_sums(worker.dsn, COST_NANO * len(PROMPTS))
