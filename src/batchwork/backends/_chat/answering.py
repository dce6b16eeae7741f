"""An answer in our words: a chat completion -> a reply, or the failure that a completion can be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from batchwork.backends._chat.failing import kind_of
from batchwork.backends._refusing import message_of, unreadable
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.pricelanes import lane_served
from batchwork.core.reply import Limits, Reply, Usage


class _PromptDetails(Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _PromptDetails | None = None


class _Message(Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[dict[str, Any]] | None = None


class _Choice(Struct):
    message: _Message | None = None
    finish_reason: str | None = None
    error: dict[str, Any] | None = None


class _Completion(Struct):
    choices: list[_Choice] | None = None
    id: str | None = None
    model: str = ""
    usage: _Usage | None = None
    error: dict[str, Any] | None = None
    service_tier: Any = None


_decode = msgspec.json.Decoder(_Completion).decode


def reply_in(
    raw: bytes,
    *,
    extra_body: Mapping[str, Any] | None = None,
    limits: Limits | None = None,
    request_id: str | None = None,
) -> Reply:
    """The reply in a completion.

    Raises:
        BackendError: the completion is a refusal, half an answer, an error, or no completion at all.
    """
    try:
        said = _decode(raw)
    except msgspec.DecodeError as error:
        raise BackendError(unreadable(error, "a chat completion")) from error
    choice = said.choices[0] if said.choices else None
    if choice is None or choice.message is None or choice.error is not None:
        raise BackendError(_no_choice(said, choice, raw, request_id))
    message, finish = choice.message, choice.finish_reason
    content = message.content
    if isinstance(content, list):
        content = "".join(str(part["text"]) for part in content if isinstance(part.get("text"), str))
    text = content or ""
    reply = Reply(
        text=text,
        usage=None if said.usage is None else _usage(said.usage),
        model=said.model,
        stop_reason=finish,
        truncated=finish == "length",
        blocks=tuple(message.tool_calls or ()),
        limits=limits,
        provider_id=request_id or said.id,
        body=raw,
        lane=lane_served(said.service_tier, extra_body),
    )
    if finish == "stop" and not message.refusal:
        return reply
    if (failure := _unusable(message, finish, reply)) is not None:
        raise BackendError(failure)
    return reply


def _unusable(message: _Message, finish: str | None, reply: Reply) -> Failure | None:
    """What is wrong with a billed completion; None when nothing is."""
    if message.refusal:
        kind, code, problem = FailureKind.REFUSED, "refusal", message.refusal
    elif finish == "content_filter":
        kind, code, problem = FailureKind.REFUSED, finish, "the provider's content filter withheld the answer"
    elif finish == "length" and not reply.text:
        kind, code, problem = FailureKind.TRUNCATED, finish, "max_tokens was used up before any text: raise it"
    else:
        return None
    kept = msgspec.structs.replace(reply, limits=None)
    return Failure(
        kind=kind, message=problem, status=200, error_code=code, limits=reply.limits, reply=kept, usage=reply.usage
    )


def _no_choice(said: _Completion, choice: _Choice | None, raw: bytes, request_id: str | None) -> Failure:
    """Some servers send their errors with a good status."""
    error = said.error or (choice.error if choice is not None else None)
    if error is None:
        return Failure(kind=FailureKind.RESULT_LOST, message="the completion holds no choice", unconfirmed=True)
    status = error["code"] if isinstance(error.get("code"), int) else 500
    kind, code = kind_of(error, status)
    message = message_of(error, raw, secret=None, request_id=request_id)
    return Failure(kind=kind, message=message, status=status, error_code=code)


def _usage(said: _Usage) -> Usage:
    details = said.prompt_tokens_details
    read = (details.cached_tokens or 0) if details is not None else 0
    written = (details.cache_write_tokens or 0) if details is not None else 0
    return Usage(
        input_tokens=max(said.prompt_tokens, read + written),
        output_tokens=said.completion_tokens,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )
