"""What is written into the log, and how often."""

import json
import logging
from typing import Any

import pytest

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.request import Request
from batchwork.server import logs
from batchwork.server.keys import key_ring
from batchwork.server.logs import Flood
from tests.server.house import serving


def record(name: str, message: str, **fields: Any) -> logging.LogRecord:
    made = logging.LogRecord(name, logging.INFO, "", 0, message, None, None)
    made.fields = fields
    return made


def test_what_anybody_can_cause_is_logged_so_often_a_second_and_what_was_left_out_is_told() -> None:
    now = [0.0]
    flood = Flood(3, now=lambda: now[0])
    refusals = [record("batchwork.server", "request", status=401, error_code="wrong_api_key") for _ in range(10)]
    assert [flood.filter(one) for one in refusals] == [True] * 3 + [False] * 7
    assert flood.filter(record("batchwork.server", "request", status=404, error_code="not_found"))
    now[0] = 1.0
    again = record("batchwork.server", "request", status=401, error_code="wrong_api_key")
    assert flood.filter(again)
    assert again.fields["left_out_before"] == 7  # type: ignore[attr-defined]


def test_what_went_well_is_always_logged() -> None:
    flood = Flood(1, now=lambda: 0.0)
    assert all(flood.filter(record("batchwork.server", "request", status=200)) for _ in range(50))


def test_complaints_of_the_web_server_and_of_the_loop_are_counted_too() -> None:
    flood = Flood(2, now=lambda: 0.0)
    for name in ("uvicorn.error", "asyncio"):
        assert [flood.filter(record(name, "socket.accept() out of system resource")) for _ in range(4)] == [
            True,
            True,
            False,
            False,
        ]


SECRET = "the-treaty-is-signed-at-dawn"


KEY = "bw-a-key-for-these-tests"


def test_no_prompt_no_answer_and_no_key_is_in_the_log(lines: list[dict[str, Any]]) -> None:
    def script(request: Request, call: int) -> Any:
        if call % 3 == 0:
            raise RuntimeError("a defect in a backend")
        return f"{request.messages[-1].content} and more"

    backend = MockBackend(clock=SystemClock(), script=script)
    with serving(backend, keys=key_ring([KEY]), retries=0) as house:
        house.headers["X-API-Key"] = KEY
        house.prompts([SECRET] * 5)
        house.prompt(prompt=SECRET, system=SECRET)
        house.prompt(prompt=SECRET, extract_field_path="a")
        house.post("/api/v1/prompt", {"prompt": [SECRET]})
        house.post("/api/v1/prompt", {"prompt": SECRET}, {"X-API-Key": KEY + "wrong"})
    text = json.dumps(lines)
    assert len(lines) >= 5
    assert SECRET not in text
    assert KEY not in text


def test_texts_are_in_the_log_when_the_operator_asks_for_them(lines: list[dict[str, Any]]) -> None:
    with serving(log_text=True) as house:
        house.prompt(prompt=SECRET)
    assert any(line.get("texts") == [{"asked": SECRET, "answered": SECRET}] for line in lines)


def test_log_lines_go_to_standard_error_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    loggers = [logging.getLogger(name) for name in ("batchwork", "uvicorn")]
    before = [(logger.handlers[:], logger.propagate, logger.level) for logger in loggers]
    try:
        logs.set_up()
        logs.log("hello", number=1)
        line = json.loads(capsys.readouterr().err.splitlines()[-1])
    finally:
        for logger, (handlers, propagate, level) in zip(loggers, before, strict=True):
            logger.handlers[:], logger.propagate = handlers, propagate
            logger.setLevel(level)
    assert (line["event"], line["number"], line["level"]) == ("hello", 1, "info")
