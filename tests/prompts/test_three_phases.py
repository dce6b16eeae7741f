"""Prepare, process, finish: the pipeline without HTTP, on a clock that nobody waits for."""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.errors import ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.request import Request
from batchwork.prompts import (
    Answer,
    Problem,
    PromptAnswers,
    PromptBatch,
    defaults_for,
    finish_all,
    open_prompt_service,
    prepare_all,
    process_multiple_prompts,
    process_prompt_batch,
    summarise,
)
from tests.support.virtual_time import run_virtual

T = TypeVar("T")


def virtually(main: Coroutine[Any, Any, T]) -> T:
    return run_virtual(main)


def backend_of(**settings: Any) -> MockBackend:
    return MockBackend(clock=SystemClock(), **settings)


async def asked(prompts: list[Any], backend: MockBackend, **options: Any) -> PromptAnswers:
    batch_size = options.pop("batch_size", 100)
    async with open_prompt_service("mock:echo", backend=backend, **options) as service:
        return await process_multiple_prompts(prompts, service, batch_size=batch_size)


def test_the_seeds_case() -> None:
    together = virtually(asked([str(i) for i in range(5)], backend_of(latency_s=0.5)))
    in_a_row = virtually(asked([str(i) for i in range(5)], backend_of(latency_s=0.5), batch_size=1))
    assert together.summary.total_s == pytest.approx(0.5)
    assert in_a_row.summary.total_s == pytest.approx(2.5)
    assert together.answers == in_a_row.answers


def test_the_window_is_refilled_the_moment_a_call_ends() -> None:
    result = virtually(asked([str(i) for i in range(1000)], backend_of(latency_s=0.2, sigma=1.0, seed=1)))
    assert result.summary.completed == 1000
    assert result.summary.total_s < 9  # gather per hundred takes some 25


def test_every_prompt_is_prepared_before_the_first_call() -> None:
    backend = backend_of()
    prompts: list[Any] = ["a", "b", {"prompt": "c", "model": "other"}]

    async def story() -> None:
        async with open_prompt_service("mock:echo", backend=backend) as service:
            prepared = prepare_all(prompts, defaults_for(service))
            assert backend.calls == 0
            executed = await process_prompt_batch(service, prepared)
            assert backend.calls == 2
            answers = finish_all(prepared, executed)
            assert [a.status for a in answers] == ["success", "success", "error"]
            assert summarise(answers, executed).failed == 1

    virtually(story())


def test_results_equal_those_of_sequential_processing_with_faults_and_every_latency() -> None:
    def script(request: Request, _: int) -> Any:
        text = str(request.messages[-1].content)
        if int(text) % 9 == 0:
            return Failure(kind=FailureKind.REFUSED, message="no")
        return f'{{"n": {text}}}'

    prompts = [{"prompt": str(i), "extract_field_path": "n" if i % 5 else "m"} for i in range(300)]
    bare = [
        [(a.status, a.response, a.error, a.error_code, a.usage) for a in result.answers]
        for result in (
            virtually(asked(prompts, backend_of(script=script, latency_s=0.1, sigma=2.0, seed=3), batch_size=size))
            for size in (1, 7, 100)
        )
    ]
    assert bare[0] == bare[1] == bare[2]


def test_completions_and_failures_are_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    script = lambda request, _: (  # noqa: E731
        Failure(kind=FailureKind.REFUSED, message="no") if request.messages[0].content == "bad" else "ok"
    )
    with caplog.at_level(logging.INFO, "batchwork.prompts"):
        result = virtually(asked(["a", "bad", "b", {}], backend_of(script=script, latency_s=0.3)))
    assert (result.summary.completed, result.summary.failed) == (2, 2)
    assert "2 completed, 2 failed, total 0.300 s, average 0.0750 s, first result after 0.300 s" in caplog.text


def test_without_any_call_there_is_no_first_result() -> None:
    result = virtually(asked([{}, {}], backend_of()))
    assert result.summary.first_result_s is None
    assert result.summary.failed == 2


def test_answers_can_be_had_as_they_come() -> None:
    seen: list[tuple[int, Answer]] = []

    class Backwards(MockBackend):
        def _delay(self) -> float:
            return 1.0 / self.calls

    async def story() -> PromptAnswers:
        async with open_prompt_service("mock:echo", backend=Backwards(clock=SystemClock())) as service:
            return await process_multiple_prompts(["a", "b", "c"], service, on_answer=lambda *told: seen.append(told))

    result = virtually(story())
    assert [index for index, _ in seen] == [2, 1, 0]
    assert [result.answers[index] for index, _ in seen] == [answer for _, answer in seen]


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


def test_half_a_character_in_an_answer_is_replaced() -> None:
    result = virtually(asked(["a"], backend_of(script=lambda *_: "x\ud800y")))
    assert result.answers[0].response == "x?y"


def test_an_answer_too_deep_to_be_written_is_an_error() -> None:
    deep = "[" * 400 + "]" * 400
    result = virtually(asked([{"prompt": "x", "extract_field_path": "[0]"}], backend_of(script=lambda *_: deep)))
    assert result.answers[0].error_code == "not_json"
    assert result.answers[0].raw_text == deep


@pytest.mark.parametrize("size", [0, -1, True, 1.5])
def test_a_batch_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(ConfigError, match="batch_size"):
        virtually(asked(["a"], backend_of(), batch_size=size))


def test_cost_is_null_where_the_price_is_not_known_and_a_number_where_it_is() -> None:
    backend = backend_of()
    backend._traits = replace(backend._traits, free=False)
    unknown = virtually(asked(["a"], backend))
    assert unknown.answers[0].cost_usd is None
    assert unknown.summary.cost_usd is None
    known = virtually(asked(["abcd"], backend, price=(1, 2)))
    assert known.answers[0].cost_usd == known.summary.cost_usd == 6e-06
