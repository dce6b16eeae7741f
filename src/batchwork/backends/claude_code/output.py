"""The reply or the failure in what the `claude` program printed.

`is_error` and `api_error_status` are read before `subtype`, which says "success" of failures too.
"""

from typing import Any

import msgspec

from batchwork.backends._failures import kind_by_status
from batchwork.backends.claude_code.resets import in_clock_time, is_usage_limit, seconds_until_reset
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.money import nano_from_dollars
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request

INSTALL = "install it with: npm install -g @anthropic-ai/claude-code (or let BATCHWORK_CLAUDE name it)"
SIGN_IN = "run `claude` once and sign in"
SLOWER = "reduce how many run at once (--max-in-flight 2) or wait five minutes"

_SYNTHETIC = "<synthetic>"  # how the program signs what it says itself


def reply_in(stdout: bytes, stderr: bytes, code: int, request: Request, utc: float) -> Reply:
    """The reply in what one call printed.

    Raises:
        BackendError: the call failed.
    """
    messages = _messages(stdout)
    result = next((m for m in reversed(messages) if m.get("type") == "result"), None)
    if result is None:
        raise BackendError(_no_result(stdout, stderr, code))
    text = _text_of(result, messages)
    cost = result.get("total_cost_usd")  # a sum of floats: below the picos it is noise
    reply = Reply(
        text=text,
        usage=_usage(result),
        model=next(iter(result.get("modelUsage") or ()), ""),
        stop_reason=result.get("stop_reason"),
        provider_id=result.get("session_id"),
        body=stdout,
        reported_cost_nano=nano_from_dollars(round(cost, 12)) if isinstance(cost, int | float) and cost >= 0 else None,
    )
    if (result.get("is_error") or result.get("subtype") != "success") and not _is_late_budget(result, reply):
        raise BackendError(_failure(result, reply, utc, not_signed_in=_not_signed_in(result, messages)))
    if request.schema is not None and result.get("structured_output") is None:
        problem = "the program gave no structured output"
        raise BackendError(_billed(FailureKind.SCHEMA_VIOLATION, problem, "no_structured_output", reply))
    return reply


def _messages(stdout: bytes) -> list[dict[str, Any]]:
    """All messages, or the result alone: the program prints an array, older ones an object."""
    try:
        printed = msgspec.json.decode(stdout)
    except msgspec.DecodeError:
        return []
    return [m for m in (printed if isinstance(printed, list) else [printed]) if isinstance(m, dict)]


def _text_of(result: dict[str, Any], messages: list[dict[str, Any]]) -> str:
    if result.get("structured_output") is not None:
        return msgspec.json.encode(result["structured_output"]).decode()
    final = result.get("result")
    if isinstance(final, str) and result.get("is_error"):
        return final
    spoken: dict[str, str] = {}  # by message: one message may come in pieces
    for event in messages:
        message = event.get("message")
        if event.get("type") != "assistant" or not isinstance(message, dict) or message.get("model") == _SYNTHETIC:
            continue
        texts = [str(b.get("text", "")) for b in message.get("content") or () if b.get("type") == "text"]
        name = str(message.get("id"))
        spoken[name] = spoken.get(name, "") + "".join(texts)
    # At max_tokens the program has the model go on in a further message, and calls that one the result.
    if not isinstance(final, str) or sum(map(bool, spoken.values())) > 1:
        return "".join(spoken.values())
    return final


def _is_late_budget(result: dict[str, Any], reply: Reply) -> bool:
    """The program looks at its budget after the call: then the answer is there, whole and paid for."""
    ended = result.get("stop_reason") in ("end_turn", "stop_sequence", "tool_use")
    return result.get("subtype") == "error_max_budget_usd" and ended and bool(reply.text)


def _not_signed_in(result: dict[str, Any], messages: list[dict[str, Any]]) -> bool:
    """Whether it found no login, or one that does not hold, and called nobody: there is no HTTP status then."""
    stated = any(event.get("error") == "authentication_failed" for event in messages)
    return stated or "run /login" in str(result.get("result")).lower()  # an older one prints the result alone


def _usage(result: dict[str, Any]) -> Usage:
    stated = result.get("usage") or {}
    stated = {**(stated.get("cache_creation") or {}), **stated}

    def count(name: str) -> int:
        value = stated.get(name)
        return value if isinstance(value, int) and value > 0 else 0

    created, read = count("cache_creation_input_tokens"), count("cache_read_input_tokens")
    hour = min(created, count("ephemeral_1h_input_tokens"))
    return Usage(
        input_tokens=count("input_tokens") + created + read,
        output_tokens=count("output_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=created - hour,
        cache_write_1h_tokens=hour,
    )


def _failure(result: dict[str, Any], reply: Reply, utc: float, *, not_signed_in: bool) -> Failure:
    message = str(result.get("result") or "; ".join(map(str, result.get("errors") or ())) or "no explanation")
    status = result.get("api_error_status")
    status = status if isinstance(status, int) else None
    subtype, stop = str(result.get("subtype")), result.get("stop_reason")
    if is_usage_limit(message):
        wait_s = seconds_until_reset(message, utc)
        return Failure(
            kind=FailureKind.QUOTA,
            message=in_clock_time(message),
            retry_after_s=wait_s,
            status=status,
            error_code="usage_limit",
        )
    if stop == "refusal":
        return _billed(FailureKind.REFUSED, message, "refusal", reply)
    if stop == "max_tokens" or result.get("terminal_reason") == "max_output_tokens":
        return _billed(FailureKind.TRUNCATED, message, "max_tokens", reply)
    if result.get("terminal_reason") == "prompt_too_long":
        return Failure(kind=FailureKind.TOO_LONG, message=message, status=status, error_code="prompt_too_long")
    if status is not None:
        kind = kind_by_status(status)
        if kind is FailureKind.RATE_LIMITED:
            message = f"Rate limit exceeded: {SLOWER}. ({message})"
        elif kind is FailureKind.AUTH:
            message = f"{message}: {SIGN_IN}, or give a valid key"
        return Failure(kind=kind, message=message, status=status, error_code=f"http_{status}")
    if not_signed_in:
        problem = f"{message}: {SIGN_IN}, or give a valid key"
        return Failure(kind=FailureKind.AUTH, message=problem, error_code="authentication_failed")
    if subtype == "error_max_structured_output_retries":
        return _billed(FailureKind.SCHEMA_VIOLATION, message, subtype, reply)
    if subtype == "error_max_budget_usd":
        return _billed(FailureKind.TRUNCATED, message, subtype, reply)
    if reply.usage is not None and reply.usage.output_tokens:
        return _billed(FailureKind.SERVER, message, subtype, reply)
    return Failure(kind=FailureKind.SERVER, message=message, error_code=subtype)


def _billed(kind: FailureKind, message: str, code: str, reply: Reply) -> Failure:
    return Failure(kind=kind, message=message, error_code=code, reply=reply, usage=reply.usage)


def _no_result(stdout: bytes, stderr: bytes, code: int) -> Failure:
    """It printed no result: it did not start, or it died."""
    words = (stderr.strip() or stdout.strip()).decode("utf-8", "replace")[:600] or "it printed nothing"
    died = code < 0  # by a signal: whatever it had sent may be billed
    return Failure(
        kind=FailureKind.SERVER if died else FailureKind.REJECTED,
        message=f"the claude program ended with code {code}: {words}",
        error_code="no_result",
        unconfirmed=died,
    )
