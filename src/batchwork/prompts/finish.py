"""The third phase: outcomes become answers of one structure, streamed or not, and the statistics of the whole. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.failure import FailureKind
from batchwork.core.failure_table import Trait, traits_of
from batchwork.core.money import NANO, to_dollars
from batchwork.core.outcome import Deferred, Failed, Outcome, Pending, Succeeded
from batchwork.core.words import counted
from batchwork.prompts.field_path import FieldPath, PathNotFound
from batchwork.prompts.item import Problem
from batchwork.prompts.prepare import PreparedPrompt, too_deep
from batchwork.prompts.process import Executed
from batchwork.schema import NoJson, json_in

_RETRYABLE = Trait.RETRYABLE | Trait.LATER
MAX_DEPTH = 200  # deeper ones cannot be written back as JSON on every stack
_NOT_SENT = "not sent: "
_UNSENT = Problem(code="cancelled", message=f"{_NOT_SENT}the request ended first", retryable=True)


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
    truncated: bool = False  # what the model said was cut off by max_tokens; validated JSON is whole all the same


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The statistics of one request."""

    completed: int
    failed: int
    total_s: float
    first_result_s: float | None
    average_s: float  # total_s divided by the number of prompts
    cost_usd: float | None
    truncated: int = 0  # prompts whose answer was cut off by max_tokens


def finish_answer(prompt: PreparedPrompt, outcome: Outcome | None, unsent: Problem | None = None) -> Answer:
    """The answer to one prompt. `unsent` says why a prompt without an outcome was not sent, or not seen to its end.

    Raises:
        ConfigError: the outcome is none, or another prompt's.
    """
    _check_own(prompt, outcome)
    if prompt.problem is not None:
        return _failed(prompt, prompt.problem)
    if isinstance(outcome, Succeeded):
        return finish_value(prompt, outcome, _value(prompt, outcome))
    problem = _left(outcome, unsent or _UNSENT)
    if isinstance(outcome, Failed):
        kind, message = outcome.failure.kind, clean(outcome.failure.message)
        problem = Problem(code=kind.value, message=message, retryable=bool(traits_of(kind) & _RETRYABLE))
    elif isinstance(outcome, Deferred):
        problem = Problem(code="over_budget", message=_too_dear(outcome), retryable=not outcome.never_fits)
    return _failed(prompt, problem, outcome)


def _left(outcome: Outcome | None, why: Problem) -> Problem:
    """Why a prompt has no outcome. One that was sent is not told as one that was not."""
    if not isinstance(outcome, Pending) or not outcome.attempts:
        return why
    if outcome.cut_off:
        reason = why.message.removeprefix(_NOT_SENT)
        message = f"cut off: {reason}; the call was in flight, and may have been answered and paid"
        return Problem(code="cut_off", message=message, retryable=True)
    again = f"not sent again after {counted(outcome.attempts, 'call')}: "
    return replace(why, message=why.message.replace(_NOT_SENT, again, 1))


def _too_dear(outcome: Deferred) -> str:
    worst = f"may cost up to ${to_dollars(outcome.needed_nano)}"
    of = "" if outcome.budget_nano is None else f" of ${to_dollars(outcome.budget_nano)}"
    if outcome.never_fits:
        return f"{worst}, more than the whole budget{of}: lower max_tokens or raise the budget"
    return f"{worst}, which no longer fits under the budget{of}"


def _check_own(prompt: PreparedPrompt, outcome: object) -> None:
    if outcome is None or (isinstance(outcome, Outcome) and outcome.index == prompt.index):
        return
    what = f"of prompt {outcome.index}" if isinstance(outcome, Outcome) else f"a {type(outcome).__name__}"
    raise ConfigError(
        f"the outcome is {what}, not that of prompt {prompt.index}: hand over executed.outcomes.get({prompt.index})"
    )


def finish_value(prompt: PreparedPrompt, outcome: Succeeded, value: Any) -> Answer:
    """The answer to a prompt whose value was taken out already; a `Problem` says why there is none."""
    if isinstance(value, Problem):
        return _failed(prompt, replace(value, message=clean(value.message)), outcome)
    return Answer(
        status="success",
        response=value,
        usage=None if outcome.usage is None else outcome.usage.counts(),
        cost_usd=_dollars(outcome.cost_nano),
        latency_s=_seconds(outcome.latency_s),
        id=prompt.id,
        truncated=outcome.truncated,
    )


def _failed(prompt: PreparedPrompt, problem: Problem, outcome: Outcome | None = None) -> Answer:
    outcome = outcome or Pending(index=prompt.index)
    return Answer(
        status="error",
        error=problem.message + (f" (at {problem.where})" if problem.where else ""),
        error_code=problem.code,
        retryable=problem.retryable,
        usage=None if outcome.usage is None else outcome.usage.counts(),
        cost_usd=_dollars(outcome.cost_nano),
        latency_s=_seconds(outcome.latency_s) if outcome.attempts else None,
        id=prompt.id,
        raw_text=None if outcome.text is None else clean(outcome.text),
        truncated=outcome.truncated or problem.code == FailureKind.TRUNCATED.value,
    )


def _value(prompt: PreparedPrompt, outcome: Succeeded) -> Any:
    """The text; the validated JSON when a schema was asked for; of it the field when a path was. Or the problem."""
    assert prompt.request is not None
    if prompt.request.schema is None:
        text = outcome.reply.text
        return clean(text) if prompt.path is None else field_in(text, prompt.path)
    if not isinstance(outcome.parsed, msgspec.Raw):
        return _field(outcome.parsed, prompt.path)
    # A large one, kept as its text.
    return outcome.parsed if prompt.path is None else _field(msgspec.json.decode(outcome.parsed), prompt.path)


def field_in(text: str, path: FieldPath | None) -> Any:
    """What stands at the path in the JSON of a text; a `Problem` where there is nothing."""
    try:
        return _field(json_in(text), path)
    except NoJson as error:
        return Problem(code="not_json", message=str(error))


def _field(value: Any, path: FieldPath | None) -> Any:
    if too_deep(value, MAX_DEPTH):
        return Problem(code="not_json", message=f"the answer is nested more than {MAX_DEPTH} levels deep")
    try:
        return value if path is None else path.extract(value)
    except PathNotFound as error:
        return Problem(code="path_not_found", message=str(error))


def finish_all(prepared: Sequence[PreparedPrompt], executed: Executed) -> list[Answer]:
    """One answer per prompt, one after the other, in request order."""
    outcomes, unsent = executed.outcomes, executed.unsent
    return [finish_answer(prompt, outcomes.get(prompt.index), unsent) for prompt in prepared]


def summarise(answers: Iterable[Answer], executed: Executed) -> Summary:
    """The statistics of a whole request."""
    ends = [(answer.status, answer.truncated) for answer in answers]
    completed = sum(status == "success" for status, _ in ends)
    costs = [outcome.cost_nano for outcome in executed.outcomes.values()]
    known = [cost for cost in costs if cost is not None]
    return Summary(
        completed=completed,
        failed=len(ends) - completed,
        total_s=_seconds(executed.total_s),
        first_result_s=None if executed.first_result_s is None else _seconds(executed.first_result_s),
        average_s=_seconds(executed.total_s / len(ends)) if ends else 0.0,
        cost_usd=_dollars(sum(known)) if len(known) == len(costs) else None,
        truncated=sum(truncated for _, truncated in ends),
    )


def clean(text: str) -> str:
    """The text without half characters, which no JSON can carry."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _dollars(nano: int | None) -> float | None:
    return None if nano is None else nano / NANO


def _seconds(value: float) -> float:
    return round(value, 6)
