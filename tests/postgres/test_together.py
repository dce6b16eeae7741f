"""Runs in several processes on one journal: everything is asked once, and every run has all results in their order."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from batchwork.engine.engine import Supplied
from batchwork.input_source import input_source
from batchwork.options import plan_of
from batchwork.run_session import RunSession
from tests.support.postgres_server import PostgresServer, why_not
from tests.support.scripted import Scripted

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


def together(journal: str, prompts: list[list[Any]], **options: Any) -> tuple[list[Any], list[Scripted]]:
    """Runs at once, each in a thread and an event loop of its own, as processes would be; what each of them has."""
    backends = [Scripted(lambda prompt, call: prompt.upper(), latency=0.01) for _ in prompts]
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


def test_runs_at_once_ask_everything_once_and_each_has_it_all(postgres: PostgresServer) -> None:
    prompts = [f"prompt {n}" for n in range(400)]
    results, backends = together(postgres.journal(), [prompts, prompts, prompts])
    for each in results:
        assert [outcome.text for outcome in each] == [prompt.upper() for prompt in prompts]
        assert each.accounting.succeeded == 400
    asked = Counter(prompt for backend in backends for prompt in backend.asked)
    assert asked == Counter(prompts)
    assert all(backend.asked for backend in backends)


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
