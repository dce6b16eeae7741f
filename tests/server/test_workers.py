""""""

import asyncio
import json

import pytest

from batchwork.prompts.worker import (
    CheckJob,
    Done,
    ExtractJob,
)
from batchwork.schema import DEFAULT_LIMITS
from batchwork.server.config import WorkLimits
from batchwork.server.workers import Workers, WorkFailed

ENDLESS = CheckJob(
    {"contains": {"anyOf": [{"required": [f"x{n}"]} for n in range(2000)]}},
    json.dumps([{"a": 1}] * 300_000),
    DEFAULT_LIMITS,
)


def test_a_job_that_takes_too_long_is_killed_callers_take_turns_and_the_next_job_goes_on() -> None:
    async def story() -> None:
        workers = Workers(WorkLimits(processes=1, job_s=0.3))
        order: list[str] = []

        async def ask(caller: str) -> None:
            assert await workers.run(ExtractJob("[7]", "[0]"), caller=caller) == Done(b"7")
            order.append(caller)

        first = asyncio.create_task(workers.run(ENDLESS, caller="greedy"))
        await asyncio.sleep(0)
        waiting = [asyncio.create_task(ask(caller)) for caller in ("greedy", "greedy", "greedy", "other")]
        with pytest.raises(WorkFailed, match=r"more than 0\.3 s"):
            await first
        await asyncio.gather(*waiting)
        assert order.index("other") <= 1
        await workers.aclose()

    asyncio.run(story())
