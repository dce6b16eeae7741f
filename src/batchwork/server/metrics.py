"""The numbers of a running server, in the text format that Prometheus reads. Written by hand: it is forty lines."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping

Labels = tuple[tuple[str, str], ...]
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class _Histogram:
    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(_SECONDS) + 1)
        self.total = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(_SECONDS, seconds)] += 1
        self.total += seconds


class Metrics:
    """Counters, histograms of seconds, and gauges that are asked when somebody looks."""

    def __init__(self) -> None:
        self._help: dict[str, tuple[str, str]] = {}
        self._counters: dict[str, dict[Labels, float]] = defaultdict(lambda: defaultdict(float))
        self._histograms: dict[str, dict[Labels, _Histogram]] = defaultdict(lambda: defaultdict(_Histogram))
        self._gauges: dict[str, Callable[[], Mapping[Labels, float]]] = {}

    def describe(self, name: str, kind: str, text: str) -> None:
        """Say what a number is, once."""
        self._help[name] = (kind, text)

    def count(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """Add to a counter."""
        self._counters[name][tuple(sorted(labels.items()))] += amount

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Put a duration into a histogram."""
        self._histograms[name][tuple(sorted(labels.items()))].observe(seconds)

    def gauge(self, name: str, text: str, ask: Callable[[], Mapping[Labels, float]]) -> None:
        """A number that is asked for when somebody looks."""
        self.describe(name, "gauge", text)
        self._gauges[name] = ask

    def exposition(self) -> str:
        """All of them as text."""
        lines: list[str] = []
        for name, (kind, text) in sorted(self._help.items()):
            lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
            if name in self._gauges:
                lines += [f"{name}{_labels(at)} {_number(value)}" for at, value in self._gauges[name]().items()]
            lines += [f"{name}{_labels(at)} {_number(value)}" for at, value in sorted(self._counters[name].items())]
            for at, histogram in sorted(self._histograms[name].items()):
                lines += _histogram_lines(name, at, histogram)
        return "\n".join(lines) + "\n"


def _histogram_lines(name: str, at: Labels, histogram: _Histogram) -> list[str]:
    lines, below = [], 0
    for bound, count in zip((*map(str, _SECONDS), "+Inf"), histogram.counts, strict=True):
        below += count
        lines.append(f"{name}_bucket{_labels((*at, ('le', bound)))} {below}")
    return [*lines, f"{name}_sum{_labels(at)} {_number(histogram.total)}", f"{name}_count{_labels(at)} {below}"]


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
