"""Answers on their way out."""

import asyncio
import http.client
import json
import threading

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.reply import Reply
from batchwork.core.request import Request
from tests.server.house import JSON, MANY, ONE, House, sent, serving, text_of
from tests.support.waiting import becomes_true


def test_a_caller_that_leaves_in_the_middle_of_a_stream_is_noticed() -> None:
    backend = MockBackend(clock=SystemClock(), latency_s=0.05)
    with serving(backend) as house:
        wire = sent(house, prompts=200, batch_size=4, accept="application/x-ndjson")
        while b'"index":' not in wire.recv(65536):
            pass
        wire.close()
        assert becomes_true(lambda: house.application.admission.under_way == 0)
        assert backend.calls < 40


def test_a_caller_that_takes_neither_kind_of_answer_is_told(echo: House) -> None:
    assert echo.post(MANY, {"prompts": [{"prompt": "x"}]}, {"accept": "text/html"}).code == "not_acceptable"
    assert echo.post(ONE, {"prompt": "x"}, {"accept": "text/html"}).code == "not_acceptable"
    assert echo.post(ONE, {"prompt": "x"}, {"accept": "application/x-ndjson"}).status == 200


def test_a_stream_tells_every_answer_the_moment_it_is_there() -> None:
    is_read = threading.Event()

    class Held(MockBackend):
        async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
            if text_of(request) == "slow":
                assert await asyncio.to_thread(is_read.wait, 20)
            return await super().complete(request, ceiling_nano=ceiling_nano)

    with serving(Held(clock=SystemClock())) as house:
        connection = http.client.HTTPConnection(house.host, house.port, timeout=10)
        body = {"prompts": [{"prompt": "slow"}, {"prompt": "quick"}, {"prompt": "x", "extract_field_path": "["}]}
        headers = JSON | {"accept": "application/x-ndjson"}
        connection.request("POST", "/api/v1/prompts", json.dumps(body), headers)
        response = connection.getresponse()
        lines = []
        for line in response:
            lines.append(json.loads(line))
            if lines[-1].get("index") == 1:
                is_read.set()  # the slow one is answered after that, or never
        connection.close()
    assert response.headers["content-type"] == "application/x-ndjson"
    assert [line.get("index") for line in lines] == [2, 1, 0, None]
    assert lines[0]["error_code"] == "invalid_path"
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
