"""Read what response headers say about waiting and rate limits, in both families. Cheap: it runs for every answer."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from multidict import istr

from batchwork.core.reply import Limit, Limits

Headers = Mapping[str, str]

# Interned once: looking up an istr skips the folding of its case.
_RETRY_AFTER_MS, _RETRY_AFTER = istr("retry-after-ms"), istr("retry-after")
_DATE = istr("date")
_PARTS = ("limit", "remaining", "reset")


def _family(template: str, what: str) -> tuple[istr, istr, istr]:
    limit, remaining, reset = (istr(template.format(part=part, what=what)) for part in _PARTS)
    return limit, remaining, reset


_ANTHROPIC = "anthropic-ratelimit-{what}-{part}"
_ANTHROPIC_REQUESTS = _family(_ANTHROPIC, "requests")
_ANTHROPIC_INPUT = _family(_ANTHROPIC, "input-tokens")
_ANTHROPIC_OUTPUT = _family(_ANTHROPIC, "output-tokens")
_ANTHROPIC_TOKENS = _family(_ANTHROPIC, "tokens")
_OPENAI_REQUESTS = _family("x-ratelimit-{part}-{what}", "requests")
_OPENAI_TOKENS = _family("x-ratelimit-{part}-{what}", "tokens")

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")


def retry_after_s(headers: Headers, utc: float) -> float | None:
    """Seconds the provider asks us to wait: a number, milliseconds or a date; None when it does not say."""
    if (text := headers.get(_RETRY_AFTER_MS)) is not None and (wait := _number(text)) is not None:
        return wait / 1000.0
    text = headers.get(_RETRY_AFTER)
    if text is None or (wait := _number(text)) is not None:
        return None if text is None else wait
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - utc)
    except (ValueError, OverflowError):
        return None


def ahead_s(headers: Headers, utc: float) -> float:
    """How far our clock is ahead of the one that an answer tells; 0 when it does not tell."""
    try:
        return utc - parsedate_to_datetime(headers.get(_DATE, "")).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def anthropic_limits(headers: Headers, utc: float) -> Limits | None:
    """The `anthropic-ratelimit-` family; its reset is a moment."""
    requests = _limit(headers, _ANTHROPIC_REQUESTS, utc)
    inputs = _limit(headers, _ANTHROPIC_INPUT, utc)
    outputs = _limit(headers, _ANTHROPIC_OUTPUT, utc)
    if inputs is not None or outputs is not None:  # then `-tokens-` only repeats whichever of them is tightest
        return Limits(requests=requests, input_tokens=inputs, output_tokens=outputs)
    tokens = _limit(headers, _ANTHROPIC_TOKENS, utc)
    return None if requests is None and tokens is None else Limits(requests=requests, tokens=tokens)


def openai_limits(headers: Headers) -> Limits | None:
    """The `x-ratelimit-` family; its reset is a duration like `6m0s`, at Azure plain seconds."""
    requests = _limit(headers, _OPENAI_REQUESTS, None)
    tokens = _limit(headers, _OPENAI_TOKENS, None)
    if requests is None and tokens is None:
        return None
    return Limits(requests=requests, tokens=tokens)


class LimitsReader:
    """Reads the limits of every answer, and says them again only when there is news.

    While the same limits hold and more than half of each is left, an answer tells the gate nothing that it does not
    pace by already; not saying so saves a tenth of what a call costs.
    """

    __slots__ = ("_families", "_known", "_read")

    def __init__(self, families: tuple[tuple[istr, istr, istr], ...], read: Callable[[Headers], Limits | None]) -> None:
        self._families = families
        self._read = read
        self._known: list[tuple[istr, istr, str | None, float]] = []

    @classmethod
    def anthropic(cls, utc: Callable[[], float]) -> LimitsReader:
        """Of the `anthropic-ratelimit-` family."""
        families = (_ANTHROPIC_REQUESTS, _ANTHROPIC_INPUT, _ANTHROPIC_OUTPUT, _ANTHROPIC_TOKENS)
        return cls(families, lambda headers: anthropic_limits(headers, utc()))

    @classmethod
    def openai(cls) -> LimitsReader:
        """Of the `x-ratelimit-` family."""
        return cls((_OPENAI_REQUESTS, _OPENAI_TOKENS), openai_limits)

    def news(self, headers: Headers) -> Limits | None:
        """The limits, when they have changed or less than half of one is left."""
        if self._known and self._nothing_new(headers):
            return None
        limits = self._read(headers)
        if limits is not None:
            limit_texts = ((limit, remaining, headers.get(limit)) for limit, remaining, _ in self._families)
            self._known = [(name, left, text, (_number(text or "") or 0.0) / 2) for name, left, text in limit_texts]
        return limits

    def _nothing_new(self, headers: Headers) -> bool:
        for limit, remaining, text, half in self._known:
            if headers.get(limit) != text:
                return False
            if text is not None and ((left := headers.get(remaining)) is None or (_number(left) or 0.0) < half):
                return False
        return True


def _limit(headers: Headers, names: tuple[istr, istr, istr], utc: float | None) -> Limit | None:
    limit, remaining = headers.get(names[0]), headers.get(names[1])
    if limit is None and remaining is None:
        return None
    per_minute = _number(limit) if limit is not None else None
    if limit is not None and not per_minute:
        return None  # some servers say 0 or -1 for a limit they do not have
    left = _number(remaining) if remaining is not None else None
    reset_s = None
    if (reset := headers.get(names[2])) is not None:
        reset_s = duration_s(reset) if utc is None else _until(reset, utc)
    return Limit(per_minute=per_minute, remaining=left, reset_s=reset_s)


def duration_s(text: str) -> float | None:
    """Seconds of a duration like `1h2m3s`, `2m59.56s`, `120ms` or plain `12`."""
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        return _number(text)
    hours, minutes, seconds, millis = match.groups()
    return int(hours or 0) * 3600.0 + int(minutes or 0) * 60.0 + float(seconds or 0) + float(millis or 0) / 1000.0


def _until(text: str, utc: float) -> float | None:
    try:
        return max(0.0, datetime.fromisoformat(text).timestamp() - utc)
    except ValueError:
        return None


def _number(text: str) -> float | None:
    """A finite number of at least 0; Azure says -1 for none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value < math.inf else None
