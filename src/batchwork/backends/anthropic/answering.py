"""An answer in our words: Anthropic's message -> a reply, or the failure that a message can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from batchwork.backends._refusing import unreadable
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.pricelanes import lane_served
from batchwork.core.reply import Limits, Reply, Usage

_PLAIN = frozenset({"text", "thinking", "redacted_thinking"})  # blocks of which the text alone is kept


class _CacheCreation(Struct):
    ephemeral_1h_input_tokens: int = 0


class _Usage(Struct):
    input_tokens: int = 0
    output_tokens: int = 0
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
    limits: Limits | None = None,
    request_id: str | None = None,
) -> Reply:
    """The reply in a message.

    Raises:
        BackendError: the message is a refusal, half an answer, or no message at all.
    """
    try:
        message = _decode(raw)
    except msgspec.DecodeError as error:
        raise BackendError(unreadable(error, "a message")) from error
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
        limits=limits,
        provider_id=request_id or message.id,
        body=raw,
        lane=lane_served(None if message.usage is None else message.usage.speed, extra_body),
    )
    if stop in ("end_turn", "stop_sequence", "tool_use") or (stop == "max_tokens" and text):
        return reply
    if (failure := _unusable(message, reply)) is not None:
        raise BackendError(failure)
    return reply


def _unusable(message: _Message, reply: Reply) -> Failure | None:
    """What is wrong with a billed message; None when nothing is."""
    stop = message.stop_reason
    code: str | None = stop
    if stop == "refusal":
        details = message.stop_details or _StopDetails()
        kind, code = FailureKind.REFUSED, details.category or stop
        problem = details.explanation or f"the model declined to answer ({code})"
    elif stop == "model_context_window_exceeded":
        kind, problem = FailureKind.TOO_LONG, "the context window was full before the answer ended"
    elif stop == "pause_turn":
        kind, problem = (
            FailureKind.TRUNCATED,
            "the provider paused a long turn of tool use, which is not continued here",
        )
    elif stop == "max_tokens":
        kind, problem = FailureKind.TRUNCATED, "max_tokens was used up before any text: raise it"
    else:
        return None
    kept = msgspec.structs.replace(reply, limits=None)
    return Failure(
        kind=kind, message=problem, status=200, error_code=code, limits=reply.limits, reply=kept, usage=reply.usage
    )


def _usage(said: _Usage) -> Usage:
    created, read = said.cache_creation_input_tokens or 0, said.cache_read_input_tokens or 0
    if not created and not read:
        return Usage(input_tokens=said.input_tokens, output_tokens=said.output_tokens)
    hour = min(created, said.cache_creation.ephemeral_1h_input_tokens) if said.cache_creation is not None else 0
    return Usage(
        input_tokens=said.input_tokens + created + read,
        output_tokens=said.output_tokens,
        cache_read_tokens=read,
        cache_write_tokens=created - hour,
        cache_write_1h_tokens=hour,
    )
