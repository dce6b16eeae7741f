"""What every request goes through: its id, its key, its address, its errors."""

import asyncio
import re
from importlib.metadata import version
from typing import Any

import pytest

from batchwork.server.config import ServerConfig
from batchwork.server.dispatcher import Dispatcher
from batchwork.server.exchange import Exchange
from batchwork.server.keys import key_ring
from batchwork.server.metrics import ServerMetrics
from tests.server.house import House, serving


def test_unknown_addresses_and_methods_have_the_same_shape(echo: House) -> None:
    assert echo.get("/nowhere").code == "not_found"
    assert echo.get("/api/v1/prompt/").code == "not_found"
    answered = echo.get("/api/v1/prompt")
    assert answered.code == "method_not_allowed"
    assert answered.headers["allow"] == "POST"


KEY = "bw-a-key-for-these-tests"


def test_a_key_opens_the_door_in_either_header() -> None:
    with serving(keys=key_ring([KEY, "another-key-of-ours"])) as house:
        assert house.prompt(prompt="hi").code == "missing_api_key"
        assert house.post("/api/v1/prompt", {"prompt": "hi"}, {"X-API-Key": KEY + "x"}).code == "wrong_api_key"
        for headers in ({"X-API-Key": KEY}, {"Authorization": f"Bearer {KEY}"}, {"X-API-Key": "another-key-of-ours"}):
            assert house.post("/api/v1/prompt", {"prompt": "hi"}, headers).status == 200
        assert house.get("/metrics").status == house.get("/openapi.json").status == 401
        assert house.get("/metrics", **{"X-API-Key": KEY}).status == 200
        assert house.get("/health").status == house.get("/ready").status == 200


def test_without_a_key_a_page_under_another_name_is_not_answered(echo: House) -> None:
    for name in ("evil.example", "evil.example:80", "127.0.0.1.evil.example"):
        assert echo.post("/api/v1/prompt", {"prompt": "hi"}, {"host": name}).code == "wrong_host"
    for name in ("localhost:8000", "127.0.0.1", "[::1]:8000"):
        assert echo.post("/api/v1/prompt", {"prompt": "hi"}, {"host": name}).status == 200


def test_every_request_has_an_id_in_its_header_and_in_the_log(lines: list[dict[str, Any]]) -> None:
    with serving() as house:
        own = house.get("/docs", **{"X-Request-ID": "order-66"})
        made = house.prompts(["a", "b"])
        strange = house.get("/docs", **{"X-Request-ID": "a b\tc" * 90})
    assert own.headers["x-request-id"] == "order-66"
    assert re.fullmatch(r"[0-9a-f]{16}", strange.headers["x-request-id"])
    line = next(line for line in lines if line.get("request_id") == made.headers["x-request-id"])
    assert (line["event"], line["status"], line["prompts"], line["completed"]) == ("request", 200, 2, 2)
    assert line["total_s"] >= line["first_result_s"] > 0
    assert line["average_s"] == pytest.approx(line["total_s"] / 2, abs=1e-5)


def test_a_request_that_the_server_leaves_is_neither_a_defect_nor_a_client_that_left(
    lines: list[dict[str, Any]],
) -> None:
    async def left(_: Exchange) -> None:
        raise asyncio.CancelledError

    async def nothing(*_: Any) -> Any:
        raise AssertionError("nobody reads or writes any more")

    config, metrics = ServerConfig(model="mock:echo"), ServerMetrics(utc=lambda: 0.0)
    headers = [(b"host", b"localhost")]
    scope = {"type": "http", "method": "POST", "path": "/here", "headers": headers}
    asyncio.run(Dispatcher({"/here": ("POST", left)}, config=config, metrics=metrics)(scope, nothing, nothing))
    assert (lines[-1]["status"], lines[-1]["error_code"]) == (503, "shutting_down")


def test_a_defect_is_logged_with_its_request_and_answered_in_the_one_shape(
    lines: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("by design")

    with serving() as house:
        with monkeypatch.context() as patch:
            patch.setattr("batchwork.server.phases.prepare_prompt_request", broken)
            answered = house.prompt(prompt="x")
        assert (answered.status, answered.code) == (500, "internal_error")
        assert "design" not in answered.body.decode()
        assert house.prompt(prompt="x").status == 200
    line = next(line for line in lines if line["event"] == "defect")
    assert line["request_id"] == answered.headers["x-request-id"]
    assert "ZeroDivisionError" in line["traceback"]


def test_the_root_and_health_answer_without_a_key_and_tell_the_version() -> None:
    with serving(keys=key_ring([KEY])) as house:
        root, health = house.get("/"), house.get("/health")
    own = version("batchwork")
    assert root.json() == {"service": "batchwork", "version": own, "docs": "/docs", "openapi": "/openapi.json"}
    assert health.json() == {"status": "ok", "version": own}
