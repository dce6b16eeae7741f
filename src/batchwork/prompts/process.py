"""The second phase: every prepared prompt becomes one item of the engine, `batch_size` of them in flight at a time."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from batchwork.core.event import Attempted, Event
from batchwork.core.failure import FailureKind
from batchwork.core.intake import Work
from batchwork.core.outcome import AnyOutcome, Outcome, Pending
from batchwork.core.policy import check_at_least
from batchwork.engine.live_run import LiveRun
from batchwork.prompts.item import Problem
from batchwork.prompts.prepare import PreparedPrompt
from batchwork.service import Service

DEFAULT_BATCH_SIZE = 100
_OF_PROVIDER = frozenset({FailureKind.AUTH, FailureKind.QUOTA, FailureKind.RATE_LIMITED, FailureKind.OVERLOADED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """What came of a batch: an outcome per prompt that was sent, by its index, and the times."""

    outcomes: dict[int, Outcome]
    first_result_s: float | None  # None when no call was answered
    total_s: float
    unsent: Problem | None = None  # why those that are pending have no answer


class PromptBatch:
    """One request's prompts on their way through the engine. Made once, run once."""

    def __init__(
        self,
        service: Service,
        prepared: Sequence[PreparedPrompt],
        *,
        batch_size: int = DEFAULT_BATCH_SIZE,
        on_outcome: Callable[[AnyOutcome], None] | None = None,
    ) -> None:
        check_at_least(1, batch_size=batch_size)
        self._service = service
        self._on_outcome = on_outcome
        self._outcomes: dict[int, Outcome] = {}
        self._started = service.clock.now()
        self._first_s: float | None = None
        self._unsent: Problem | None = None
        self._provider_failure: FailureKind | None = None
        self._runs: list[LiveRun] = []
        self._batch_size = batch_size
        self._by_model: dict[str, list[PreparedPrompt]] = {}  # almost always there is one
        for prompt in prepared:
            if prompt.request is not None:
                self._by_model.setdefault(prompt.request.model, []).append(prompt)

    async def run(self) -> Executed:
        """Send every prompt. Where the day's book cannot be written, calls in flight are finished before the error."""
        total = sum(map(len, self._by_model.values()))
        bounds = {model: max(1, self._batch_size * len(prompts) // total) for model, prompts in self._by_model.items()}
        if len(bounds) == 1 or sum(bounds.values()) > self._batch_size:  # fewer places than models: one after the other
            for model, bound in bounds.items():
                await self._run(model, bound)
        else:
            results = await asyncio.gather(*map(self._run, bounds, bounds.values()), return_exceptions=True)
            for result in results:
                if isinstance(result, BaseException):
                    raise result
        return Executed(
            outcomes=self._outcomes,
            first_result_s=self._first_s,
            total_s=self._service.clock.now() - self._started,
            unsent=self._unsent,
        )

    def interrupt(self, why: Problem) -> None:
        """First time: send nothing more, let calls in flight finish. Second time: leave at once."""
        self._unsent = self._unsent or why
        for run in self._runs:
            run.interrupt()

    async def _run(self, model: str, bound: int) -> None:
        """The prompts of one model, with its part of the request's places."""
        prompts = self._by_model[model]
        self._outcomes |= {prompt.index: Pending(index=prompt.index) for prompt in prompts}
        if self._unsent is not None:
            return
        run = self._service.live(
            model, batch_size=bound, on_settled=self._settled, on_left=self._left, on_event=self._happened
        )
        self._runs.append(run)
        places = ((prompt.index, prompt.request) for prompt in prompts)
        works = (Work(item=at, index=at, request=asked, problem=None, paid_nano=0, attempts=0) for at, asked in places)
        await run.run(works, is_input=False)
        if run.pause is not None and self._unsent is None:
            kind = self._provider_failure or FailureKind.OVERLOADED
            self._unsent = Problem(code=kind.value, message=run.pause.reason, retryable=kind is not FailureKind.AUTH)

    def _settled(self, outcome: AnyOutcome) -> None:
        if self._first_s is None:
            self._first_s = self._service.clock.now() - self._started
        self._outcomes[outcome.index] = outcome
        if self._on_outcome is not None:
            self._on_outcome(outcome)

    def _left(self, pending: Pending) -> None:
        self._outcomes[pending.index] = pending

    def _happened(self, event: Event) -> None:
        if isinstance(event, Attempted) and event.kind in _OF_PROVIDER:
            self._provider_failure = event.kind


async def process_prompt_batch(
    service: Service,
    prepared: Sequence[PreparedPrompt],
    *,
    batch_size: int = DEFAULT_BATCH_SIZE,
    on_outcome: Callable[[AnyOutcome], None] | None = None,
) -> Executed:
    """Send every prompt that can be sent, at most `batch_size` at a time; one failure never touches another.

    `on_outcome` is called the moment a prompt has its outcome. For the errors see `process_multiple_prompts`.
    """
    return await PromptBatch(service, prepared, batch_size=batch_size, on_outcome=on_outcome).run()
