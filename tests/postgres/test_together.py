"""Runs in several processes on one journal: everything is asked once, and every run has all results in their order."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from batchwork.core.dsn import Dsn
from batchwork.core.errors import JournalFencedError
from batchwork.core.event import Ended
from batchwork.engine.engine import Supplied
from batchwork.input_source import input_source
from batchwork.options import plan_of
from batchwork.run_session import RunSession
from tests.support.postgres_server import PostgresServer, why_not
from tests.support.scripted import Scripted

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
if why_not() is None:
    from batchwork.postgres.reader import DatabaseReader


def together(
    journal: str, prompts: list[list[Any]], on_call: Callable[[], None] = lambda: None, **options: Any
) -> tuple[list[Any], list[Scripted]]:
    """Runs at once, each in a thread and an event loop of its own, as processes would be; what each of them has."""

    def answer(prompt: str, call: int) -> str:
        on_call()
        if not all(backend.asked for backend in backends):
            time.sleep(0.02)  # so that those who came first leave something to those who come later
        return prompt.upper()

    backends = [Scripted(answer, latency=0.01) for _ in prompts]
    results: list[Any] = [None] * len(prompts)

    def one(number: int) -> None:
        chosen: Any = {"model": "mock:echo", "journal": journal, "max_in_flight": 4, **options}
        given, plan = input_source(prompts[number], chosen), replace(plan_of(chosen), shares=True)
        session = RunSession(plan, given.rows, Supplied(backend=backends[number]))
        results[number] = asyncio.run(session.execute())

    threads = [threading.Thread(target=one, args=(number,)) for number in range(len(prompts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    return results, backends


def fence(postgres: PostgresServer, dsn: Dsn, *, is_owner: bool) -> list[Any]:
    """Take one of the processes over; its number, if there is such a one."""
    worker = f'"{dsn.schema}".worker'
    return postgres.execute(
        f"UPDATE {worker} SET state = 'dead', epoch = epoch + 1 WHERE id IN (SELECT id FROM {worker} WHERE state ="
        " 'live' AND is_owner = %s LIMIT 1) RETURNING id",
        is_owner,
    )


def test_runs_at_once_ask_everything_once_and_each_has_it_all(postgres: PostgresServer) -> None:
    prompts, journal = [f"prompt {n}" for n in range(400)], postgres.journal()
    results, backends = together(journal, [prompts, prompts, prompts])
    for each in results:
        assert [outcome.text for outcome in each] == [prompt.upper() for prompt in prompts]
        assert each.accounting.succeeded == 400
        each.close()
    asked = Counter(prompt for backend in backends for prompt in backend.asked)
    assert asked == Counter(prompts)
    assert all(backend.asked for backend in backends)
    with closing(DatabaseReader(Dsn.parse(journal))) as reader:  # no process tells its own figures as those of all
        assert next(event for event in reader.events() if isinstance(event, Ended)).figures is None


def test_one_ceiling_holds_over_all_of_them_and_is_used_up(postgres: PostgresServer) -> None:
    prompts = [f"prompt {n:03d}" for n in range(400)]
    options = {"price": (1.0, 1.0), "max_tokens": 10, "max_cost": 0.003}
    results, backends = together(postgres.journal(), [prompts, prompts, prompts], **options)
    billed = sum(15_000 for backend in backends for _ in backend.asked)
    assert billed <= 3_000_000
    assert billed >= 0.95 * 3_000_000
    for each in results:
        assert each.accounting.succeeded == billed // 15_000
        assert each.accounting.succeeded + each.accounting.deferred == 400
        assert each.stopped == "budget"
        each.close()


@pytest.mark.parametrize("is_owner", [True, False])
def test_a_run_that_was_taken_over_hands_in_its_answers_and_joins_again(
    postgres: PostgresServer, caplog: pytest.LogCaptureFixture, is_owner: bool
) -> None:
    journal = postgres.journal()
    dsn, prompts, calls = Dsn.parse(journal), [f"prompt {n:03d}" for n in range(400)], []
    dead: list[Any] = []

    def called() -> None:
        calls.append(1)
        if len(calls) > 100 and not dead:
            dead.extend(fence(postgres, dsn, is_owner=is_owner))

    options = {"price": (1.0, 1.0), "max_tokens": 10, "max_cost": 1.0}
    results, backends = together(journal, [prompts, prompts, prompts], called, **options)
    for each in results:
        assert [outcome.text for outcome in each] == [prompt.upper() for prompt in prompts]
        each.close()
    assert dead
    assert "this process joins again" in caplog.text
    asked = Counter(prompt for backend in backends for prompt in backend.asked)
    assert set(asked) == set(prompts)
    assert asked.total() - len(prompts) <= 4  # the window of the one who was taken over
    with closing(DatabaseReader(dsn)) as reader:
        sums = reader.sums()
        assert sums.counts == reader.counts()
    assert sums.reserved == 0
    assert 15_000 * asked.total() <= sums.spent <= 15_000 * asked.total() + sums.unconfirmed


def test_a_run_that_cannot_read_its_input_again_hands_in_its_answers_and_the_next_one_asks_nothing_twice(
    postgres: PostgresServer,
) -> None:
    journal = postgres.journal()
    prompts, asked = [f"prompt {n:03d}" for n in range(60)], Counter[str]()

    def answer(prompt: str, call: int) -> str:
        asked[prompt] += 1
        if asked.total() == 20:
            fence(postgres, Dsn.parse(journal), is_owner=True)
        return prompt.upper()

    chosen: Any = {"model": "mock:echo", "journal": journal, "max_in_flight": 4, "price": (1.0, 1.0), "max_tokens": 10}
    for given in (iter(prompts), prompts):
        source, plan = input_source(given, chosen), replace(plan_of(chosen), shares=True)
        session = RunSession(plan, source.rows, Supplied(backend=Scripted(answer, latency=0.01)))
        if given is not prompts:
            with pytest.raises(JournalFencedError, match="handed in late"):
                asyncio.run(session.execute())
    results = asyncio.run(session.execute())
    assert [outcome.text for outcome in results] == [prompt.upper() for prompt in prompts]
    assert asked == Counter(prompts)
    assert results.total_cost == Decimal("0.0009")
    results.close()
