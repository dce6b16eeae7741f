"""What a server counts of itself, and how Prometheus reads it: its text format, written by hand."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import accumulate

from batchwork.core.money import NANO
from batchwork.journal.daybook import day_of
from batchwork.prompts import Answer, Summary
from batchwork.server.logs import log
from batchwork.service import ServedModel, Service

Labels = tuple[tuple[str, str], ...]
_BOUNDS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_HELP = {
    "batchwork_http_requests_total": "HTTP requests by route and status.",
    "batchwork_http_request_seconds": "Seconds from the request's first byte to the answer's last, by route.",
    "batchwork_connections_dropped_total": "Connections that were let go or turned away, by reason.",
    "batchwork_prompts_total": "Prompts by status and error code.",
    "batchwork_first_result_seconds": "Seconds until the first answer of a request.",
    "batchwork_call_seconds": "Seconds of the last call of a prompt.",
    "batchwork_tokens_total": "Tokens by kind.",
    "batchwork_cost_usd_total": "Dollars spent since the start.",
}


class Metrics:
    """Counters, histograms of seconds, and gauges that are read when somebody looks."""

    def __init__(self) -> None:
        self._help: dict[str, tuple[str, str]] = {}
        self._counters: dict[str, dict[Labels, float]] = defaultdict(lambda: defaultdict(float))
        # Of each histogram the count below every bound, the count above them, and the sum.
        self._histograms: dict[str, dict[Labels, list[float]]] = defaultdict(
            lambda: defaultdict(lambda: [0.0] * (len(_BOUNDS_S) + 2))
        )
        self._gauges: dict[str, Callable[[], Mapping[Labels, float]]] = {}

    def describe(self, name: str, kind: str, text: str) -> None:
        """Say what a number is, once."""
        self._help[name] = (kind, text)

    def count(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """Add to a counter."""
        self._counters[name][tuple(sorted(labels.items()))] += amount

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Put a duration into a histogram."""
        histogram = self._histograms[name][tuple(sorted(labels.items()))]
        histogram[bisect_left(_BOUNDS_S, seconds)] += 1
        histogram[-1] += seconds

    def gauge(self, name: str, text: str, read: Callable[[], Mapping[Labels, float]]) -> None:
        """Add a number that is read when somebody looks."""
        self.describe(name, "gauge", text)
        self._gauges[name] = read

    def counters(self) -> dict[str, dict[Labels, float]]:
        """All counters as they are now."""
        return {name: dict(counter) for name, counter in self._counters.items()}

    def exposition(self) -> str:
        """All of them as text."""
        lines: list[str] = []
        for name, (kind, text) in sorted(self._help.items()):
            lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
            if name in self._gauges:
                lines += [_line(name, labels, value) for labels, value in self._gauges[name]().items()]
            lines += [_line(name, labels, value) for labels, value in sorted(self._counters[name].items())]
            for labels, (*counts, total) in sorted(self._histograms[name].items()):
                below = list(accumulate(counts))
                for bound, count in zip((*map(str, _BOUNDS_S), "+Inf"), below, strict=True):
                    lines.append(_line(f"{name}_bucket", (*labels, ("le", bound)), count))
                lines += [_line(f"{name}_sum", labels, total), _line(f"{name}_count", labels, below[-1])]
        return "\n".join(lines) + "\n"


class ServerMetrics(Metrics):
    """The numbers of one server."""

    def __init__(self, *, utc: Callable[[], float]) -> None:
        super().__init__()
        for name, text in _HELP.items():
            self.describe(name, "counter" if name.endswith("_total") else "histogram", text)
        self._utc = utc
        self._day, self._before = day_of(utc()), self.counters()  # of today, and what was counted before it

    def today(self, name: str, label: str) -> dict[str, float]:
        """A counter of today (UTC) by one of its labels."""
        self._turn_page()
        before, found = self._before.get(name, {}), dict[str, float]()
        for labels, amount in self._counters[name].items():
            key = dict(labels).get(label, "")
            found[key] = found.get(key, 0.0) + amount - before.get(labels, 0.0)
        return {key: amount for key, amount in found.items() if amount}

    def _turn_page(self) -> None:
        if (day := day_of(self._utc())) != self._day:
            self._day, self._before = day, self.counters()

    def watch(self, service: Service, under_way: Callable[[], int], open_prompts: Callable[[], int]) -> None:
        """Add the numbers that the service knows."""

        def single(name: str, text: str, read: Callable[[], float]) -> None:
            self.gauge(name, text, lambda: {(): read()})

        def by_model(name: str, text: str, read: Callable[[ServedModel], float]) -> None:
            served = service.models
            self.gauge(name, text, lambda: {(("model", model),): read(one) for model, one in served.items()})

        by_model("batchwork_calls_in_flight", "Calls under way.", lambda served: served.gate.in_flight)
        by_model("batchwork_window", "Calls that may be under way.", lambda served: served.gate.window)
        single("batchwork_requests_under_way", "Requests that have not ended.", under_way)
        single("batchwork_prompts_open", "Prompts of requests that have not ended.", open_prompts)
        ledger = service.ledger
        if (ceiling := ledger.ceiling) is not None:
            single("batchwork_budget_usd", "The day's budget.", lambda: ceiling / NANO)
            single("batchwork_budget_spent_usd", "Spent of the day's budget.", lambda: ledger.spent / NANO)
            single("batchwork_budget_reserved_usd", "Set aside for calls under way.", lambda: ledger.reserved / NANO)

    def http(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an HTTP request that has ended."""
        self.count("batchwork_http_requests_total", route=route, method=method, status=str(status))
        self.observe("batchwork_http_request_seconds", seconds, route=route)

    def dropped(self, why: str) -> None:
        """Count a connection that was let go."""
        self.count("batchwork_connections_dropped_total", why=why)
        log("connection dropped", why=why)

    def request(self, answers: list[Answer], summary: Summary) -> None:
        """Count the answers of a request."""
        self._turn_page()
        for answer in answers:
            self.count("batchwork_prompts_total", status=answer.status, error_code=answer.error_code or "")
            if answer.latency_s is not None:
                self.observe("batchwork_call_seconds", answer.latency_s)
            for kind, tokens in (answer.usage or {}).items():
                self.count("batchwork_tokens_total", tokens, kind=kind.removesuffix("_tokens"))
        if summary.first_result_s is not None:
            self.observe("batchwork_first_result_seconds", summary.first_result_s)
        if summary.cost_usd:
            self.count("batchwork_cost_usd_total", summary.cost_usd)


def _line(name: str, labels: Labels, value: float) -> str:
    number = str(int(value)) if value == int(value) else repr(value)
    if not labels:
        return f"{name} {number}"
    pairs = ",".join(f'{label}="{text.translate(_ESCAPED)}"' for label, text in labels)
    return f"{name}{{{pairs}}} {number}"
