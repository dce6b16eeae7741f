"""Provider batches of several processes on one run: whoever ends, nothing of a batch is sent again or paid twice."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from batchwork.core.dsn import Dsn
from batchwork.core.event import BatchIntended
from batchwork.core.packing import BatchLimits
from batchwork.core.ports import BatchTag
from batchwork.engine.engine import Supplied
from batchwork.input_source import input_source
from batchwork.options import plan_of
from batchwork.run_session import RunSession
from tests.support.batch_provider import BatchClient, BatchProvider
from tests.support.postgres_server import PostgresServer, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    from batchwork.postgres import workers
    from batchwork.postgres.reader import DatabaseReader
    from batchwork.postgres.tickets import CHUNK_BITS

PROMPTS = [f"prompt {n:03d}" for n in range(300)]
COST_NANO, WORST_NANO = 15_000, 20_000  # ten tokens in, five out; at most ten

OnSubmit = Callable[[str, BatchTag], Awaitable[None]]


class Client(BatchClient):
    """A process's own way to the provider; `on_submit` is called around every creation."""

    def __init__(self, provider: BatchProvider, on_submit: OnSubmit) -> None:
        super().__init__(provider)
        self._on_submit = on_submit

    async def submit_batch(self, lines: list[bytes], tag: BatchTag) -> str:
        await self._on_submit("before", tag)
        batch_id = await super().submit_batch(lines, tag)
        await self._on_submit("after", tag)
        return batch_id


def together(
    journal: str,
    provider: BatchProvider,
    on_submit: OnSubmit,
    count: int = 3,
    **options: Any,
) -> list[Any]:
    """Runs at once, each in a thread and an event loop of its own, as processes would be; what each of them has."""
    results: list[Any] = [None] * count

    def one(number: int) -> None:
        chosen: Any = {
            **{"model": "mock:echo", "journal": journal, "mode": "batch", "price": (1.0, 1.0), "max_tokens": 10},
            **{
                "poll_interval": 0.05,
                "adopt_wait": 0.2,
                "timeout": 0.5,
                "items_per_batch": 40,
                "max_in_flight": 8,
                **options,
            },
        }
        given, plan = input_source(PROMPTS, chosen), replace(plan_of(chosen), shares=True)
        session = RunSession(plan, given.rows, Supplied(backend=Client(provider, on_submit)))
        results[number] = asyncio.run(session.execute())

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    return results


def fence(postgres: PostgresServer, dsn: Dsn, worker: int) -> bool:
    """Take a process over, as one that has shown no sign of life for a lease; whether it was at work."""
    dead = f"UPDATE \"{dsn.schema}\".worker SET state = 'dead', epoch = epoch + 1 WHERE id = %s AND state = 'live'"
    return bool(postgres.execute(f"{dead} RETURNING id", worker))


def check(dsn: Dsn, provider: BatchProvider, results: list[Any]) -> None:
    """Everything was billed once, every run has it in its order, and what is booked is the bill."""
    for each in results:
        assert [outcome.text for outcome in each] == PROMPTS
        each.close()
    assert provider.billed == Counter(PROMPTS)
    with closing(DatabaseReader(dsn)) as reader:
        sums = reader.sums()
        assert sums.counts == reader.counts()
        assert reader.open_batches() == []
        assert (sums.spent, sums.unconfirmed, sums.reserved) == (COST_NANO * len(PROMPTS), 0, 0)
        assert reader._connection.one("SELECT sum(riding), (SELECT count(*) FROM ticket) FROM worker") == (0, 0)


def test_runs_at_once_send_everything_once_each_in_batches_of_its_own(postgres: PostgresServer) -> None:
    journal, provider = postgres.journal(), BatchProvider(takes_s=0.2)
    makers: set[int] = set()

    async def met(step: str, tag: BatchTag) -> None:
        makers.add(tag.chunk >> CHUNK_BITS)
        while len(makers) < 3:  # so that nobody does all of it
            await asyncio.sleep(0.01)

    results = together(journal, provider, met, timeout=30.0, items_per_batch=20)
    check(Dsn.parse(journal), provider, results)
    assert len(makers) == 3


@pytest.mark.parametrize("victim", ["owner", "helper"])
@pytest.mark.parametrize("when", ["before", "after", "unheard", "collected"])
def test_the_batches_of_who_was_taken_over_are_adopted_and_nothing_is_paid_twice(
    postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch, victim: str, when: str
) -> None:
    monkeypatch.setattr(workers, "LEASE_S", 1.0)
    journal, dead = postgres.journal(), []
    dsn, provider = Dsn.parse(journal), BatchProvider(takes_s=0.3)

    def take_over(chunk: int) -> None:
        owned = postgres.execute(f'SELECT is_owner FROM "{dsn.schema}".worker WHERE id = %s', chunk >> CHUNK_BITS)
        if not dead and owned == [(victim == "owner",)] and fence(postgres, dsn, chunk >> CHUNK_BITS):
            dead.append(chunk)

    async def called(step: str, tag: BatchTag) -> None:
        if step == when or (step == "after" and when == "unheard"):
            take_over(tag.chunk)

    def answered(prompt: str, time: int) -> str:
        batch = next(each for each in provider.batches.values() if any(prompt == line[1] for line in each.lines))
        if when == "collected":
            take_over(batch.tag.chunk)
        return prompt

    provider._answer = answered
    if when == "unheard":  # as of one that was killed: nobody says which batch it has made
        monkeypatch.setattr("batchwork.postgres.journal.hand_over", lambda session, chunk, batch_id: True)
    check(dsn, provider, together(journal, provider, called))
    assert dead
