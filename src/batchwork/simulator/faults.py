"""The faults there are, and which one, if any, meets a call.

A scope is a kind of call (`live`, `create`, ...) or `item`, the single request inside a batch. A plan is rates per
scope and kind; on top of it single faults can be queued for the next calls of a scope. The dice come from the caller
(seed, prompt and how often that prompt was seen), so that the same calls meet the same faults in any order.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from batchwork.simulator.errors import SimulatorConfigError

# Model calls, the calls about batches and files, and the single requests inside a batch.
SCOPES = ("live", "create", "poll", "list", "results", "cancel", "files", "item")
# Answered with that status and nothing billed; `413` is not JSON, `quota` must not be retried.
HTTP_KINDS = frozenset(
    {"400", "401", "403", "404", "408", "409", "413", "422", "429", "quota", "500", "503", "504", "529"}
)
# The work is done and billed (the batch is created), and answered with that status all the same.
AFTER_KINDS = {f"{status}_after": status for status in ("408", "409", "500", "503", "504", "529")}
# `reset` before anything is processed; `reset_after`, `hang_after` (silence), `unreadable_after` (200 with a web page)
# and `truncated` are processed and billed.
WIRE_KINDS = frozenset({"reset", "reset_after", "hang_after", "unreadable_after", "slow", "truncated", "sse_error"})
# A complete, billed answer with a header longer than an ordinary HTTP client reads.
HUGE_HEADERS = "huge_headers"
# A complete, billed answer that is not what was hoped for.
CONTENT_KINDS = frozenset(
    {"refusal", "max_tokens", "thinking", "empty", "wrong_case", "malformed", "pause_turn", "context_window"}
)
# A billed answer whose object is damaged: its content is null, its usage is missing or all zeros.
SHAPE_KINDS = frozenset({"null", "no_usage", "zero_usage"})
# A billed request of a batch whose result line never appears, or is never JSON.
LOST_LINES = frozenset({"missing", "not_json"})
# A request of a batch that never ran, and whose line says so; nothing billed.
LATE_KINDS = frozenset({"expired", "canceled"})
# What only the line of a request inside a batch can be; `duplicated` stands there twice.
LINE_KINDS = LOST_LINES | LATE_KINDS | {"duplicated"}
# A download of results: never again (404), a third of its lines missing this once, in another order, slowly.
DOWNLOAD_KINDS = frozenset({"gone", "short", "shuffled", "trickle"})
# The counts of a batch are lower than the truth.
LOW_COUNTS = "low_counts"
# Drawn once per batch and true of it ever after.
LASTING_KINDS = frozenset({"gone", LOW_COUNTS})

_CALLS = tuple(scope for scope in SCOPES if scope != "item")
SCOPES_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*AFTER_KINDS, *WIRE_KINDS, HUGE_HEADERS), _CALLS),
    **dict.fromkeys(HTTP_KINDS, SCOPES),
    **dict.fromkeys(CONTENT_KINDS | SHAPE_KINDS, ("live", "item")),
    **dict.fromkeys(LINE_KINDS, ("item",)),
    **dict.fromkeys(DOWNLOAD_KINDS, ("results",)),
    LOW_COUNTS: ("poll",),
    "sse_error": ("live",),
}
KINDS = frozenset(SCOPES_OF)


@dataclass(frozen=True, slots=True)
class Faults:
    """Rates per scope and kind; a kind without a scope means model calls.

    A kind of answer without a scope also means the requests inside batches; a kind that can happen
    in one scope alone means that one.
    """

    rates: tuple[tuple[str, str, float], ...] = ()

    def __post_init__(self) -> None:
        totals = dict.fromkeys(SCOPES, 0.0)
        for scope, kind, rate in self.rates:
            _check(scope, kind, rate)
            totals[scope] += rate
        for scope, total in totals.items():
            if total > 1.0 + 1e-9:
                raise SimulatorConfigError(f"fault rates of {scope!r} add up to {total:g}; they must not pass 1")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `529=0.02,reset=0.01,create:reset_after=0.5`."""
        rates: dict[str, float] = {}
        for part in filter(None, (piece.strip() for piece in text.split(","))):
            name, sign, rate = part.partition("=")
            try:
                rates[name.strip()] = float(rate) if sign else 1.0
            except ValueError:
                raise SimulatorConfigError(f"fault {part!r}: expected KIND=RATE, for example 529=0.02") from None
        return cls.of(rates)

    @classmethod
    def of(cls, rates: Mapping[str, float]) -> Self:
        """From `{"529": 0.02, "create:reset_after": 0.5}`."""
        table: list[tuple[str, str, float]] = []
        for name, rate in rates.items():
            scope, colon, kind = name.partition(":")
            table += [(scope, kind, rate)] if colon else [(where, name, rate) for where in _meant(name)]
        return cls(tuple(table))

    def named(self) -> dict[str, float]:
        """The plan as it can be read back by `of`."""
        return {f"{scope}:{kind}": rate for scope, kind, rate in self.rates}


def _meant(kind: str) -> tuple[str, ...]:
    """The scopes of a kind that was given without one."""
    if kind in CONTENT_KINDS | SHAPE_KINDS:
        return ("live", "item")
    possible = SCOPES_OF.get(kind, _CALLS)
    return possible if len(possible) == 1 else ("live",)


def _check_scope(scope: str) -> None:
    if scope not in SCOPES:
        raise SimulatorConfigError(f"unknown fault scope {scope!r}: one of {', '.join(SCOPES)}")


def _check(scope: str, kind: str, rate: float) -> None:
    _check_scope(scope)
    if kind not in KINDS:
        raise SimulatorConfigError(f"unknown fault {kind!r}: one of {', '.join(sorted(KINDS))}")
    if scope not in SCOPES_OF[kind]:
        raise SimulatorConfigError(f"fault {kind!r} cannot happen in scope {scope!r}: {', '.join(SCOPES_OF[kind])}")
    if not 0.0 <= rate <= 1.0:
        raise SimulatorConfigError(f"fault rate of {scope}:{kind} must be between 0 and 1, got {rate:g}")


class FaultDesk:
    """The plan in force and the single faults queued before it."""

    def __init__(self, plan: Faults) -> None:
        self._queued: dict[str, deque[str]] = {}
        self._held: dict[tuple[str, str], str] = {}
        self.replace(plan)

    def replace(self, plan: Faults) -> None:
        """Put another plan in force; what was already drawn for a batch stays."""
        self.plan = plan
        self._by_scope: dict[str, list[tuple[float, str]]] = {}
        self._lasting: dict[str, list[tuple[float, str]]] = {}
        for scope, kind, rate in plan.rates:
            steps = (self._lasting if kind in LASTING_KINDS else self._by_scope).setdefault(scope, [])
            steps.append(((steps[-1][0] if steps else 0.0) + rate, kind))

    def queue(self, scope: str, kinds: Iterable[str]) -> None:
        """Let the next calls of a scope meet exactly these faults, one each (`ok` lets one through)."""
        kinds = list(kinds)
        _check_scope(scope)
        for kind in kinds:
            if kind != "ok":
                _check(scope, kind, 1.0)
        self._queued.setdefault(scope, deque()).extend(kinds)

    def queued(self) -> dict[str, list[str]]:
        """What still waits, per scope."""
        return {scope: list(kinds) for scope, kinds in self._queued.items() if kinds}

    def armed(self, scope: str) -> bool:
        """Whether anything can go wrong in a scope at all."""
        return scope in self._by_scope or bool(self._queued.get(scope))

    def draw(self, scope: str, dice: float) -> str | None:
        """The fault this call meets, or None."""
        if queued := self._queued.get(scope):
            kind = queued.popleft()
            return None if kind == "ok" else kind
        for edge, kind in self._by_scope.get(scope, ()):
            if dice < edge:
                return kind
        return None

    def lasting(self, scope: str, batch_id: str, kind: str | None, dice: float) -> str | None:
        """The fault that holds for a batch from now on, or None; `kind` is what this call has drawn."""
        name = (scope, batch_id)
        if name not in self._held:
            if kind not in LASTING_KINDS:
                kind = next((one for edge, one in self._lasting.get(scope, ()) if dice < edge), None)
            if kind is not None:
                self._held[name] = kind
        return self._held.get(name)
