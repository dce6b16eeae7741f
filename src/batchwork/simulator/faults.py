"""Decide what goes wrong: which fault, if any, meets a call.

A plan is rates per scope and kind; on top of it single faults can be queued for the next
calls of a scope. The dice come from the caller (seed, prompt and how often that prompt was
seen), so that the same calls meet the same faults whatever order they arrive in.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from batchwork.simulator.errors import SimulatorConfigError
from batchwork.simulator.fault_kinds import CONTENT_KINDS, KINDS, LASTING_KINDS, SCOPES, SHAPE_KINDS, scopes_of

_INSIDE_BATCHES_TOO = CONTENT_KINDS | SHAPE_KINDS


@dataclass(frozen=True, slots=True)
class Faults:
    """Rates per scope and kind; a kind without a scope means model calls.

    A kind of answer without a scope also means the requests inside batches; a kind that can happen
    in one scope alone means that one.
    """

    rates: tuple[tuple[str, str, float], ...] = ()

    def __post_init__(self) -> None:
        for where, _, _ in self.rates:
            if where not in SCOPES:
                raise SimulatorConfigError(f"unknown fault scope {where!r}: one of {', '.join(SCOPES)}")
        for scope in SCOPES:
            total = 0.0
            for where, kind, rate in self.rates:
                if where == scope:
                    _check(scope, kind, rate)
                    total += rate
            if total > 1.0 + 1e-9:
                raise SimulatorConfigError(f"fault rates of {scope!r} add up to {total:g}; they must not pass 1")

    @classmethod
    def parse(cls, text: str) -> "Faults":
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
    def of(cls, rates: Mapping[str, float]) -> "Faults":
        """From `{"529": 0.02, "create:reset_after": 0.5}`."""
        table: list[tuple[str, str, float]] = []
        for name, rate in rates.items():
            scope, colon, kind = name.partition(":")
            if colon:
                table.append((scope, kind, rate))
                continue
            table.extend((where, scope, rate) for where in _meant(scope))
        return cls(tuple(table))

    def named(self) -> dict[str, float]:
        """The plan as it can be read back by `of`."""
        return {f"{scope}:{kind}": rate for scope, kind, rate in self.rates}


def _meant(kind: str) -> tuple[str, ...]:
    """The scopes of a kind that was given without one."""
    if kind in _INSIDE_BATCHES_TOO:
        return ("live", "item")
    possible = scopes_of(kind)
    return possible if len(possible) == 1 else ("live",)


def _check(scope: str, kind: str, rate: float) -> None:
    if kind not in KINDS:
        raise SimulatorConfigError(f"unknown fault {kind!r}: one of {', '.join(sorted(KINDS))}")
    if scope not in scopes_of(kind):
        raise SimulatorConfigError(f"fault {kind!r} cannot happen in scope {scope!r}: {', '.join(scopes_of(kind))}")
    if not 0.0 <= rate <= 1.0:
        raise SimulatorConfigError(f"fault rate of {scope}:{kind} must be between 0 and 1, got {rate:g}")


class FaultDesk:
    """The plan in force and the single faults queued before it."""

    def __init__(self, plan: Faults) -> None:
        self.plan = plan
        self._queued: dict[str, deque[str]] = {}
        self._by_scope: dict[str, list[tuple[float, str]]] = {}
        self._lasting: dict[str, list[tuple[float, str]]] = {}
        self._held: dict[tuple[str, str], str] = {}
        self.replace(plan)

    def replace(self, plan: Faults) -> None:
        """Put another plan in force; what was already drawn for a batch stays."""
        self.plan = plan
        self._by_scope, self._lasting = {}, {}
        for scope, kind, rate in plan.rates:
            steps = (self._lasting if kind in LASTING_KINDS else self._by_scope).setdefault(scope, [])
            steps.append(((steps[-1][0] if steps else 0.0) + rate, kind))

    def queue(self, scope: str, kinds: Iterable[str]) -> None:
        """Let the next calls of a scope meet exactly these faults, one each (`ok` lets one through)."""
        kinds = list(kinds)
        if scope not in SCOPES:
            raise SimulatorConfigError(f"unknown fault scope {scope!r}: one of {', '.join(SCOPES)}")
        for kind in kinds:
            if kind != "ok":
                _check(scope, kind, 1.0)
        self._queued.setdefault(scope, deque()).extend(kinds)

    def clear(self) -> None:
        """Forget queued faults, and those that were drawn for a batch."""
        self._queued.clear()
        self._held.clear()

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
