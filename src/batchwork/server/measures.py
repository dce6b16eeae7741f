"""What a server counts of itself, under which names."""

from __future__ import annotations

from collections.abc import Callable

from batchwork.core.money import NANO
from batchwork.prompts import Answer, Summary
from batchwork.server.logs import log
from batchwork.server.metrics import Labels, Metrics
from batchwork.service import Service

_HTTP = "batchwork_http_requests_total"
_HTTP_SECONDS = "batchwork_http_request_seconds"
_DROPPED = "batchwork_connections_dropped_total"
_PROMPTS = "batchwork_prompts_total"
_FIRST = "batchwork_first_result_seconds"
_CALL = "batchwork_call_seconds"
_TOKENS = "batchwork_tokens_total"
_COST = "batchwork_cost_usd_total"


class Measures:
    """The counters of one server."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        describe = self.metrics.describe
        describe(_HTTP, "counter", "HTTP requests by route and status.")
        describe(_HTTP_SECONDS, "histogram", "Seconds from the request's first byte to the answer's last, by route.")
        describe(_DROPPED, "counter", "Connections that were let go or turned away, by reason.")
        describe(_PROMPTS, "counter", "Prompts by status and error code.")
        describe(_FIRST, "histogram", "Seconds until the first answer of a request.")
        describe(_CALL, "histogram", "Seconds of the last call of a prompt.")
        describe(_TOKENS, "counter", "Tokens by kind.")
        describe(_COST, "counter", "Dollars spent since the start.")

    def watch(self, service: Service, under_way: Callable[[], int], open_prompts: Callable[[], int]) -> None:
        """Show what the service knows when somebody looks."""
        gauge = self.metrics.gauge
        served = service.models.values()

        def each(ask: Callable[[str], float]) -> Callable[[], dict[Labels, float]]:
            return lambda: {(("model", each_model.model),): ask(each_model.model) for each_model in served}

        gauge("batchwork_calls_in_flight", "Calls under way.", each(lambda model: service.models[model].gate.in_flight))
        gauge("batchwork_window", "Calls that may be under way.", each(lambda model: service.models[model].gate.window))
        gauge("batchwork_requests_under_way", "Requests that have not ended.", lambda: {(): under_way()})
        gauge("batchwork_prompts_open", "Prompts of requests that have not ended.", lambda: {(): open_prompts()})
        ledger = service.ledger
        if ledger.ceiling is not None:
            ceiling = ledger.ceiling
            gauge("batchwork_budget_usd", "The day's budget.", lambda: {(): ceiling / NANO})
            gauge("batchwork_budget_spent_usd", "Spent of the day's budget.", lambda: {(): ledger.spent / NANO})
            gauge(
                "batchwork_budget_reserved_usd", "Set aside for calls under way.", lambda: {(): ledger.reserved / NANO}
            )

    def http(self, route: str, method: str, status: int, seconds: float) -> None:
        """An HTTP request has ended."""
        self.metrics.count(_HTTP, route=route, method=method, status=str(status))
        self.metrics.observe(_HTTP_SECONDS, seconds, route=route)

    def dropped(self, why: str) -> None:
        """A connection was let go."""
        self.metrics.count(_DROPPED, why=why)
        log("connection dropped", why=why)

    def request(self, answers: list[Answer], summary: Summary) -> None:
        """The prompts of a request have their answers."""
        count = self.metrics.count
        for answer in answers:
            count(_PROMPTS, status=answer.status, error_code=answer.error_code or "")
            if answer.latency_s is not None:
                self.metrics.observe(_CALL, answer.latency_s)
            for kind, tokens in (answer.usage or {}).items():
                count(_TOKENS, tokens, kind=kind.removesuffix("_tokens"))
        if summary.first_result_s is not None:
            self.metrics.observe(_FIRST, summary.first_result_s)
        if summary.cost_usd:
            count(_COST, summary.cost_usd)
