"""The third phase: outcomes become answers of one structure, and the statistics of the whole. Pure.

The same function makes an answer whether it is streamed the moment it is there or returned with all others, so both
are equal by construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec

from batchwork.core.failure_table import Trait, traits_of
from batchwork.core.money import NANO
from batchwork.core.outcome import Deferred, Failed, Outcome, Succeeded
from batchwork.core.reply import Usage
from batchwork.prompts.field_path import FieldPath, PathNotFound
from batchwork.prompts.prepare import PreparedPrompt, Problem, too_deep
from batchwork.prompts.process import Executed
from batchwork.schema import NoJson, json_in

_RETRYABLE = Trait.RETRYABLE | Trait.LATER
MAX_DEPTH = 200  # deeper ones cannot be written back as JSON on every stack
_UNSENT = Problem(code="cancelled", message="not sent: the request ended first", retryable=True)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one prompt. `response` is the text, the validated JSON, or the extracted field."""

    status: Literal["success", "error"]
    response: Any = None
    error: str | None = None
    error_code: str | None = None
    retryable: bool = False
    usage: dict[str, int] | None = None
    cost_usd: float | None = None  # all calls made for it; null when the price is not known
    latency_s: float | None = None  # of the last call; null when none was made
    id: str | None = None
    raw_text: str | None = None  # what the model said, when it could not be used


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The statistics of one request."""

    completed: int
    failed: int
    total_s: float
    first_result_s: float | None
    average_s: float  # total_s divided by the number of prompts
    cost_usd: float | None


def finish_answer(prompt: PreparedPrompt, outcome: Outcome | None, unsent: Problem | None = None) -> Answer:
    """The answer to one prompt. `unsent` says why a prompt without an outcome was not sent."""
    if prompt.problem is not None:
        return _problem(prompt, prompt.problem, cost_usd=0.0)
    if isinstance(outcome, Succeeded):
        return _succeeded(prompt, outcome)
    if isinstance(outcome, Failed):
        failure = outcome.failure
        problem = Problem(
            code=failure.kind.value,
            message=clean(failure.message),
            retryable=bool(traits_of(failure.kind) & _RETRYABLE),
        )
        return _problem(prompt, problem, outcome=outcome, raw=outcome.text)
    if isinstance(outcome, Deferred):
        message = (outcome.error or "").replace("deferred: ", "").replace("max_cost", "the budget")
        return _problem(prompt, Problem(code="over_budget", message=message, retryable=True), outcome=outcome)
    return _problem(prompt, unsent or _UNSENT, outcome=outcome)


def _succeeded(prompt: PreparedPrompt, outcome: Succeeded) -> Answer:
    assert prompt.request is not None
    try:
        value = _value(prompt, outcome, structured=prompt.request.schema is not None)
    except (NoJson, PathNotFound) as error:
        code = "path_not_found" if isinstance(error, PathNotFound) else "not_json"
        value = Problem(code=code, message=str(error))
    return finish_value(prompt, outcome, value)


def finish_value(prompt: PreparedPrompt, outcome: Succeeded, value: Any) -> Answer:
    """The answer to a prompt whose value was taken out already; a `Problem` says why there is none."""
    if isinstance(value, Problem):
        return _problem(prompt, replace(value, message=clean(value.message)), outcome=outcome, raw=outcome.text)
    return Answer(
        status="success",
        response=value,
        usage=_usage(outcome.usage),
        cost_usd=_dollars(outcome.cost_nano),
        latency_s=_seconds(outcome.latency_s),
        id=prompt.id,
    )


def _value(prompt: PreparedPrompt, outcome: Succeeded, *, structured: bool) -> Any:
    """The text; the validated JSON when a schema was asked for; of it the field when a path was."""
    if not structured and prompt.path is None:
        return clean(outcome.reply.text)
    value = outcome.parsed if structured else json_in(outcome.reply.text)
    if isinstance(value, msgspec.Raw):  # a large one, kept as its text
        return value if prompt.path is None else _at(msgspec.json.decode(value), prompt.path)
    return _at(value, prompt.path)


def extracted(text: str, path: FieldPath | None) -> Any:
    """What stands at the path in the JSON of a text.

    Raises:
        NoJson: there is none, or it is too deep.
        PathNotFound: the path leads nowhere.
    """
    return _at(json_in(text), path)


def _at(value: Any, path: FieldPath | None) -> Any:
    if too_deep(value, MAX_DEPTH):
        raise NoJson(f"the answer is nested more than {MAX_DEPTH} levels deep")
    return value if path is None else path.extract(value)


def _problem(
    prompt: PreparedPrompt,
    problem: Problem,
    *,
    outcome: Outcome | None = None,
    raw: str | None = None,
    cost_usd: float | None = 0.0,
) -> Answer:
    called = outcome is not None and outcome.attempts > 0
    return Answer(
        status="error",
        error=problem.message + (f" (at {problem.where})" if problem.where else ""),
        error_code=problem.code,
        retryable=problem.retryable,
        usage=_usage(outcome.usage) if outcome is not None else None,
        cost_usd=_dollars(outcome.cost_nano) if outcome is not None else cost_usd,
        latency_s=_seconds(outcome.latency_s) if outcome is not None and called else None,
        id=prompt.id,
        raw_text=None if raw is None else clean(raw),
    )


def finish_all(prepared: Sequence[PreparedPrompt], executed: Executed) -> list[Answer]:
    """One answer per prompt, one after the other, in request order."""
    outcomes, unsent = executed.outcomes, executed.unsent
    return [finish_answer(prompt, outcomes.get(prompt.index), unsent) for prompt in prepared]


def summarise(answers: Iterable[Answer], executed: Executed) -> Summary:
    """The statistics of a whole request."""
    total = completed = 0
    for answer in answers:
        total += 1
        completed += answer.status == "success"
    costs = [outcome.cost_nano for outcome in executed.outcomes.values()]
    known = [cost for cost in costs if cost is not None]
    return Summary(
        completed=completed,
        failed=total - completed,
        total_s=_seconds(executed.total_s),
        first_result_s=None if executed.first_result_s is None else _seconds(executed.first_result_s),
        average_s=_seconds(executed.total_s / total) if total else 0.0,
        cost_usd=_dollars(sum(known)) if len(known) == len(costs) else None,
    )


def clean(text: str) -> str:
    """The text without half characters, which no JSON can carry."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()


def _usage(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    told = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    for name in ("cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens"):
        if count := getattr(usage, name):
            told[name] = count
    return told


def _dollars(nano: int | None) -> float | None:
    return None if nano is None else nano / NANO


def _seconds(value: float) -> float:
    return round(value, 6)
