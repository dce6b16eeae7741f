"""Looking for a batch in a provider's list: by what the list says, not by clocks, and never among our own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import batchwork
from batchwork.backends import Setup, open_backend
from batchwork.clock import SystemClock
from batchwork.core.ports import BatchTag, Sighting
from batchwork.core.request import Request
from batchwork.simulator import Simulator

WIRES = {"anthropic": "anthropic:claude-haiku-5-5", "openai": "openai:gpt-5-mini"}


def told(wire: str, simulator: Simulator) -> dict[str, Any]:
    url = simulator.anthropic_url if wire == "anthropic" else simulator.openai_url
    return {"model": WIRES[wire], "base_url": url, "api_key": "k", "max_tokens": 50}


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("offset_s", [-1500.0, 1500.0])
def test_a_clock_that_differs_by_25_minutes_pays_for_nothing_twice(wire: str, offset_s: float) -> None:
    with Simulator(persona="echo", batch_time_s=0.2, validation_time_s=0.02, clock_offset_s=offset_s) as simulator:
        simulator.next_faults("create", ["reset_after"])
        results = batchwork.run(
            [f"p{i}" for i in range(6)],
            mode="batch",
            items_per_batch=3,
            poll_interval=0.03,
            adopt_wait=0.2,
            **told(wire, simulator),
        )
        assert results.accounting.succeeded == 6
        assert {row["billed"] for row in simulator.log()["prompts"].values()} == {1}


def searched(wire: str, *, is_known: bool = False) -> str | Sighting:
    """Create a batch of one request and look for another of the same size with this tag."""

    async def main(simulator: Simulator) -> str | Sighting:
        options = told(wire, simulator)
        setup = Setup(clock=SystemClock(), max_in_flight=2, base_url=options["base_url"], api_key="k")
        backend: Any
        backend, _ = open_backend(options["model"], setup)
        mine = BatchTag(run_id="run", chunk=1, custom_ids=("run-1-0-abc",), intended_at=SystemClock().utc())
        line = backend.batch_line("run-1-0-abc", Request.ask("hello"))
        created = await backend.submit_batch([line], mine)
        known = frozenset({created} if is_known else ())
        at = SystemClock().utc()
        other = BatchTag(run_id="run", chunk=2, custom_ids=("run-2-0-abc",), intended_at=at, known=known)
        found = await backend.find_batch(other)
        await backend.aclose()
        return found

    with Simulator(persona="echo", batch_time_s=30.0) as simulator:
        return asyncio.run(main(simulator))


def test_a_strangers_open_batch_of_the_same_size_leaves_it_undecided_where_nothing_names_it() -> None:
    assert searched("anthropic") is Sighting.UNDECIDED
    assert searched("openai") is Sighting.ABSENT, "its metadata names it"


@pytest.mark.parametrize("wire", WIRES)
def test_a_batch_that_is_known_to_be_another_is_no_candidate(wire: str) -> None:
    assert searched(wire, is_known=True) is Sighting.ABSENT


@pytest.mark.parametrize("model", ["anthropic:claude-haiku-5-5", "openai:gpt-6-luna"])
def test_a_list_whose_pages_are_all_the_same_is_not_read_for_ever(canned, model):
    stranger = {
        "id": "b",
        "created_at": "2099-01-01T00:00:00Z",
        "processing_status": "in_progress",
        "status": "in_progress",
        "request_counts": {"processing": 50},
    }

    async def main():
        async with canned({"data": [stranger], "has_more": True}) as server:
            backend, _ = open_backend(
                model, Setup(clock=SystemClock(), max_in_flight=1, base_url=server.url, api_key="k")
            )
            tag = BatchTag(run_id="r", chunk=1, custom_ids=("a",), intended_at=0.0, file_id="f")
            seen = await backend.find_batch(tag)
            await backend.aclose()
            return seen, len(server.asked)

    assert asyncio.run(main()) == (Sighting.ABSENT, 2)
