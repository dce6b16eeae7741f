"""The second phase: calls in flight."""

import asyncio
from typing import Any

import pytest

from batchwork.core.errors import ConfigError
from batchwork.core.failure import Failure, FailureKind
from batchwork.prompts import (
    Answer,
    Problem,
    PromptBatch,
    Summary,
    defaults_for,
    finish_all,
    open_prompt_service,
    prepare_all,
    summarise,
)
from tests.prompts.virtual import asked, backend_of, virtually
from tests.support.scripted import Scripted, failure


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


def test_what_was_sent_is_never_told_as_not_sent() -> None:
    """A call in flight is cut off, at its worst case; one to be tried again has been sent; the others have not."""
    why = Problem(code="shutting_down", message="not sent: the server is about to end", retryable=True)
    backend = Scripted(
        lambda prompt, _: failure(FailureKind.SERVER, after=50.0) if prompt == "waits" else prompt,
        latency=lambda prompt: 0.1 if prompt == "waits" else 100.0,
    )

    async def story() -> tuple[list[Answer], Summary, int]:
        async with open_prompt_service("mock:echo", backend=backend, price=(1, 1), max_cost=1) as service:
            prepared = prepare_all(["flies", "waits", "flies", "rests"], defaults_for(service, max_tokens=100))
            batch = PromptBatch(service, prepared, batch_size=2)
            running = asyncio.create_task(batch.run())
            await asyncio.sleep(1)
            for _ in range(2):
                batch.interrupt(why)
            executed = await running
            answers = finish_all(prepared, executed)
            return answers, summarise(answers, executed), service.ledger.spent

    answers, summary, spent = virtually(story())
    cut_off, waits, _, rests = answers
    assert [answer.error_code for answer in answers] == ["cut_off", "shutting_down", "cut_off", "shutting_down"]
    assert (cut_off.error or "").startswith("cut off: the server is about to end; the call was in flight")
    assert waits.error == "not sent again after 1 call: the server is about to end"
    assert (rests.error, rests.cost_usd, rests.latency_s) == (why.message, 0, None)
    assert cut_off.latency_s == pytest.approx(1.0)
    assert cut_off.cost_usd is not None
    assert cut_off.cost_usd > 0.0001  # all of max_tokens, and the input
    assert summary.cost_usd == pytest.approx(2 * cut_off.cost_usd) == pytest.approx(spent / 1e9)


def test_a_quota_that_does_not_end_soon_is_told_as_the_providers_word() -> None:
    failure = Failure(kind=FailureKind.QUOTA, message="used up", retry_after_s=7200.0)
    result = virtually(asked(["a", "b", "c"], backend_of(script=lambda *_: failure), batch_size=1))
    assert {(a.error_code, a.retryable) for a in result.answers} == {("quota", True)}
    assert "used up" in (result.answers[2].error or "")


@pytest.mark.parametrize("size", [0, -1, True, 1.5])
def test_a_batch_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(ConfigError, match="batch_size"):
        virtually(asked(["a"], backend_of(), batch_size=size))


def _starts_of(backend: Scripted, prompt: str) -> list[float]:
    return [start for start, asked in zip(backend.starts, backend.asked, strict=True) if asked == prompt]


@pytest.mark.parametrize("prompts", [1, 30])
@pytest.mark.parametrize("after", [None, 3.0, 25.0])
@pytest.mark.parametrize("kind", [FailureKind.RATE_LIMITED, FailureKind.OVERLOADED])
def test_no_retry_starts_later_than_a_minute_after_a_prompts_first_call(
    kind: FailureKind, after: float | None, prompts: int
) -> None:
    backend = Scripted(lambda *_: failure(kind, after=after), latency=0.3, free=True)
    result = virtually(asked([str(i) for i in range(prompts)], backend))
    assert {answer.error_code for answer in result.answers} == {kind.value}
    for prompt in set(backend.asked):
        starts = _starts_of(backend, prompt)
        assert starts[-1] - starts[0] <= 60.0
    assert result.summary.total_s <= 65.0


@pytest.mark.parametrize("kind", [FailureKind.QUOTA, FailureKind.SERVER])
def test_a_quota_or_a_failure_that_names_its_end_again_and_again_is_not_waited_for_longer_either(
    kind: FailureKind,
) -> None:
    backend = Scripted(lambda *_: failure(kind, after=20.0), free=True)
    result = virtually(asked(["a"], backend, retries=100))
    assert result.answers[0].error_code == kind.value
    assert backend.starts[-1] <= 60.0
    assert result.summary.total_s <= 61.0


def test_a_prompt_fails_at_most_one_call_more_often_than_the_retries_say() -> None:
    backend = Scripted(lambda *_: failure(FailureKind.CONNECTION), free=True)
    virtually(asked(["a"], backend, retries=2))
    assert len(backend.asked) == 3


def test_the_time_for_retries_is_an_option() -> None:
    backend = Scripted(lambda *_: failure(FailureKind.RATE_LIMITED), latency=0.1, free=True)
    result = virtually(asked(["a"], backend, max_retry_time=5.0))
    assert result.summary.total_s <= 5.5
    with pytest.raises(ConfigError, match="max_retry_time"):
        virtually(asked(["a"], backend, max_retry_time=0))


def test_waiting_for_a_slot_is_not_counted() -> None:
    """One slot: while the first prompt waits to be tried again, calls of another request hold it for long."""
    script = {"slow": 100.0}
    backend = Scripted(
        lambda prompt, call: failure(FailureKind.SERVER) if prompt == "fails" and call < 4 else prompt,
        latency=lambda prompt: script.get(prompt, 0.1),
        free=True,
    )

    async def story() -> list[str | None]:
        async with open_prompt_service("mock:echo", backend=backend, max_in_flight=1) as service:
            requests = [["fails"], ["slow"], ["slow"], ["slow"]]
            batches = [PromptBatch(service, prepare_all(prompts, defaults_for(service))) for prompts in requests]
            executed = await asyncio.gather(*(batch.run() for batch in batches))
            return [outcome.status.value for one in executed for outcome in one.outcomes.values()]

    assert virtually(story()) == ["succeeded"] * 4
    starts = _starts_of(backend, "fails")
    assert starts[-1] - starts[0] > 200.0


def test_an_answer_that_will_not_do_is_asked_for_again_however_long_it_took() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "integer"}}}
    backend = Scripted(lambda prompt, _: "1" if "schema" in prompt else "one", latency=90.0, free=True)
    result = virtually(asked([{"prompt": "a number", "response_format": schema}], backend))
    assert (result.answers[0].response, len(backend.asked)) == (1, 2)
