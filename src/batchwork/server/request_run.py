"""One admitted request on its way: runs its prompts once, finishes the answers, and says what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from batchwork.core.outcome import AnyOutcome
from batchwork.prompts import Answer, Executed, PreparedPrompt, Problem, PromptBatch, Summary, summarise
from batchwork.server.loop_time import Slices

if TYPE_CHECKING:
    from batchwork.server.admission import Admission

_GONE = Problem(code="cancelled", message="not sent: the caller went away", retryable=True)
_ENDING = Problem(code="shutting_down", message="not sent: the server is about to end", retryable=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestResult:
    """What came of a request."""

    answers: list[Answer]
    summary: Summary
    log_fields: dict[str, Any]


class RequestRun:
    """The prompts of one request, prepared and admitted."""

    def __init__(
        self, admission: Admission, prepared: list[PreparedPrompt], *, batch_size: int, caller: int | None
    ) -> None:
        self.prepared = prepared
        self.caller = caller
        self.client_left = False
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
        if not self.client_left:
            self.client_left = True
            self._batch.interrupt(_GONE)

    def end(self) -> None:
        """The server ends."""
        self._batch.interrupt(_ENDING)

    async def run(self) -> RequestResult:
        """Run all of it, to the end.

        Raises:
            JournalWriteError: the day's book cannot be written.
        """
        executed = await self._batch.run()
        self._admission.release(self)
        answers = await self._finish(executed)
        summary = summarise(answers, executed)
        self._admission.metrics.request(answers, summary)
        return RequestResult(answers=answers, summary=summary, log_fields=self._log_fields(answers, summary))

    async def _finish(self, executed: Executed) -> list[Answer]:
        """The third phase, in slices."""
        slices = Slices(self._admission.loop_time)
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
