"""A gate in virtual time, and several who want in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from batchwork.clock import SystemClock
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ledger import Ledger
from batchwork.core.policy import RatePolicy
from batchwork.core.window import AdaptiveWindow
from batchwork.engine.gate import Caller, Denied, Gate, Grant, Need
from tests.support.virtual_time import run_virtual, virtual_now

_RUN = Callable[[], Coroutine[Any, Any, None]]


def in_virtual_time(test: _RUN) -> Callable[[], None]:
    def run() -> None:
        run_virtual(test())

    run.__name__ = test.__name__
    return run


def make_gate(*, most: int = 100, ceiling: int | None = None, slow: bool = False, **rates: float) -> Gate:
    window = AdaptiveWindow(most, opening=4 if slow else None)
    return Gate(clock=SystemClock(), ledger=Ledger(ceiling=ceiling), rates=RatePolicy(**rates), window=window)


def join(gate: Gate, bound: int = 100) -> Caller:
    return gate.join(bound=bound, on_room=lambda: None)


def need(order: int = 0, worst: int = 0, tokens: int = 1) -> Need:
    return Need(order=order, input_tokens=tokens, output_tokens=tokens, worst_nano=worst)


def refusal(after: float | None = None, kind: FailureKind = FailureKind.RATE_LIMITED) -> Failure:
    return Failure(kind=kind, message="", retry_after_s=after)


class Line:
    """Several who want in; what each was told, in the order in which they were told."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.told: list[tuple[str, Grant | Denied]] = []
        self.at: dict[str, float] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    def want(self, name: str, caller: Caller, need: Need) -> None:
        async def ask() -> None:
            self.told.append((name, await self.gate.admit(caller, need)))
            self.at[name] = virtual_now()

        self.tasks[name] = asyncio.ensure_future(ask())

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.told]

    def granted(self, name: str) -> Grant:
        grant = dict(self.told)[name]
        assert isinstance(grant, Grant)
        return grant

    async def settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def close(self) -> None:
        for task in self.tasks.values():
            task.cancel()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)
