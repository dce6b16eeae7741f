"""The reply in one of Anthropic's messages, or the failure that a message or an error object is."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from batchwork.backends._failures import kind_by_name, kind_by_status, read_answer, unusable
from batchwork.core.errors import BackendError
from batchwork.core.failure import FailureKind
from batchwork.core.pricing import lane_served
from batchwork.core.reply import Reply, ReportedLimits, ToolCall, Usage, usage_beside

_PLAIN = frozenset({"text", "thinking", "redacted_thinking"})  # blocks of which the text alone is kept


# Without a code of its own. Only the name of a failure that is final either way hangs on these words.
_TOO_LONG = "prompt is too long"
# Stop reasons after which what was answered cannot be used; of `max_tokens`, when it was used up before any text.
_UNUSABLE = {
    "model_context_window_exceeded": (FailureKind.TOO_LONG, "the context window was full before the answer ended"),
    "pause_turn": (FailureKind.TRUNCATED, "the provider paused a long turn of tool use, which is not continued here"),
    "max_tokens": (FailureKind.TRUNCATED, "max_tokens was used up before any text: raise it"),
}


class _CacheCreation(Struct):
    ephemeral_1h_input_tokens: int = 0


class _Usage(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation: _CacheCreation | None = None
    speed: Any = None


class _Block(Struct):
    type: str
    text: str | None = None
    citations: list[msgspec.Raw] | None = None


class _StopDetails(Struct):
    category: str | None = None
    explanation: str | None = None


class _Message(Struct):
    content: list[_Block]
    id: str | None = None
    model: str = ""
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None
    usage: _Usage | None = None


class _Content(Struct):
    content: list[dict[str, Any]]


_decode = msgspec.json.Decoder(_Message).decode
_decode_content = msgspec.json.Decoder(_Content).decode


def reply_in(
    raw: bytes,
    *,
    extra_body: Mapping[str, Any] | None = None,
    limits: ReportedLimits | None = None,
    request_id: str | None = None,
) -> Reply:
    """The reply in a message; a refusal, half an answer or no message is a `BackendError`."""
    message = read_answer(raw, _decode, "a message")
    usage = None if message.usage is None else _usage(message.usage)
    content = message.content
    blocks: tuple[dict[str, Any], ...] = ()
    if len(content) == 1 and content[0].type == "text" and not content[0].citations:
        text = content[0].text or ""
    else:
        texts = [block.text or "" for block in content if block.type == "text"]
        text = "".join(texts)
        if len(texts) > 1 or any(b.citations or b.type not in _PLAIN for b in content):
            blocks = tuple(_decode_content(raw).content)
    stop = message.stop_reason
    reply = Reply(
        text=text,
        usage=usage,
        model=message.model,
        stop_reason=stop,
        truncated=stop == "max_tokens",
        blocks=blocks,
        tool_calls=tuple(
            ToolCall(name=str(block.get("name", "")), arguments=block.get("input"), id=block.get("id"))
            for block in blocks
            if block.get("type") == "tool_use"
        ),
        limits=limits,
        provider_id=request_id or message.id,
        body=raw,
        lane=lane_served(None if message.usage is None else message.usage.speed, extra_body),
    )
    if stop in ("end_turn", "stop_sequence", "tool_use") or (stop == "max_tokens" and text):
        return reply
    if stop == "refusal":
        details = message.stop_details or _StopDetails()
        code = details.category or stop
        problem = details.explanation or f"the model declined to answer ({code})"
        raise BackendError(unusable(FailureKind.REFUSED, problem, code, reply))
    if stop is not None and stop in _UNUSABLE:
        raise BackendError(unusable(*_UNUSABLE[stop], stop, reply))
    return reply


def kind_of(error: dict[str, Any], status: int) -> tuple[FailureKind, str | None]:
    """The kind of an error object by its code, its type or the status, and the code or type that says so.

    The wording may change any day; a line of a batch has no status: 0.
    """
    details = error.get("details")
    code = details.get("error_code") if isinstance(details, dict) else None
    kind, name = kind_by_name("anthropic", code, error.get("type"))
    kind = kind or kind_by_status(status)
    if kind is FailureKind.REJECTED and str(error.get("message", "")).startswith(_TOO_LONG):
        kind = FailureKind.TOO_LONG
    return kind, name


def _usage(stated: _Usage) -> Usage | None:
    """What was used; what is kept for an hour is a part of what was written."""
    written, read = stated.cache_creation_input_tokens or 0, stated.cache_read_input_tokens
    hour = min(written, stated.cache_creation.ephemeral_1h_input_tokens) if stated.cache_creation is not None else 0
    return usage_beside(stated.input_tokens, stated.output_tokens, read=read, written=written, for_an_hour=hour)
