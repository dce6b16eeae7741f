"""Anthropic's errors in our words: by error code, then by type, then by status; the wording may change any day."""

from __future__ import annotations

from typing import Any

from batchwork.backends._failures import kind_by_status, text_of
from batchwork.core.failure import FailureKind

_BY_CODE = {
    "enforced_spend_limit_reached": FailureKind.QUOTA,
    "ramp_limit_exceeded": FailureKind.RATE_LIMITED,
    "organization_on_hold": FailureKind.AUTH,
    "request_body_too_large_after_decoding": FailureKind.TOO_LONG,
}
_BY_TYPE = {
    "invalid_request_error": FailureKind.REJECTED,
    "authentication_error": FailureKind.AUTH,
    "billing_error": FailureKind.QUOTA,
    "permission_error": FailureKind.AUTH,
    "not_found_error": FailureKind.REJECTED,
    "conflict_error": FailureKind.SERVER,
    "request_too_large": FailureKind.TOO_LONG,
    "rate_limit_error": FailureKind.RATE_LIMITED,
    "api_error": FailureKind.SERVER,
    "timeout_error": FailureKind.TIMEOUT,
    "overloaded_error": FailureKind.OVERLOADED,
}
# Without a code of its own. Only the name of a failure that is final either way hangs on these words.
_TOO_LONG = "prompt is too long"


def kind_of(error: dict[str, Any], status: int) -> tuple[FailureKind, str | None]:
    """The kind of an error object, and the code or type that says so. A batch line has no status: 0."""
    details = error.get("details")
    code = text_of(details.get("error_code")) if isinstance(details, dict) else None
    kind_name = text_of(error.get("type"))
    kind = _BY_CODE.get(code or "") or _BY_TYPE.get(kind_name or "") or kind_by_status(status)
    if kind is FailureKind.REJECTED and str(error.get("message", "")).startswith(_TOO_LONG):
        kind = FailureKind.TOO_LONG
    return kind, code or kind_name
