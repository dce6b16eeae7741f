"""The errors of chat completions in our words: by code, then by type, then by status."""

from __future__ import annotations

from typing import Any

from batchwork.backends._failures import kind_by_status, text_of
from batchwork.core.failure import FailureKind

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


def kind_of(error: dict[str, Any], status: int) -> tuple[FailureKind, str | None]:
    """The kind of an error object, and the code or type that says so."""
    code, kind_name = text_of(error.get("code")), text_of(error.get("type"))
    kind = _BY_NAME.get(code or "") or _BY_NAME.get(kind_name or "")
    if kind is None:
        kind = FailureKind.OVERLOADED if status == 503 else kind_by_status(status)
    return kind, code or kind_name
