"""The parts of a run in memory: a scripted backend, a journal that forgets, the loop's own clock."""

from __future__ import annotations

from typing import Any

from batchwork.clock import SystemClock
from batchwork.core.event import Began
from batchwork.core.intake import Intake
from batchwork.core.ledger import Ledger
from batchwork.core.policy import Policy, RatePolicy
from batchwork.core.pricing import price_from
from batchwork.core.request import Request
from batchwork.core.window import AdaptiveWindow
from batchwork.engine.gate import Gate
from batchwork.engine.life import Life
from batchwork.engine.parts import Parts
from batchwork.journal import MemoryJournal
from tests.support.scripted import Scripted


def parts(*, policy: Policy | None = None, price: tuple[float, float] | None = (1, 1), **others: Any) -> Parts:
    """Parts of a run, made inside its loop."""
    clock = SystemClock()
    window = AdaptiveWindow(10)
    journal = MemoryJournal()
    journal.begin(Began(run_id="r", model="scripted", priced=price is not None))
    return Parts(
        backend=Scripted(),
        journal=journal,
        gate=Gate(clock=clock, ledger=Ledger(ceiling=None), rates=RatePolicy(), window=window),
        clock=clock,
        policy=policy or Policy(),
        price=price_from(price),
        **others,
    )


def life_of(made: Parts, prompt: str = "hello", index: int = 0) -> Life:
    """An item that stands in the journal and was not called yet."""
    request = Request.ask(prompt, model="scripted")
    state = made.journal.place(index, Intake(fingerprint=request.fingerprint, request=request, columns=None))
    return Life.known(state, request)
