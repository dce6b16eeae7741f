"""Where requests are taken on: one desk per server, before the shared engine.

Decides whether a request may start (the server is open, not too much is waiting, there is money), runs its three
phases, and stops what is not sent when its caller goes away or the server ends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from batchwork.core.money import show, to_dollars
from batchwork.core.outcome import AnyOutcome
from batchwork.core.worst import WorstCase
from batchwork.prompts import (
    Answer,
    Executed,
    PreparedPrompt,
    Problem,
    PromptBatch,
    Summary,
    defaults_for,
    summarise,
)
from batchwork.server.config import ServerConfig
from batchwork.server.errors import ApiError
from batchwork.server.holdings import Holdings
from batchwork.server.measures import Measures
from batchwork.server.preparation import Preparation
from batchwork.server.turns import Turns
from batchwork.server.workers import Workers
from batchwork.service import Service

_GONE = Problem(code="cancelled", message="not sent: the caller went away", retryable=True)
_ENDING = Problem(code="shutting_down", message="not sent: the server is about to end", retryable=True)
Gone = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a request came to."""

    answers: list[Answer]
    summary: Summary
    client_left: bool


class Ask:
    """One request on its way: prepared, then run once."""

    def __init__(self, desk: Desk, prepared: list[PreparedPrompt], *, batch_size: int, caller: int | None) -> None:
        self.prepared = prepared
        self.caller = caller
        self.client_left = False
        self.on_settled: Callable[[int], None] | None = None
        self._desk = desk
        self._outcomes: dict[int, AnyOutcome] = {}
        self._answers: dict[int, Answer] = {}
        self._batch = PromptBatch(desk.service, prepared, batch_size=batch_size, on_outcome=self._settled)

    def _settled(self, outcome: AnyOutcome) -> None:
        if self.on_settled is not None:
            self._outcomes[outcome.index] = outcome
            self.on_settled(outcome.index)

    async def answer(self, index: int) -> Answer:
        """The answer to a prompt that has settled or could not be asked, made once."""
        if index not in self._answers:
            prompt, outcome = self.prepared[index], self._outcomes.pop(index, None)
            self._answers[index] = await self._desk.preparation.finish(prompt, outcome, caller=self.caller)
        return self._answers[index]

    def leave(self) -> None:
        """The caller has gone: what is not sent is not sent any more."""
        if not self.client_left:
            self.client_left = True
            self._batch.interrupt(_GONE)

    def end(self) -> None:
        """The server ends."""
        self._batch.interrupt(_ENDING)

    async def run(self) -> Taken:
        """All of it, to the end.

        Raises:
            JournalWriteError: the day's book cannot be written.
        """
        executed: Executed = await self._batch.run()
        self._desk.ended(self)
        answers = await self._finish(executed)
        taken = Taken(answers=answers, summary=summarise(answers, executed), client_left=self.client_left)
        self._desk.measures.request(taken.answers, taken.summary)
        return taken

    async def _finish(self, executed: Executed) -> list[Answer]:
        """The third phase, in slices."""
        slices = self._desk.turns.slices()
        for prompt in self.prepared:
            if prompt.index in self._answers or prompt.index in self._outcomes:
                continue  # told already, or about to be
            await slices.next()
            answer = await self._desk.preparation.finish(
                prompt, executed.outcomes.get(prompt.index), executed.unsent, caller=self.caller
            )
            self._answers.setdefault(prompt.index, answer)
        for index in tuple(self._outcomes):
            await slices.next()
            await self.answer(index)
        return [self._answers[prompt.index] for prompt in self.prepared]


class Desk:
    """Takes requests on, knows who is under way, closes at the end of the day."""

    def __init__(
        self, service: Service, config: ServerConfig, measures: Measures, *, turns: Turns, workers: Workers
    ) -> None:
        self.service = service
        self.measures = measures
        self.turns = turns
        self.holdings = Holdings(config)
        self.preparation = Preparation(workers, turns, replace(defaults_for(service), limits=config.schemas))
        self._config = config
        self._asks: set[Ask] = set()
        self.closing = False

    @property
    def under_way(self) -> int:
        """Requests whose prompts are not all answered."""
        return len(self._asks)

    @property
    def open_prompts(self) -> int:
        """Prompts of requests that are under way."""
        return self.holdings.prompts.used

    def close(self) -> None:
        """Take on nothing more; what is under way goes on."""
        self.closing = True

    def end(self) -> None:
        """First time: send nothing more. Second time: leave what is in flight."""
        for ask in tuple(self._asks):
            ask.end()

    @contextmanager
    def taken_on(
        self, prepared: list[PreparedPrompt], batch_size: int | None = None, *, caller: int | None = None
    ) -> Iterator[Ask]:
        """A request that may start.

        Raises:
            ApiError: the server is closing or too busy, or there is no money for any of it.
            JournalWriteError: the day's book cannot be written.
        """
        self.service.turn_page()
        if self.closing:
            raise ApiError("shutting_down", "the server is about to end; ask again in a moment", retry_after_s=5.0)
        self._refuse_without_money(prepared)
        self.holdings.take_prompts(caller, len(prepared))
        ask = Ask(self, prepared, batch_size=batch_size or self._config.batch_size, caller=caller)
        self._asks.add(ask)
        try:
            yield ask
        finally:
            self.ended(ask)

    def ended(self, ask: Ask) -> None:
        """The prompts of a request are answered: others may have their places, even while the answers are read."""
        if ask in self._asks:
            self._asks.discard(ask)
            self.holdings.prompts.give_back(ask.caller, len(ask.prepared))

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
