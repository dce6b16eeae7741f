"""One prompt or a thousand, over real HTTP."""

from time import monotonic
from typing import Any

import pytest

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.request import Request
from tests.server.house import House, scripted, serving, text_of


def test_five_prompts_of_half_a_second_take_half_a_second() -> None:
    with serving(MockBackend(clock=SystemClock(), latency_s=0.5)) as house:
        house.prompts(["warm"])

        def timed() -> tuple[float, dict[str, Any]]:
            started = monotonic()
            answered = house.prompts([f"prompt {i}" for i in range(5)])
            return monotonic() - started, answered.json()["summary"]

        tries = (timed() for _ in range(5))  # a busy machine may be late, but not each time
        summary = next((told for took, told in tries if max(took, told["total_s"]) <= 0.6), None)
    assert summary is not None
    assert summary["completed"] == 5
    assert summary["average_s"] == pytest.approx(summary["total_s"] / 5, abs=1e-5)


def test_one_prompt_has_the_whole_answer(echo: House) -> None:
    answered = echo.prompt(prompt="hello", id="mine", system="be kind", max_tokens=50)
    assert answered.status == 200
    answer = answered.json()
    assert answer.pop("latency_s") >= 0
    assert answer == {
        "status": "success",
        "response": "hello",
        "error": None,
        "error_code": None,
        "retryable": False,
        "usage": {"input_tokens": 2, "output_tokens": 2},
        "cost_usd": 0.0,
        "id": "mine",
        "raw_text": None,
        "truncated": False,
    }


def test_messages_stand_in_for_a_prompt(echo: House) -> None:
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    assert echo.prompt(messages=turns).json()["response"] == "c"


def test_answers_stand_in_request_order_and_equal_those_of_asking_one_by_one() -> None:
    def script(request: Request, _: int) -> Any:
        text = text_of(request)
        if text.endswith("7"):
            return Failure(kind=FailureKind.REFUSED, message=f"not {text}")
        return f"answer to {text}"

    prompts = [{"prompt": f"p{i}", "id": f"id-{i}"} for i in range(120)]
    with serving(scripted(script, latency_s=0.005, sigma=1.5)) as house:
        together = house.prompts(prompts, batch_size=30).json()
        single = [house.prompt(**item).json() for item in prompts[:40]]
        one_at_a_time = house.prompts(prompts[:40], batch_size=1).json()["results"]
    for answer in [*together["results"], *single, *one_at_a_time]:
        answer.pop("latency_s")
    assert [answer["id"] for answer in together["results"]] == [item["id"] for item in prompts]
    assert together["results"][:40] == single == one_at_a_time
    assert together["summary"]["completed"] == 108
    assert together["summary"]["failed"] == 12


def test_one_failure_touches_no_other_item_even_when_a_hundred_fail_in_a_row() -> None:
    def script(request: Request, _: int) -> Any:
        failed = Failure(kind=FailureKind.REJECTED, message="no")
        return failed if int(text_of(request)) < 100 else "yes"

    with serving(scripted(script)) as house:
        results = house.prompts([str(i) for i in range(200)], batch_size=10).json()["results"]
    assert [a["error_code"] for a in results] == ["rejected"] * 100 + [None] * 100
    assert not results[0]["retryable"]


def test_a_passing_failure_is_tried_again_and_then_told_as_retryable() -> None:
    def script(request: Request, call: int) -> Any:
        if text_of(request) == "never":
            return Failure(kind=FailureKind.SERVER, message="broken", status=500)
        return Failure(kind=FailureKind.SERVER, message="broken") if call == 1 else "well"

    with serving(scripted(script), retries=1) as house:
        assert house.prompt(prompt="later").json()["response"] == "well"
        answer = house.prompt(prompt="never").json()
    assert (answer["status"], answer["error_code"], answer["retryable"]) == ("error", "server", True)


def test_batch_size_bounds_the_calls_in_flight_of_one_request() -> None:
    for asked, told, most in ((None, {}, 7), (3, {}, 3), (None, {"batch_size": 50}, 20)):
        backend = MockBackend(clock=SystemClock(), latency_s=0.01)
        with serving(backend, batch_size=told.get("batch_size", 7)) as house:
            fields = {} if asked is None else {"batch_size": asked}
            house.prompts([str(i) for i in range(20)], **fields)
        assert backend.most_in_flight == most


def test_the_same_prompt_many_times_is_many_calls() -> None:
    backend = scripted(lambda _, call: f"call {call}")
    with serving(backend) as house:
        first = house.prompts(["same"] * 10).json()["results"]
        second = house.prompts(["same"] * 10).json()["results"]
    assert len({a["response"] for a in [*first, *second]}) == 20


def test_the_first_result_is_told_when_it_was_there_not_when_the_batch_ended() -> None:
    class Staggered(MockBackend):
        def _delay(self) -> float:
            return 0.05 if self.calls == 1 else 0.4

    with serving(Staggered(clock=SystemClock())) as house:
        summary = house.prompts(["a", "b", "c"]).json()["summary"]
    assert 0.05 <= summary["first_result_s"] < 0.3
    assert summary["total_s"] >= 0.4


def test_several_models_are_served_and_no_other() -> None:
    with serving(None, model="mock:echo", models=("mock:echo?latency=0.01",)) as house:
        items = [{"prompt": "a"}, {"prompt": "b", "model": "mock:echo?latency=0.01"}, {"prompt": "c", "model": "gpt"}]
        results = house.prompts(items).json()["results"]
        one_by_one = house.prompts(items, batch_size=1).json()["results"]
        assert house.prompt(prompt="a", model="gpt").code == "unknown_model"
    assert [a["response"] for a in results] == [a["response"] for a in one_by_one] == ["a", "b", None]
    assert results[1]["latency_s"] >= 0.01


def test_a_provider_that_refuses_our_key_is_every_items_error() -> None:
    failure = Failure(kind=FailureKind.AUTH, message="invalid key", status=401)
    backend = scripted(lambda *_: failure)
    with serving(backend) as house:
        answered = house.prompts([str(i) for i in range(50)], batch_size=5)
    results = answered.json()["results"]
    assert answered.status == 200
    assert {a["error_code"] for a in results} == {"auth"}
    assert backend.calls <= 5


def test_a_refused_prompt_is_answered_when_the_time_for_retries_is_over() -> None:
    refusal = Failure(kind=FailureKind.RATE_LIMITED, message="slow down", status=429)
    backend = scripted(lambda *_: refusal)
    with serving(backend, max_retry_s=0.5) as house:
        answer = house.prompt(prompt="a").json()
    assert (answer["error_code"], answer["retryable"]) == ("rate_limited", True)
    assert backend.calls > 1
