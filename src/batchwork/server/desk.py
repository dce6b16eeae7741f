"""Where requests are taken on: one desk per server, before the shared engine.

Decides whether a request may start (the server is open, not too much is waiting, there is money), runs its three
phases, and stops what is not sent when its caller goes away or the server ends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from batchwork.assembly import Service
from batchwork.core.errors import JournalWriteError
from batchwork.core.money import show, to_dollars
from batchwork.core.outcome import AnyOutcome
from batchwork.core.worst import WorstCase
from batchwork.pipeline import (
    Answer,
    Executed,
    PreparedPrompt,
    Problem,
    PromptBatch,
    PromptItem,
    Summary,
    defaults_for,
    finish_all,
    finish_answer,
    prepare_prompt_request,
    summarise,
)
from batchwork.server.config import ServerConfig
from batchwork.server.errors import ApiError
from batchwork.server.measures import Measures

_GONE = Problem(code="cancelled", message="not sent: the caller went away", retryable=True)
_ENDING = Problem(code="shutting_down", message="not sent: the server is about to end", retryable=True)
_LONGEST_TURN_S = 0.005  # of one request's preparation, before others get theirs
Gone = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a request came to."""

    answers: list[Answer]
    summary: Summary
    client_left: bool


class Ask:
    """One request on its way: prepared, then run once."""

    def __init__(self, desk: Desk, prepared: list[PreparedPrompt], batch_size: int) -> None:
        self.prepared = prepared
        self.client_left = False
        self.on_answer: Callable[[int, Answer], None] | None = None
        self._desk = desk
        self._batch = PromptBatch(desk.service, prepared, batch_size=batch_size, on_outcome=self._settled)

    def _settled(self, outcome: AnyOutcome) -> None:
        if self.on_answer is not None:
            self.on_answer(outcome.index, finish_answer(self.prepared[outcome.index], outcome))

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
            ApiError: the day's book cannot be written.
        """
        try:
            executed: Executed = await self._batch.run()
        except JournalWriteError as error:
            raise ApiError("storage_failed", str(error)) from error
        answers = finish_all(self.prepared, executed)
        taken = Taken(answers=answers, summary=summarise(answers, executed), client_left=self.client_left)
        self._desk.measures.request(taken.answers, taken.summary)
        return taken


class Desk:
    """Takes requests on, knows who is under way, closes at the end of the day."""

    def __init__(self, service: Service, config: ServerConfig, measures: Measures) -> None:
        self.service = service
        self.measures = measures
        self._config = config
        self._defaults = defaults_for(service)
        self._open_prompts = 0
        self._asks: set[Ask] = set()
        self.closing = False

    @property
    def under_way(self) -> int:
        """Requests that have not ended."""
        return len(self._asks)

    @property
    def open_prompts(self) -> int:
        """Prompts of requests that have not ended."""
        return self._open_prompts

    def close(self) -> None:
        """Take on nothing more; what is under way goes on."""
        self.closing = True

    def end(self) -> None:
        """First time: send nothing more. Second time: leave what is in flight."""
        for ask in tuple(self._asks):
            ask.end()

    async def prepare(self, items: Sequence[PromptItem]) -> list[PreparedPrompt]:
        """The first phase, with a turn for others now and then; nothing is sent before all of it is done."""
        clock = self.service.clock
        prepared = []
        until = clock.now() + _LONGEST_TURN_S
        for index, item in enumerate(items):
            prepared.append(prepare_prompt_request(item, self._defaults, index=index))
            if clock.now() > until:
                await clock.sleep(0)
                until = clock.now() + _LONGEST_TURN_S
        return prepared

    @contextmanager
    def taken_on(self, prepared: list[PreparedPrompt], batch_size: int | None = None) -> Iterator[Ask]:
        """A request that may start.

        Raises:
            ApiError: the server is closing or too busy, or there is no money for any of it.
        """
        self.service.turn_page()
        if self.closing:
            raise ApiError("shutting_down", "the server is about to end; ask again in a moment", retry_after_s=5.0)
        if self._open_prompts and self._open_prompts + len(prepared) > self._config.max_open_prompts:
            raise ApiError("too_busy", f"{self._open_prompts} prompts are waiting already", retry_after_s=5.0)
        self._refuse_without_money(prepared)
        ask = Ask(self, prepared, batch_size or self._config.batch_size)
        self._open_prompts += len(prepared)
        self._asks.add(ask)
        try:
            yield ask
        finally:
            self._asks.discard(ask)
            self._open_prompts -= len(prepared)

    def _refuse_without_money(self, prepared: list[PreparedPrompt]) -> None:
        """402 when not even the cheapest prompt can ever fit into what is left of the day."""
        ledger = self.service.ledger
        if ledger.ceiling is None:
            return
        cheapest: int | None = None
        for prompt in prepared:
            if prompt.request is None:
                continue
            lane = self.service.lanes[prompt.request.model]
            if lane.price is None or lane.price.is_free:
                return
            worst = WorstCase.at(lane.price, lane.backend.traits).nano(prompt.request)
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
