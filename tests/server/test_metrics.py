"""The numbers of a server."""

import re
from typing import Any

from batchwork.backends.mock import MockBackend
from batchwork.clock import SystemClock
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.request import Request
from batchwork.prompts import Answer, Summary
from batchwork.server.metrics import Metrics, ServerMetrics
from tests.server.house import serving

_LINE = re.compile(r'^[a-z_]+(\{[a-z_]+="([^"\\]|\\.)*"(,[a-z_]+="([^"\\]|\\.)*")*\})? -?[0-9.e+-]+$')


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


def test_figures_of_today_begin_anew_at_midnight_and_the_counters_go_on() -> None:
    now = [3 * 86_400.0 - 1.0]
    metrics = ServerMetrics(utc=lambda: now[0])

    def prompts(count: int) -> dict[str, float]:
        answers = [Answer(status="success", usage={"input_tokens": 5})] * count
        summary = Summary(completed=count, failed=0, total_s=1.0, first_result_s=None, average_s=1.0, cost_usd=None)
        metrics.request(answers, summary)
        return metrics.today("batchwork_prompts_total", "status")

    assert prompts(2) == {"success": 2}
    now[0] += 2.0
    assert metrics.today("batchwork_tokens_total", "kind") == {}
    assert prompts(1) == {"success": 1}
    assert 'batchwork_prompts_total{error_code="",status="success"} 3' in metrics.exposition()
