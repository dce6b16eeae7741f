"""The reply in a chat completion, or the failure that a completion or an error object is."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from batchwork.backends._failures import kind_by_name, kind_by_status, lost_result, message_of, read_answer, unusable
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.pricing import lane_served
from batchwork.core.reply import Reply, ReportedLimits, ToolCall, Usage


class _PromptDetails(Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Usage(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None


class _Message(Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    function_call: dict[str, Any] | None = None  # its older name


class _Choice(Struct):
    message: _Message | None = None
    finish_reason: str | None = None
    error: dict[str, Any] | None = None


class _Completion(Struct):
    choices: list[_Choice] | None = None
    id: str | None = None
    model: str = ""
    usage: _Usage | None = None
    error: dict[str, Any] | str | None = None
    service_tier: Any = None


class _Function(Struct):
    name: str = ""
    arguments: Any = None
    input: Any = None  # of a tool that takes plain text


class _ToolCall(Struct):
    id: str | None = None
    function: _Function | None = None
    custom: _Function | None = None


_CUT_OFF = frozenset({"length", "model_length"})  # by max_tokens; at Mistral also by the length of its context
_NO_DETAILS = _PromptDetails()
_decode = msgspec.json.Decoder(_Completion).decode


def reply_in(
    raw: bytes,
    *,
    extra_body: Mapping[str, Any] | None = None,
    limits: ReportedLimits | None = None,
    request_id: str | None = None,
) -> Reply:
    """The reply in a completion; a refusal, half an answer, an error or no completion is a `BackendError`."""
    completion = read_answer(raw, _decode, "a chat completion")
    choice = completion.choices[0] if completion.choices else None
    if choice is None or choice.message is None or choice.error is not None:
        raise BackendError(_no_choice(completion, choice, raw, request_id))
    message, finish = choice.message, choice.finish_reason
    content = message.content
    if isinstance(content, list):
        content = "".join(str(part["text"]) for part in content if isinstance(part.get("text"), str))
    text = content or ""
    reply = Reply(
        text=text,
        usage=None if completion.usage is None else _usage(completion.usage),
        model=completion.model,
        stop_reason=finish,
        truncated=finish in _CUT_OFF,
        blocks=tuple(message.tool_calls or ()),
        tool_calls=_tool_calls(message) if message.tool_calls or message.function_call else (),
        limits=limits,
        provider_id=request_id or completion.id,
        body=raw,
        lane=lane_served(completion.service_tier, extra_body),
    )
    if finish == "stop" and not message.refusal:
        return reply
    if message.refusal:
        raise BackendError(unusable(FailureKind.REFUSED, message.refusal, "refusal", reply))
    if finish == "content_filter":
        problem = "the provider's content filter withheld the answer"
        raise BackendError(unusable(FailureKind.REFUSED, problem, finish, reply))
    if finish == "error":
        problem = "the provider says that the model failed in the middle of its answer"
        raise BackendError(unusable(FailureKind.SERVER, problem, finish, reply))
    if finish in _CUT_OFF and not text:
        problem = "max_tokens was used up before any text: raise it"
        raise BackendError(unusable(FailureKind.TRUNCATED, problem, finish, reply))
    return reply


def _tool_calls(message: _Message) -> tuple[ToolCall, ...]:
    calls = message.tool_calls or [{"function": message.function_call}]
    found = []
    for call in calls:
        try:
            read = msgspec.convert(call, _ToolCall)
        except msgspec.ValidationError:
            continue  # it stands among the blocks as it came
        tool = read.function or read.custom or _Function()
        arguments = tool.input if tool.arguments is None else tool.arguments
        if isinstance(arguments, str) and read.function is not None:
            with suppress(msgspec.DecodeError, UnicodeError):
                arguments = msgspec.json.decode(arguments)
        found.append(ToolCall(name=tool.name, arguments=arguments, id=read.id))
    return tuple(found)


def _no_choice(completion: _Completion, choice: _Choice | None, raw: bytes, request_id: str | None) -> Failure:
    """Some servers send their errors with a good status."""
    error = completion.error or (choice.error if choice is not None else None)
    if error is None:
        return lost_result("the completion holds no choice")
    if isinstance(error, str):
        error = {"message": error}
    status = error["code"] if isinstance(error.get("code"), int) else 500
    kind, code = kind_of(error, status)
    message = message_of(error, raw, secret=None, request_id=request_id)
    return Failure(kind=kind, message=message, status=status, error_code=code, request_id=request_id)


def kind_of(error: dict[str, Any], status: int) -> tuple[FailureKind, str | None]:
    """The kind of an error object by its code, its type or the status; and the code or type that says so."""
    kind, name = kind_by_name("chat", error.get("code"), error.get("type"))
    return kind or (FailureKind.OVERLOADED if status == 503 else kind_by_status(status)), name


def _usage(stated: _Usage) -> Usage | None:
    """What was used; None when a part is missing, or cannot be: half a usage is none.

    Some services count what a model thinks in the sum alone (xAI): what is beside the prompt there is billed as output.
    """
    details = stated.prompt_tokens_details or _NO_DETAILS
    read, written = details.cached_tokens or 0, details.cache_write_tokens or 0
    if stated.prompt_tokens is None or stated.completion_tokens is None:
        return None
    if min(stated.prompt_tokens, stated.completion_tokens, read, written) < 0:
        return None
    return Usage(
        input_tokens=max(stated.prompt_tokens, read + written),
        output_tokens=max(stated.completion_tokens, (stated.total_tokens or 0) - stated.prompt_tokens),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )
