"""The second phase: calls in flight."""

import asyncio
from typing import Any

import pytest

from batchwork.core.errors import ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.prompts import (
    Problem,
    PromptBatch,
    defaults_for,
    finish_all,
    open_prompt_service,
    prepare_all,
)
from tests.prompts.virtual import asked, backend_of, virtually


def test_an_interrupted_batch_lets_calls_in_flight_finish_and_says_why_the_rest_was_not_sent() -> None:
    async def story() -> None:
        async with open_prompt_service("mock:echo", backend=backend_of(latency_s=1.0)) as service:
            prepared = prepare_all([str(i) for i in range(10)], defaults_for(service))
            batch = PromptBatch(service, prepared, batch_size=3)
            running = asyncio.create_task(batch.run())
            await asyncio.sleep(0.5)
            batch.interrupt(Problem(code="cancelled", message="enough", retryable=True))
            answers = finish_all(prepared, await running)
        assert [a.error_code for a in answers] == [None] * 3 + ["cancelled"] * 7

    virtually(story())


def test_a_quota_that_does_not_end_soon_is_told_as_the_providers_word() -> None:
    failure = Failure(kind=FailureKind.QUOTA, message="used up", retry_after_s=7200.0)
    result = virtually(asked(["a", "b", "c"], backend_of(script=lambda *_: failure), batch_size=1))
    assert {(a.error_code, a.retryable) for a in result.answers} == {("quota", True)}
    assert "used up" in (result.answers[2].error or "")


@pytest.mark.parametrize("size", [0, -1, True, 1.5])
def test_a_batch_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(ConfigError, match="batch_size"):
        virtually(asked(["a"], backend_of(), batch_size=size))
