"""Say no before anything is sent, and read foreign error texts without ever showing a key."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

import msgspec

from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind

_LONGEST = 600
_TAG = re.compile(r"<[^>]*>|\s+")


# What a status alone says, at every provider.
_BY_STATUS = {
    401: FailureKind.AUTH,
    402: FailureKind.QUOTA,
    403: FailureKind.AUTH,
    408: FailureKind.TIMEOUT,
    409: FailureKind.SERVER,
    413: FailureKind.TOO_LONG,
    429: FailureKind.RATE_LIMITED,
    504: FailureKind.TIMEOUT,
    529: FailureKind.OVERLOADED,
}


def kind_by_status(status: int) -> FailureKind:
    """What a status alone says, 0 where there is none."""
    return _BY_STATUS.get(status) or (FailureKind.SERVER if status >= 500 or not status else FailureKind.REJECTED)


def bad_input(message: str) -> NoReturn:
    """This request cannot be sent to this backend; nothing was.

    Raises:
        BackendError: always.
    """
    raise BackendError(Failure(kind=FailureKind.BAD_INPUT, message=message))


def other_model(model: str, asked: str) -> NoReturn:
    """A request names another model than the one that is open.

    Raises:
        BackendError: always.
    """
    bad_input(f"this run asks {model!r}; a request for {asked!r} needs a run of its own")


def check_sampling(sampling: Mapping[str, Any] | None, taken: Collection[str], who: str) -> None:
    """Refuse sampling parameters that the API does not take.

    Raises:
        BackendError: one of them is not taken.
    """
    unknown = [name for name in sampling or () if name not in taken]
    if unknown:
        takes = f"it takes {', '.join(sorted(taken))}" if taken else "it takes none: leave them out"
        bad_input(f"{who} does not take the sampling parameter {unknown[0]!r}; {takes}")


def unreadable(error: msgspec.DecodeError, expected: str) -> Failure:
    """An answer with a good status that cannot be read: whatever it is, it may well be billed.

    What is JSON is the provider's own, and would only come again, and be paid again. Anything else is a page of some
    proxy in between, which may be gone at the next try.
    """
    is_json = isinstance(error, msgspec.ValidationError)
    kind = FailureKind.RESULT_LOST if is_json else FailureKind.SERVER
    return Failure(kind=kind, message=f"the answer is not {expected}: {error}", unconfirmed=True)


def error_in(body: bytes) -> dict[str, Any]:
    """The error object of an answer; empty when the body is not JSON or holds none.

    Providers and those who imitate them say it as `{"error": {...}}`, `{"error": "..."}`, `{"detail": ...}` or flat.
    """
    try:
        said = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return {}
    if not isinstance(said, dict):
        return {}
    error = said.get("error", said)
    if isinstance(error, dict):
        return error if "message" in error else {**error, "message": _plain(error.get("detail", ""))}
    return {"message": _plain(error)}


def message_of(error: Mapping[str, Any], body: bytes, *, secret: str | None, request_id: str | None) -> str:
    """What the provider said, short, with its request id and without our key."""
    message = error.get("message")
    if not message:  # a page of some proxy in between, perhaps
        message = " ".join(_TAG.sub(" ", body[:_LONGEST].decode("utf-8", "replace")).split()) or "no explanation"
    message = str(message)[:_LONGEST]
    if secret and len(secret) > 3:
        message = message.replace(secret, "***")
    return f"{message} [{request_id}]" if request_id else message


def text_of(value: object) -> str | None:
    """A code that is a text; some servers put the status there as a number, which says nothing new."""
    return value if isinstance(value, str) and value else None


def _plain(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
