"""Decide whether a request may start, and keep the list of those under way.

A request may start while the server is open, its caller's share of open prompts has room, and there is money for its
cheapest prompt.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from batchwork.core.money import show, to_dollars
from batchwork.core.worst import WorstCase
from batchwork.prompts import PreparedPrompt, defaults_for
from batchwork.server.config import ServerConfig
from batchwork.server.errors import ApiError
from batchwork.server.loop_time import LoopTime
from batchwork.server.metrics import ServerMetrics
from batchwork.server.phases import Phases
from batchwork.server.quotas import Quotas
from batchwork.server.request_run import RequestRun
from batchwork.server.workers import Workers
from batchwork.service import Service


class Admission:
    """Admits requests to the service until it is closed."""

    def __init__(
        self, service: Service, config: ServerConfig, metrics: ServerMetrics, *, loop_time: LoopTime, workers: Workers
    ) -> None:
        self.service = service
        self.metrics = metrics
        self.loop_time = loop_time
        self.log_text = config.log_text
        self.quotas = Quotas(config)
        self.phases = Phases(workers, loop_time, replace(defaults_for(service), limits=config.schemas))
        self.is_closed = False
        self._batch_size = config.batch_size
        self._runs: set[RequestRun] = set()

    @property
    def under_way(self) -> int:
        """Requests whose prompts are not all answered."""
        return len(self._runs)

    def close(self) -> None:
        """Admit nothing more; what is under way goes on."""
        self.is_closed = True

    def end(self) -> None:
        """First time: send nothing more. Second time: leave what is in flight."""
        for run in tuple(self._runs):
            run.end()

    @contextmanager
    def admit(
        self, prepared: list[PreparedPrompt], batch_size: int | None = None, *, caller: int | None = None
    ) -> Iterator[RequestRun]:
        """A request that may start.

        Raises:
            ApiError: the server is closing or too busy, or there is no money for any of it.
            JournalWriteError: the day's book cannot be written.
        """
        self.service.turn_page()
        if self.is_closed:
            raise ApiError("shutting_down", "the server is about to end; ask again in a moment", retry_after_s=5.0)
        self._refuse_without_money(prepared)
        self.quotas.take_prompts(caller, len(prepared))
        run = RequestRun(self, prepared, batch_size=batch_size or self._batch_size, caller=caller)
        self._runs.add(run)
        try:
            yield run
        finally:
            self.release(run)

    def release(self, run: RequestRun) -> None:
        """The prompts of a request are answered: others may have their places, even while the answers are read."""
        if run in self._runs:
            self._runs.discard(run)
            self.quotas.prompts.give_back(run.caller, len(run.prepared))

    def _refuse_without_money(self, prepared: list[PreparedPrompt]) -> None:
        """402 when not even the cheapest prompt can ever fit into what is left of the day."""
        ledger = self.service.ledger
        if ledger.ceiling is None:
            return
        cheapest: int | None = None
        for prompt in prepared:
            if prompt.request is None:
                continue
            served = self.service.models[prompt.request.model]
            if served.price is None or served.price.is_free:
                return
            worst = WorstCase.at(served.price, served.backend.traits).nano(prompt.request)
            cheapest = worst if cheapest is None else min(cheapest, worst)
        if cheapest is None or ledger.could_ever_fit(cheapest):
            return
        left = max(0, ledger.ceiling - ledger.spent)
        raise ApiError(
            "over_budget",
            f"{show(left)} of the day's {show(ledger.ceiling)} is left, and the cheapest of these prompts may cost"
            f" ${to_dollars(cheapest)}; lower max_tokens, or ask again tomorrow (UTC)",
            retry_after_s=None if (book := self.service.book) is None else book.seconds_left(),
        )
