"""One prompt or a thousand, over real HTTP."""

import http.client
import json
from collections.abc import Callable
from time import monotonic
from typing import Any

import pytest

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.request import Request
from tests.server.house import JSON, House, serving

RIVER = {
    "type": "json_schema",
    "json_schema": {
        "name": "river",
        "schema": {
            "type": "object",
            "properties": {"river": {"type": "string"}, "km": {"type": "integer", "minimum": 1}},
            "required": ["river", "km"],
        },
    },
}


def scripted(script: Callable[[Request, int], Any], **settings: Any) -> MockBackend:
    return MockBackend(clock=SystemClock(), script=script, **settings)


def text_of(request: Request) -> str:
    content = request.messages[-1].content
    assert isinstance(content, str)
    return content


def test_five_prompts_of_half_a_second_take_half_a_second() -> None:
    with serving(MockBackend(clock=SystemClock(), latency_s=0.5)) as house:
        house.prompts(["warm"])
        started = monotonic()
        answered = house.prompts([f"prompt {i}" for i in range(5)])
        assert monotonic() - started <= 0.6
    summary = answered.json()["summary"]
    assert summary["completed"] == 5
    assert summary["total_s"] <= 0.6
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


def test_a_stream_tells_every_answer_the_moment_it_is_there() -> None:
    class Staggered(MockBackend):
        def _delay(self) -> float:
            return 0.4 if self.calls == 1 else 0.02

    with serving(Staggered(clock=SystemClock())) as house:
        connection = http.client.HTTPConnection(house.host, house.port, timeout=10)
        body = {"prompts": [{"prompt": "slow"}, {"prompt": "quick"}, {"prompt": "x", "extract_field_path": "["}]}
        headers = JSON | {"accept": "application/x-ndjson"}
        started = monotonic()
        connection.request("POST", "/api/v1/prompts", json.dumps(body), headers)
        response = connection.getresponse()
        lines, moments = [], []
        for line in response:
            lines.append(json.loads(line))
            moments.append(monotonic() - started)
        connection.close()
    assert response.headers["content-type"] == "application/x-ndjson"
    assert [line.get("index") for line in lines] == [2, 1, 0, None]
    assert lines[0]["error_code"] == "invalid_path"
    assert moments[1] < 0.3 < 0.4 <= moments[2]
    assert lines[-1]["summary"]["completed"] == 2


def test_a_stream_holds_the_same_answers_as_the_list() -> None:
    with serving(MockBackend(clock=SystemClock(), latency_s=0.002, sigma=1)) as house:
        items = [{"prompt": f"p{i}"} for i in range(300)]
        listed = house.prompts(items).json()["results"]
        streamed = house.post("/api/v1/prompts", {"prompts": items}, {"accept": "application/x-ndjson"})
    lines = [json.loads(line) for line in streamed.body.splitlines()]
    by_index = {line.pop("index"): line for line in lines[:-1]}
    for answer in [*listed, *by_index.values()]:
        answer.pop("latency_s")
    assert [by_index[i] for i in range(300)] == listed


def test_a_schema_gives_validated_json_and_a_path_takes_a_field_out_of_it() -> None:
    with serving(scripted(lambda *_: '{"river": "Danube", "km": 2850}')) as house:
        assert house.prompt(prompt="?", response_format=RIVER).json()["response"] == {"river": "Danube", "km": 2850}
        answer = house.prompt(prompt="?", response_format=RIVER, extract_field_path="river").json()
    assert answer["response"] == "Danube"


def test_an_answer_against_the_schema_is_asked_again_once_with_the_errors() -> None:
    asked: list[str] = []

    def script(request: Request, call: int) -> str:
        asked.append(text_of(request))
        return '{"river": "Danube"}' if call == 1 else '{"river": "Danube", "km": 2850}'

    with serving(scripted(script)) as house:
        answer = house.prompt(prompt="?", response_format=RIVER).json()
    assert answer["response"]["km"] == 2850
    assert "km" in asked[1]


def test_an_answer_that_stays_wrong_is_a_schema_violation_with_its_text_and_its_bill() -> None:
    backend = scripted(lambda *_: '{"river": "Danube", "km": 0}')
    with serving(backend, price="1,1") as house:
        answered = house.prompt(prompt="?", response_format=RIVER)
    answer = answered.json()
    assert answered.status == 200
    assert (answer["error_code"], answer["raw_text"]) == ("schema_violation", '{"river": "Danube", "km": 0}')
    assert backend.calls == 2
    assert answer["cost_usd"] > 0


def test_a_schema_that_cannot_be_used_is_a_422_alone_and_an_item_among_many(echo: House) -> None:
    broken = {"type": "json_schema", "json_schema": {"schema": {"properties": {"a": {"type": "strong"}}}}}
    alone = echo.prompt(prompt="?", response_format=broken)
    assert (alone.status, alone.code) == (422, "invalid_schema")
    assert alone.json()["where"] == "/response_format/json_schema/schema/properties/a/type"
    among = echo.prompts(["fine", {"prompt": "?", "response_format": broken}]).json()["results"]
    assert [a["error_code"] for a in among] == [None, "invalid_schema"]
    assert "/properties/a/type" in among[1]["error"]


def test_a_path_that_is_not_in_the_answer_says_where_it_stopped_and_keeps_the_text(echo: House) -> None:
    answer = echo.prompt(prompt='{"items": [{"total": 1}, {}]}', extract_field_path="items[*].total").json()
    assert answer["error_code"] == "path_not_found"
    assert "items[1]" in answer["error"]
    assert answer["raw_text"] == '{"items": [{"total": 1}, {}]}'
    assert echo.prompt(prompt="no json", extract_field_path="a").json()["error_code"] == "not_json"


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
