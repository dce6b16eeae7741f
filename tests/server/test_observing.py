"""What can be seen from outside: metrics, logs, traces, the documentation."""

import json
import logging
import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.request import Request
from batchwork.server import logs, spans
from batchwork.server.api import API
from batchwork.server.keys import key_ring
from batchwork.server.metrics import Metrics
from tests.server.house import House, serving

SECRET = "the-treaty-is-signed-at-dawn"
KEY = "bw-a-key-for-these-tests"
_LINE = re.compile(r'^[a-z_]+(\{[a-z_]+="([^"\\]|\\.)*"(,[a-z_]+="([^"\\]|\\.)*")*\})? -?[0-9.e+-]+$')


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    """Every log line of the server, as the program writes it."""
    seen: list[dict[str, Any]] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(json.loads(logs.JsonLines().format(record)))

    handler, logger = Keep(), logging.getLogger("batchwork")
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(logging.DEBUG)
    yield seen
    logger.removeHandler(handler)
    logger.setLevel(before)


def test_metrics_are_what_prometheus_reads() -> None:
    def script(request: Request, _: int) -> Any:
        return Failure(kind=FailureKind.REFUSED, message="no") if request.messages[-1].content == "bad" else "ok"

    backend = MockBackend(clock=SystemClock(), script=script)
    with serving(backend, price="1,1") as house:
        house.prompts(["a", "b", "bad"])
        house.prompt(prompt=1)
        answered = house.get("/metrics")
    assert answered.headers["content-type"].startswith("text/plain; version=0.0.4")
    text = answered.body.decode()
    for line in text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ")) or _LINE.match(line), line
    assert 'batchwork_prompts_total{error_code="",status="success"} 2' in text
    assert 'batchwork_prompts_total{error_code="refused",status="error"} 1' in text
    assert 'batchwork_http_requests_total{method="POST",route="/api/v1/prompt",status="422"} 1' in text
    assert 'batchwork_http_request_seconds_bucket{route="/api/v1/prompts",le="+Inf"} 1' in text
    assert 'batchwork_calls_in_flight{model="mock:echo"} 0' in text
    assert "batchwork_cost_usd_total" in text


def test_unknown_addresses_are_one_line_in_the_metrics() -> None:
    with serving() as house:
        for number in range(20):
            house.get(f"/guess/{number}")
        text = house.get("/metrics").body.decode()
    assert 'route="other",status="404"} 20' in text
    assert "guess" not in text


def test_labels_are_escaped() -> None:
    metrics = Metrics()
    metrics.describe("x_total", "counter", "A test.")
    metrics.count("x_total", model='a"b\\c\nd')
    assert 'x_total{model="a\\"b\\\\c\\nd"} 1' in metrics.exposition()


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


def test_the_documentation_is_one_page_that_loads_nothing_from_elsewhere(echo: House) -> None:
    page = echo.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    text = page.body.decode()
    assert "POST /api/v1/prompts" in text
    assert "duplicate_id" in text
    assert "extract_field_path" in text
    assert not re.search(r"(src|href)=\"?(https?:)?//", text)


def test_the_openapi_document_names_every_error_code_and_resolves(echo: House) -> None:
    document = echo.get("/openapi.json").json()
    text = json.dumps(document)
    for code in API.errors:
        if code not in ("not_found", "method_not_allowed"):
            assert f"`{code}`" in text, code
    for name in set(re.findall(r'"#/components/schemas/([A-Za-z]+)"', text)):
        assert name in document["components"]["schemas"], name


class _Span:
    def __init__(self, name: str, attributes: dict[str, Any]) -> None:
        self.name = name
        self.attributes = dict(attributes)

    def set_attribute(self, name: str, value: Any) -> None:
        self.attributes[name] = value

    def __enter__(self) -> "_Span":
        return self

    def __exit__(self, *_: object) -> None:
        pass


class _Tracer:
    def __init__(self) -> None:
        self.spans: list[_Span] = []

    def start_as_current_span(self, name: str, *, attributes: dict[str, Any], **_: Any) -> _Span:
        self.spans.append(_Span(name, attributes))
        return self.spans[-1]


def test_every_call_is_a_span_with_the_genai_names_and_without_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _Tracer()
    monkeypatch.setattr(spans, "tracer", lambda: seen)

    def script(request: Request, call: int) -> Any:
        if call == 2:
            raise BackendError(Failure(kind=FailureKind.REFUSED, message=SECRET))
        return SECRET

    with serving(MockBackend(clock=SystemClock(), script=script)) as house:
        house.prompts([SECRET, SECRET], batch_size=1)
    whole, first, second = seen.spans
    assert whole.name == "POST /api/v1/prompts"
    assert first.name == "chat mock:echo"
    assert first.attributes["gen_ai.operation.name"] == "chat"
    assert first.attributes["gen_ai.provider.name"] == "mock"
    assert first.attributes["gen_ai.request.model"] == "mock:echo"
    assert first.attributes["gen_ai.request.max_tokens"] == 1024
    assert first.attributes["gen_ai.usage.input_tokens"] > 0
    assert first.attributes["gen_ai.response.finish_reasons"] == ["end_turn"]
    assert second.attributes["error.type"] == "refused"
    assert SECRET not in repr([span.attributes for span in seen.spans])


def test_without_the_package_there_are_no_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    backend = MockBackend(clock=SystemClock())
    assert spans.traced(backend, "m") is backend


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
