"""Decide whether a request may start, and see it through its second and third phase.

A request may start while the server is open, its caller's share of open prompts has room, and there is money for its
cheapest prompt. What is not sent stays unsent when its caller goes away or the server ends. Callers with different
keys get shares (`core.shares`), so that one that takes all it can does not lock the others out.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

from batchwork.core.bounds import WorstCase
from batchwork.core.leased_ledger import LeasedLedger
from batchwork.core.money import show, to_dollars
from batchwork.core.outcome import AnyOutcome
from batchwork.core.shares import Shares
from batchwork.prompts import Answer, Executed, PreparedPrompt, Problem, PromptBatch, Summary, defaults_for, summarise
from batchwork.server.api import ApiError
from batchwork.server.config import ServerConfig
from batchwork.server.loop_time import LoopTime, TimeSlices
from batchwork.server.metrics import ServerMetrics
from batchwork.server.phases import Phases
from batchwork.server.workers import Workers
from batchwork.service import Service

_GONE = Problem(code="cancelled", message="not sent: the caller went away", retryable=True)
_RETRY_S = 5.0
_ENDING = Problem(code="shutting_down", message="not sent: the server is about to end", retryable=True)


class Quotas:
    """What all callers hold."""

    def __init__(self, config: ServerConfig) -> None:
        divided = len(config.keys) > 1
        self.requests = Shares(config.connections.max_connections, divided=divided)
        self.prompts = Shares(config.max_open_prompts, divided=divided)
        self.bytes = Shares(config.max_open_bytes, divided=divided)

    def take_prompts(self, caller: int | None, count: int) -> None:
        """Count so many more open prompts. Raises ApiError where they are more than the caller's share."""
        _take(self.prompts, "prompts", caller, count)


class Lease:
    """What one request holds, as long as the block runs."""

    def __init__(self, quotas: Quotas, caller: int | None) -> None:
        self.caller = caller
        self._quotas = quotas
        self._bytes = 0
        self._requests = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bytes:
            self._quotas.bytes.give_back(self.caller, self._bytes)
        if self._requests:
            self._quotas.requests.give_back(self.caller, self._requests)

    def begin(self) -> None:
        """Count as a request under way, with its body read. Raises ApiError where the share is used up."""
        _take(self._quotas.requests, "requests", self.caller, 1)
        self._requests = 1

    def take_bytes(self, count: int) -> None:
        """Keep so many more bytes of its body. Raises ApiError where they are more than the caller's share."""
        _take(self._quotas.bytes, "bytes of requests", self.caller, count)
        self._bytes += count

    def add_bytes(self, count: int) -> None:
        """Keep so many more bytes of its answer, which is there already."""
        self._quotas.bytes.add(self.caller, count)
        self._bytes += count


def _take(shares: Shares, what: str, caller: int | None, count: int) -> None:
    if not shares.take(caller, count):
        used = f"{shares.used} of {shares.total} {what} are open already"
        raise ApiError("too_busy", f"{used}, or as many of this key as are left for others", retry_after_s=_RETRY_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestResult:
    """What came of a request."""

    answers: list[Answer]
    summary: Summary
    log_fields: dict[str, Any]


class RequestRun:
    """The prompts of one request, prepared and admitted."""

    def __init__(
        self, admission: "Admission", prepared: list[PreparedPrompt], batch_size: int, caller: int | None
    ) -> None:
        self.prepared = prepared
        self.caller = caller
        self.client_left = False
        self._is_ending = False
        self.on_settled: Callable[[int], None] | None = None
        self._admission = admission
        self._outcomes: dict[int, AnyOutcome] = {}
        self._answers: dict[int, Answer] = {}
        self._batch = PromptBatch(admission.service, prepared, batch_size=batch_size, on_outcome=self._settled)

    def _settled(self, outcome: AnyOutcome) -> None:
        if self.on_settled is not None:
            self._outcomes[outcome.index] = outcome
            self.on_settled(outcome.index)

    async def answer(self, index: int) -> Answer:
        """The answer to a prompt that has settled or could not be asked, made once."""
        if index not in self._answers:
            prompt, outcome = self.prepared[index], self._outcomes.pop(index, None)
            self._answers[index] = await self._admission.phases.finish(prompt, outcome)
        return self._answers[index]

    def leave(self) -> None:
        """The caller has gone: what is not sent is not sent any more."""
        if not (self.client_left or self._is_ending):  # a second interruption would cut off what is in flight
            self._batch.interrupt(_GONE)
        self.client_left = True

    def end(self) -> None:
        """The server ends. First time: nothing more is sent. Second time: what is in flight is left."""
        if self._is_ending or not self.client_left:
            self._batch.interrupt(_ENDING)
        self._is_ending = True

    async def run(self) -> RequestResult:
        """Run all of it, to the end. Raises JournalWriteError where the day's book cannot be written."""
        executed = await self._batch.run()
        self._admission.release(self)
        answers = await self._finish(executed)
        summary = summarise(answers, executed)
        self._admission.metrics.request(answers, summary)
        return RequestResult(answers=answers, summary=summary, log_fields=self._log_fields(answers, summary))

    async def _finish(self, executed: Executed) -> list[Answer]:
        """The third phase, in slices."""
        slices = TimeSlices(self._admission.loop_time)
        for prompt in self.prepared:
            if prompt.index in self._answers or prompt.index in self._outcomes:
                continue  # streamed already, or about to be
            await slices.next()
            outcome = executed.outcomes.get(prompt.index)
            answer = await self._admission.phases.finish(prompt, outcome, executed.unsent)
            self._answers.setdefault(prompt.index, answer)
        for index in tuple(self._outcomes):
            await slices.next()
            await self.answer(index)
        return [self._answers[prompt.index] for prompt in self.prepared]

    def _log_fields(self, answers: list[Answer], summary: Summary) -> dict[str, Any]:
        """The request's part of its log line: counts, times and money. Texts only when the operator asked for them."""
        fields: dict[str, Any] = {"prompts": len(answers)}
        fields |= {name: getattr(summary, name) for name in summary.__struct_fields__}
        if codes := Counter(answer.error_code for answer in answers if answer.error_code is not None):
            fields["error_codes"] = dict(codes)
        if self.client_left:
            fields["client_left"] = True
        if self._admission.log_text:
            fields["texts"] = [
                {"asked": prompt.request.messages[-1].content if prompt.request else None, "answered": answer.response}
                for prompt, answer in zip(self.prepared, answers, strict=True)
            ]
        return fields


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
        defaults = replace(defaults_for(service, max_tokens=config.max_tokens), limits=config.schemas)
        self.phases = Phases(workers, loop_time, defaults)
        self.is_closed = False  # nothing more is admitted; what is under way goes on
        self._batch_size = config.batch_size
        self._runs: set[RequestRun] = set()

    @property
    def under_way(self) -> int:
        """Requests whose prompts are not all answered."""
        return len(self._runs)

    def end(self) -> None:
        """First time: send nothing more. Second time: leave what is in flight."""
        for run in tuple(self._runs):
            run.end()

    @contextmanager
    def admit(
        self, prepared: list[PreparedPrompt], batch_size: int | None = None, *, caller: int | None = None
    ) -> Iterator[RequestRun]:
        """A request that may start. Raises ApiError where it may not, JournalWriteError where no book can be kept."""
        self.service.turn_page()
        if self.is_closed:
            raise ApiError("shutting_down", "the server is about to end; ask again in a moment", retry_after_s=5.0)
        self._refuse_without_money(prepared)
        self.quotas.take_prompts(caller, len(prepared))
        run = RequestRun(self, prepared, batch_size or self._batch_size, caller)
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
        """402 when not even the cheapest prompt can ever fit into what is left of the day, or of a shared account."""
        ledger = self.service.ledger
        if not ledger.is_limited:
            return
        worst: list[int] = []
        for request in (prompt.request for prompt in prepared if prompt.request is not None):
            served = self.service.models[request.model]
            if served.price is None or served.price.is_free:
                return
            worst.append(WorstCase(served.price, served.backend.traits).nano(request))
        if not worst or (lacking := ledger.lacking(cheapest := min(worst))) is None:
            return
        if isinstance(lacking, LeasedLedger):
            raise ApiError(
                "over_budget",
                f"{show(lacking.unspent)} of the {show(lacking.budget)} of the shared account {lacking.name!r} is left,"
                f" and the cheapest of these prompts may cost ${to_dollars(cheapest)}; lower max_tokens, or ask again"
                " when it has more",
                retry_after_s=lacking.period_left_s,
            )
        assert ledger.ceiling is not None
        if cheapest > ledger.ceiling:
            raise ApiError(
                "over_budget",
                f"the cheapest of these prompts may cost ${to_dollars(cheapest)}, more than the whole day's budget of"
                f" {show(ledger.ceiling)}: lower max_tokens or raise --max-cost-per-day",
                retryable=False,
            )
        left = max(0, ledger.ceiling - ledger.spent)
        raise ApiError(
            "over_budget",
            f"{show(left)} of the day's {show(ledger.ceiling)} is left, and the cheapest of these prompts may cost"
            f" ${to_dollars(cheapest)}; lower max_tokens, or ask again tomorrow (UTC)",
            retry_after_s=None if (book := self.service.book) is None else book.seconds_left(),
        )
