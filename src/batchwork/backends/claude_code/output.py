"""The reply or the failure in what the `claude` program printed.

`is_error` and `api_error_status` are read before `subtype`, which says "success" of failures too.
"""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from batchwork.backends._failures import kind_by_status
from batchwork.core.errors import BackendError
from batchwork.core.failure import Failure, FailureKind
from batchwork.core.money import nano_from_dollars
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request

INSTALL = "install it with: npm install -g @anthropic-ai/claude-code (or let BATCHWORK_CLAUDE name it)"
SIGN_IN = "run `claude` once and sign in"
SLOWER = "reduce how many run at once (--max-in-flight 2) or wait five minutes"

_SYNTHETIC = "<synthetic>"  # how the program signs what it says itself
USAGE_LIMIT = re.compile(
    r"usage limit reached|You've (?:hit|reached) your|You're out of usage|org is out of usage|limit reached \S+ resets",
    re.IGNORECASE,
)
_STAMP = re.compile(r"\|(\d{10,13})\b")
_RESETS = re.compile(
    r"resets (?:at )?(?:(?P<month>[A-Z][a-z]{2}) (?P<day>\d{1,2}),? (?:(?P<year>\d{4}),? )?(?:at )?)?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))? ?(?P<half>am|pm)(?: \((?P<zone>[\w/+-]+)\))?",
    re.IGNORECASE,
)
_MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"


def reply_in(stdout: bytes, stderr: bytes, code: int, request: Request, utc: float) -> Reply:
    """The reply in what one call printed, or the `BackendError` that it is."""
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
    if USAGE_LIMIT.search(message):
        wait_s, text = seconds_until_reset(message, utc), _in_clock_time(message)
        quota = FailureKind.QUOTA
        return Failure(kind=quota, message=text, retry_after_s=wait_s, status=status, error_code="usage_limit")
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


def seconds_until_reset(message: str, utc: float) -> float | None:
    """Seconds until the usage limit of a plan ends, which is stated in prose alone; None when it is not.

    `You've hit your session limit · resets 3pm (Europe/Berlin)`, `... resets Nov 17, 3:30pm (UTC)`, and of older
    versions `Claude AI usage limit reached|1763222400`.
    """
    if (stamp := _STAMP.search(message)) is not None:
        return max(0.0, _moment(stamp) - utc)
    match = _RESETS.search(message)
    if match is None:
        return None
    try:
        return _until(match, utc)
    except ValueError:  # a thirtieth of February
        return None


def _in_clock_time(message: str) -> str:
    """The message with a moment that it counts in seconds as people say it, by the machine's own clock."""
    return _STAMP.sub(
        lambda stamp: f", until {datetime.fromtimestamp(_moment(stamp)).astimezone():%Y-%m-%d %H:%M %Z}", message
    )


def _moment(stamp: re.Match[str]) -> float:
    """The second that a stamp means; some are in milliseconds."""
    moment = float(stamp.group(1))
    return moment / 1000.0 if moment > 1e11 else moment


def _until(match: re.Match[str], utc: float) -> float:
    now = datetime.fromtimestamp(utc, _zone(match["zone"]))
    hour = int(match["hour"]) % 12 + (12 if match["half"].lower() == "pm" else 0)
    then = now.replace(hour=hour, minute=int(match["minute"] or 0), second=0, microsecond=0)
    if match["month"]:
        month = _MONTHS.index(match["month"].lower()) // 3 + 1
        then = then.replace(year=int(match["year"] or now.year), month=month, day=int(match["day"]))
        if not match["year"] and then < now - timedelta(days=1):
            then = then.replace(year=now.year + 1)
    elif then <= now:
        then += timedelta(days=1)  # a time of day that is past is tomorrow's
    return max(0.0, then.timestamp() - utc)


def _zone(name: str | None) -> tzinfo | None:
    """The zone it names; the machine's own when it names none, since that is where the program runs."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
