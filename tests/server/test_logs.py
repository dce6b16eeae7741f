"""What is written into the log, and how often."""

import logging
from typing import Any

from batchwork.server.logs import Flood


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
