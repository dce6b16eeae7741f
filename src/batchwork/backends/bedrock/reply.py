"""The reply in one of Converse's answers, or the failure that an answer or an error is."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from batchwork.backends._failures import kind_by_name, kind_by_status, read_answer, unusable
from batchwork.core.errors import BackendError
from batchwork.core.failure import FailureKind
from batchwork.core.pricing import lane_served
from batchwork.core.reply import Reply, ReportedLimits, ToolCall, Usage, usage_beside

# Without a name of its own. Only the name of a failure that is final either way hangs on these words.
_TOO_LONG = ("too long", "too many input tokens", "maximum tokens")
_UNUSABLE = {
    "guardrail_intervened": (FailureKind.REFUSED, "a guardrail withheld the answer"),
    "content_filtered": (FailureKind.REFUSED, "the provider's content filter withheld the answer"),
    "malformed_model_output": (FailureKind.SCHEMA_VIOLATION, "the model's output was malformed"),
    "malformed_tool_use": (FailureKind.SCHEMA_VIOLATION, "the model's call of a tool was malformed"),
    "model_context_window_exceeded": (FailureKind.TOO_LONG, "the context window was full before the answer ended"),
    "max_tokens": (FailureKind.TRUNCATED, "max_tokens was used up before any text: raise it"),
}


class _Written(Struct, rename="camel"):
    ttl: str | None = None
    input_tokens: int | None = None


class _Usage(Struct, rename="camel"):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    cache_details: list[_Written] | None = None


class _Message(Struct):
    content: list[dict[str, Any]]


class _Output(Struct):
    message: _Message


class _Tier(Struct):
    type: Any = None


class _Answer(Struct, rename="camel"):
    output: _Output
    stop_reason: str | None = None
    usage: _Usage | None = None
    service_tier: _Tier | None = None


_decode = msgspec.json.Decoder(_Answer).decode


def reply_in(
    raw: bytes,
    *,
    extra_body: Mapping[str, Any] | None = None,
    limits: ReportedLimits | None = None,
    request_id: str | None = None,
    model: str = "",
) -> Reply:
    """The reply in an answer; one that was withheld, cut off or is none is a `BackendError`.

    The answer does not say which `model` made it.
    """
    answer = read_answer(raw, _decode, "an answer of Converse")
    blocks, stop = answer.output.message.content, answer.stop_reason
    text = "".join(block["text"] for block in blocks if isinstance(block.get("text"), str))
    is_plain = all("text" in block or "reasoningContent" in block for block in blocks)
    reply = Reply(
        text=text,
        usage=None if answer.usage is None else _usage(answer.usage),
        model=model,
        stop_reason=stop,
        truncated=stop == "max_tokens",
        blocks=() if is_plain else tuple(blocks),
        tool_calls=tuple(
            ToolCall(name=str(call.get("name", "")), arguments=call.get("input"), id=call.get("toolUseId"))
            for block in blocks
            if isinstance(call := block.get("toolUse"), dict)
        ),
        limits=limits,
        provider_id=request_id,
        body=raw,
        lane=lane_served(None if answer.service_tier is None else answer.service_tier.type, extra_body),
    )
    if stop in _UNUSABLE and not (stop == "max_tokens" and text):
        raise BackendError(unusable(*_UNUSABLE[stop], stop, reply))
    return reply


def kind_of(error: dict[str, Any], status: int) -> tuple[FailureKind, str | None]:
    """The kind of an error by its name, which stands in a header, or its status; and the name."""
    kind, name = kind_by_name("bedrock", error.get("name"))
    kind = kind or (FailureKind.OVERLOADED if status == 503 else kind_by_status(status))
    message = str(error.get("message", "")).lower()
    if kind is FailureKind.REJECTED and any(words in message for words in _TOO_LONG):
        kind = FailureKind.TOO_LONG
    return kind, name


def _usage(stated: _Usage) -> Usage | None:
    hour = sum(part.input_tokens or 0 for part in stated.cache_details or () if part.ttl == "1h")
    read, written = stated.cache_read_input_tokens, stated.cache_write_input_tokens
    return usage_beside(stated.input_tokens, stated.output_tokens, read=read, written=written, for_an_hour=hour)
