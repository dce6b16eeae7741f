"""Prepare, process, finish: the pipeline without HTTP, on a clock that nobody waits for."""

import logging
from typing import Any

import pytest

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.errors import ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.request import Request
from batchwork.prompts import (
    Answer,
    PromptAnswers,
    defaults_for,
    finish_all,
    open_prompt_service,
    prepare_all,
    process_multiple_prompts,
    process_prompt_batch,
    summarise,
)
from tests.prompts.virtual import asked, backend_of, virtually


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


@pytest.mark.parametrize("prompts", ["abc", b"abc", {"prompt": "abc"}])
def test_one_prompt_is_not_many(prompts: Any) -> None:
    with pytest.raises(ConfigError, match="wrap it in a list"):
        virtually(asked(prompts, backend_of()))


def test_no_prompts_are_no_answers_and_a_word_about_it(caplog: pytest.LogCaptureFixture) -> None:
    result = virtually(asked([], backend_of()))
    assert (result.answers, result.summary.completed, result.summary.failed) == ([], 0, 0)
    assert "the input is empty: nothing was asked" in caplog.messages


def test_an_empty_prompt_is_that_prompts_error() -> None:
    backend = backend_of()
    empty, other = virtually(asked([" ", "a"], backend)).answers
    assert (empty.error_code, empty.error) == ("invalid_request", "the prompt is empty: there is nothing to ask")
    assert (other.status, backend.calls) == ("success", 1)


def test_a_service_does_not_answer_after_its_block() -> None:
    async def story() -> None:
        async with open_prompt_service("mock:echo") as service:
            pass
        with pytest.raises(ConfigError, match="the prompt service is closed"):
            await process_multiple_prompts(["late"], service)

    virtually(story())
