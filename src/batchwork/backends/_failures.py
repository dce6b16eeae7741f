"""Failures of every wire in our words: what is refused before it is sent, and what a foreign error text says."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, NoReturn, TypeVar

import msgspec

from batchwork.core.data_file import read_data_file
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.reply import Reply

T = TypeVar("T")
_LONGEST = 600
_TAG = re.compile(r"<[^>]*>|\s+")


class _Kinds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    status: dict[int, FailureKind]
    anthropic: dict[str, FailureKind]
    chat: dict[str, FailureKind]
    gemini: dict[str, FailureKind]
    bedrock: dict[str, FailureKind]


@cache
def _kinds() -> _Kinds:
    return read_data_file(__file__, "error_kinds.toml", _Kinds)


def kind_by_name(
    wire: Literal["anthropic", "bedrock", "chat", "gemini"], *names: object
) -> tuple[FailureKind | None, str | None]:
    """What the first of an error's names says that is known on this wire; and the first that is a text.

    Some servers put the status there as a number, which says nothing new.
    """
    known: dict[str, FailureKind] = getattr(_kinds(), wire)
    texts = [name for name in names if isinstance(name, str) and name]
    return next((known[name] for name in texts if name in known), None), next(iter(texts), None)


def kind_by_status(status: int) -> FailureKind:
    """What a status alone says, 0 where there is none."""
    other = FailureKind.SERVER if status >= 500 or not status else FailureKind.REJECTED
    return _kinds().status.get(status, other)


def bad_input(message: str) -> NoReturn:
    """Refuse a request that cannot be sent to this backend; nothing was."""
    raise BackendError(Failure(kind=FailureKind.BAD_INPUT, message=message))


def other_model(model: str, requested: str) -> NoReturn:
    """Refuse a request that names another model than the one that is open."""
    bad_input(f"this run asks {model!r}; a request for {requested!r} needs a run of its own")


def _unreadable(error: msgspec.DecodeError, expected: str) -> Failure:
    """The failure of an answer with a good status that cannot be read: whatever it is, it may well be billed.

    What is JSON is the provider's own, and would only come again, and be paid again. Anything else is a page of some
    proxy in between, which may be gone at the next try.
    """
    is_json = isinstance(error, msgspec.ValidationError)
    kind = FailureKind.RESULT_LOST if is_json else FailureKind.SERVER
    return Failure(kind=kind, message=f"the answer is not {expected}: {error}", unconfirmed=True)


def read_answer(raw: bytes, decode: Callable[[bytes], T], expected: str) -> T:
    """An answer with a good status; one that is not what is expected is a `BackendError`."""
    try:
        return decode(raw)
    except msgspec.DecodeError as error:
        raise BackendError(_unreadable(error, expected)) from error


def unusable(kind: FailureKind, message: str, code: str | None, reply: Reply) -> Failure:
    """The failure of an answer that was read and is billed, and is still not what was wanted."""
    kept = msgspec.structs.replace(reply, limits=None)
    return Failure(
        kind=kind, message=message, status=200, error_code=code, limits=reply.limits, reply=kept, usage=reply.usage
    )


def lost_result(problem: str) -> Failure:
    """The failure of a batch line that holds neither an answer nor an error: it may well be billed."""
    return Failure(kind=FailureKind.RESULT_LOST, message=problem, unconfirmed=True)


def error_in(body: bytes) -> dict[str, Any]:
    """The error object of an answer; empty when the body is not JSON or holds none.

    Providers and those who imitate them write `{"error": {...}}`, `{"error": "..."}`, `{"detail": ...}` or it flat.
    """
    try:
        content = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return {}
    if isinstance(content, list) and content:  # as Google writes the error of a stream
        content = content[0]
    if not isinstance(content, dict):
        return {}
    error = content.get("error", content)
    if isinstance(error, dict):
        return error if "message" in error else {**error, "message": _plain(error.get("detail", ""))}
    return {"message": _plain(error)}


def message_of(error: Mapping[str, Any], body: bytes, *, secret: str | None, request_id: str | None) -> str:
    """The provider's message, short, with its request id and without our key."""
    message = error.get("message")
    if not message:  # a page of some proxy in between, perhaps
        message = " ".join(_TAG.sub(" ", body[:_LONGEST].decode("utf-8", "replace")).split()) or "no explanation"
    message = str(message)[:_LONGEST]
    if secret and len(secret) > 3:
        message = message.replace(secret, "***")
    return f"{message} [{request_id}]" if request_id else message


def _plain(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
