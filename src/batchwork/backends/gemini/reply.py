"""The reply in one of Gemini's answers, or the failure that an answer or an error object is."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from batchwork.backends._failures import kind_by_name, kind_by_status, lost_result, read_answer, unusable
from batchwork.backends._headers import duration_s
from batchwork.core.errors import BackendError
from batchwork.core.failure import FailureKind
from batchwork.core.pricing import lane_served
from batchwork.core.reply import Reply, ReportedLimits, ToolCall, Usage

Error: TypeAlias = dict[str, Any]
# Without a code of its own. Only the name of a failure that is final either way hangs on these words.
_TOO_LONG = "input token count"
# An error inside of a 200 is numbered as in gRPC; the statuses that these numbers stand for.
_STATUSES = dict(enumerate((499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401), start=1))
_PER_DAY = "PerDay"
_CUT_OFF = {
    "MAX_TOKENS": "max_tokens was used up before any text: raise it",
    "CONTINUATION": "the provider broke a long answer off, which is not continued here",
}
_MALFORMED = frozenset({"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"})
_UNKNOWN = "FINISH_REASON_UNSPECIFIED"


class _Part(Struct):
    text: str | None = None
    thought: bool = False
    functionCall: dict[str, Any] | None = None  # noqa: N815 (their spelling)


class _Content(Struct):
    parts: list[_Part] | None = None


class _Candidate(Struct):
    content: _Content | None = None
    finishReason: str | None = None  # noqa: N815
    finishMessage: str | None = None  # noqa: N815


class _Feedback(Struct):
    blockReason: str | None = None  # noqa: N815
    blockReasonMessage: str | None = None  # noqa: N815


class _Usage(Struct):
    promptTokenCount: int | None = None  # noqa: N815
    candidatesTokenCount: int | None = None  # noqa: N815
    thoughtsTokenCount: int | None = None  # noqa: N815
    toolUsePromptTokenCount: int | None = None  # noqa: N815
    cachedContentTokenCount: int | None = None  # noqa: N815
    totalTokenCount: int | None = None  # noqa: N815
    serviceTier: Any = None  # noqa: N815


class _Answer(Struct):
    candidates: list[_Candidate] | None = None
    promptFeedback: _Feedback | None = None  # noqa: N815
    usageMetadata: _Usage | None = None  # noqa: N815
    modelVersion: str = ""  # noqa: N815
    responseId: str | None = None  # noqa: N815


class _RawContent(Struct):
    parts: list[dict[str, Any]] = []


class _RawCandidate(Struct):
    content: _RawContent


class _RawAnswer(Struct):
    candidates: list[_RawCandidate]


_NO_CONTENT, _NO_CANDIDATE, _NO_FEEDBACK = _Content(), _Candidate(), _Feedback()
_decode = msgspec.json.Decoder(_Answer).decode
_decode_parts = msgspec.json.Decoder(_RawAnswer).decode


def reply_in(
    raw: bytes,
    *,
    extra_body: Mapping[str, Any] | None = None,
    limits: ReportedLimits | None = None,
    request_id: str | None = None,
    tier: str | None = None,
) -> Reply:
    """The reply in an answer; one that was blocked, cut off or is none is a `BackendError`.

    `tier` is the one that the answer's headers say it was served in.
    """
    answer = read_answer(raw, _decode, "a Gemini answer")
    feedback = answer.promptFeedback or _NO_FEEDBACK
    candidate = answer.candidates[0] if answer.candidates else None
    if candidate is None and feedback.blockReason is None:
        raise BackendError(lost_result("the answer holds no candidate"))
    candidate = candidate or _NO_CANDIDATE
    finish, stated = candidate.finishReason, answer.usageMetadata
    parts = (candidate.content or _NO_CONTENT).parts or ()
    text, blocks, calls = _said(parts, raw)
    reply = Reply(
        text=text,
        usage=None if stated is None else _usage(stated),
        model=answer.modelVersion,
        stop_reason=None if finish is None else finish.lower(),
        truncated=finish == "MAX_TOKENS",
        blocks=blocks,
        tool_calls=calls,
        limits=limits,
        provider_id=request_id or answer.responseId,
        body=raw,
        lane=_lane(tier or (None if stated is None else stated.serviceTier), extra_body),
    )
    if finish == "STOP" or (finish == "MAX_TOKENS" and text):
        return reply
    if feedback.blockReason is not None:
        reason = feedback.blockReasonMessage or f"the prompt was blocked ({feedback.blockReason})"
        raise BackendError(unusable(FailureKind.REFUSED, reason, feedback.blockReason.lower(), reply))
    return _ended_otherwise(candidate, reply)


def _said(
    parts: list[_Part] | tuple[_Part, ...], raw: bytes
) -> tuple[str, tuple[dict[str, Any], ...], tuple[ToolCall, ...]]:
    """The text of an answer without its thoughts; its raw parts where there is more to them; its tool calls."""
    if len(parts) == 1 and parts[0].text is not None and not parts[0].thought:
        return parts[0].text, (), ()
    text = "".join(part.text for part in parts if part.text is not None and not part.thought)
    if all(part.text is not None for part in parts):
        return text, (), ()
    calls = tuple(
        ToolCall(name=str(call.get("name", "")), arguments=call.get("args"), id=call.get("id"))
        for call in (part.functionCall for part in parts)
        if call is not None
    )
    return text, tuple(_decode_parts(raw).candidates[0].content.parts), calls


def _ended_otherwise(candidate: _Candidate, reply: Reply) -> Reply:
    """The reply of an answer that does not say that it is complete; of one that says it is not, its failure."""
    finish = candidate.finishReason
    if finish is None or finish == _UNKNOWN:
        return reply
    if finish in _CUT_OFF:
        raise BackendError(unusable(FailureKind.TRUNCATED, _CUT_OFF[finish], finish.lower(), reply))
    problem = candidate.finishMessage or f"the answer was not finished ({finish})"
    kind = FailureKind.SCHEMA_VIOLATION if finish in _MALFORMED else FailureKind.REFUSED
    raise BackendError(unusable(kind, problem, finish.lower(), reply))


def _lane(tier: object, extra_body: Mapping[str, Any] | None) -> str | None:
    return lane_served(tier.lower() if isinstance(tier, str) else tier, extra_body)


def kind_of(error: Error, status: int) -> tuple[FailureKind, str | None]:
    """The kind of an error object by its reason, its state or a status, and the reason or state that says so.

    The status of an error inside of a batch is its code, numbered as in HTTP or in gRPC.
    """
    code = error.get("code")
    if not status and isinstance(code, int):
        status = _STATUSES.get(code, code)
    reasons = [detail.get("reason") for detail in _details(error)]
    kind, name = kind_by_name("gemini", *reasons, error.get("status"))
    kind = kind or kind_by_status(status)
    if kind is FailureKind.RATE_LIMITED and _is_per_day(error):
        return FailureKind.QUOTA, name
    if kind is FailureKind.REJECTED and _TOO_LONG in str(error.get("message", "")):
        return FailureKind.TOO_LONG, name
    return kind, name


def wait_in(error: Error) -> float | None:
    """The wait that an error asks for; that of a daily quota is not believed: it is a minute's at most."""
    waits = (detail.get("retryDelay") for detail in _details(error))
    stated = next((wait for wait in waits if isinstance(wait, str)), None)
    return None if stated is None or _is_per_day(error) else duration_s(stated)


def _is_per_day(error: Error) -> bool:
    violations = (detail.get("violations") for detail in _details(error))
    return any(
        isinstance(one, dict) and _PER_DAY in str(one.get("quotaId"))
        for listed in violations
        if isinstance(listed, list)
        for one in listed
    )


def _details(error: Error) -> list[dict[str, Any]]:
    details = error.get("details")
    return [one for one in details if isinstance(one, dict)] if isinstance(details, list) else []


def _usage(stated: _Usage) -> Usage | None:
    """What was used; None when it does not say. A count that is 0 may be left out; thinking is output and billed so."""
    if stated.promptTokenCount is None:
        return None
    fed = stated.promptTokenCount + (stated.toolUsePromptTokenCount or 0)
    made = (stated.candidatesTokenCount or 0) + (stated.thoughtsTokenCount or 0)
    if stated.totalTokenCount is not None and stated.totalTokenCount > fed + made:
        made = stated.totalTokenCount - fed  # whatever is counted beside the rest is no prompt of ours
    read = stated.cachedContentTokenCount or 0
    if min(fed, made, read) < 0:
        return None
    return Usage(input_tokens=max(fed, read), output_tokens=made, cache_read_tokens=read)
