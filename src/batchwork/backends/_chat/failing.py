"""The errors of chat completions in our words: by code, then by type, then by status."""

from __future__ import annotations

from typing import Any

from batchwork.backends._catalog import GPT, near, or_list
from batchwork.backends._headers import Headers, openai_limits, retry_after_s
from batchwork.backends._refusing import error_in, kind_by_status, message_of, text_of
from batchwork.core.failure import Failure, FailureKind

_BY_NAME = {
    "insufficient_quota": FailureKind.QUOTA,
    "billing_hard_limit_reached": FailureKind.QUOTA,
    "billing_not_active": FailureKind.QUOTA,
    "context_length_exceeded": FailureKind.TOO_LONG,
    "string_above_max_length": FailureKind.TOO_LONG,
    "exceed_context_size_error": FailureKind.TOO_LONG,  # llama.cpp
    "rate_limit_exceeded": FailureKind.RATE_LIMITED,
    "invalid_api_key": FailureKind.AUTH,
    "content_filter": FailureKind.REFUSED,
    "content_policy_violation": FailureKind.REFUSED,
}


def failure_from(
    status: int, headers: Headers, body: bytes, *, model: str | None, utc: float, secret: str | None = None
) -> Failure:
    """The failure that an answer with an error status is; `model` where the call was about one."""
    error = error_in(body)
    message = message_of(error, body, secret=secret, request_id=headers.get("x-request-id"))
    kind, code = kind_of(error, status)
    if status == 404 and kind is FailureKind.REJECTED:
        message = f"{message}: {_doubt(model)}"
    return Failure(
        kind=kind,
        message=message,
        retry_after_s=retry_after_s(headers, utc),
        status=status,
        error_code=code,
        limits=openai_limits(headers),
    )


def _doubt(model: str | None) -> str:
    """What a call that went nowhere may have got wrong."""
    if model is None:
        return "is the base_url right?"
    others = near(model, GPT)
    return f"is the model {model!r} right, and the base_url?" + (f" There is {or_list(others)}." if others else "")


def kind_of(error: dict[str, Any], status: int) -> tuple[FailureKind, str | None]:
    """The kind of an error object, and the code or type that says so."""
    code, kind_name = text_of(error.get("code")), text_of(error.get("type"))
    kind = _BY_NAME.get(code or "") or _BY_NAME.get(kind_name or "")
    if kind is None:
        kind = FailureKind.OVERLOADED if status == 503 else kind_by_status(status)
    return kind, code or kind_name
