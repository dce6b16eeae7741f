"""Read what response headers say about waiting and rate limits, in both families. Cheap: it runs for every answer."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from multidict import istr

from batchwork.core.reply import Limit, ReportedLimits

Headers = Mapping[str, str]

# Interned once: looking up an istr skips the folding of its case.
_RETRY_AFTER_MS, _RETRY_AFTER = istr("retry-after-ms"), istr("retry-after")
_DATE = istr("date")
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


def duration_s(text: str, _utc: float = 0.0) -> float | None:
    """Seconds of a duration like `1h2m3s`, `2m59.56s`, `120ms` or plain `12`."""
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        return _number(text)
    hours, minutes, seconds, millis = match.groups()
    return int(hours or 0) * 3600.0 + int(minutes or 0) * 60.0 + float(seconds or 0) + float(millis or 0) / 1000.0


def moment(stated: float | str | None) -> float | None:
    """Seconds since 1970 of a moment, whether it is told so or as a date; None when it is not told readably."""
    try:
        return datetime.fromisoformat(stated).timestamp() if isinstance(stated, str) else stated
    except ValueError:
        return None


def _until(text: str, utc: float) -> float | None:
    reset = moment(text)
    return None if reset is None else max(0.0, reset - utc)


class LimitHeaders:
    """One family of rate-limit headers: their names, and how it writes the time of a reset."""

    def __init__(self, template: str, limits: Mapping[str, str], reset_s: Callable[[str, float], float | None]) -> None:
        def name(what: str, part: str) -> istr:
            return istr(template.format(what=what, part=part))

        self.names = {
            field: (name(what, "limit"), name(what, "remaining"), name(what, "reset")) for field, what in limits.items()
        }
        self._template, self._limits, self._reset_s = template, limits, reset_s

    def only(self, limits: Iterable[str]) -> "LimitHeaders":
        """Those of the family that state one of these limits."""
        return LimitHeaders(self._template, {field: self._limits[field] for field in limits}, self._reset_s)

    def read(self, headers: Headers, utc: Callable[[], float]) -> ReportedLimits | None:
        """The limits that an answer states; None when it states none."""
        stated = {}
        for field, (limit, remaining, reset) in self.names.items():
            most, left = headers.get(limit), headers.get(remaining)
            if most is None and left is None:
                continue
            per_minute = None if most is None else _number(most)
            if most is not None and not per_minute:
                continue  # some servers say 0 or -1 for a limit they do not have
            text = headers.get(reset)
            stated[field] = Limit(
                per_minute=per_minute,
                remaining=None if left is None else _number(left),
                reset_s=None if text is None else self._reset_s(text, utc()),
            )
        if "input_tokens" in stated or "output_tokens" in stated:
            stated.pop("tokens", None)  # it only repeats whichever of them is tightest
        return ReportedLimits(**stated) if stated else None


# Its reset is a moment.
ANTHROPIC_LIMITS = LimitHeaders(
    "anthropic-ratelimit-{what}-{part}",
    {"requests": "requests", "input_tokens": "input-tokens", "output_tokens": "output-tokens", "tokens": "tokens"},
    _until,
)
# Its reset is a duration like `6m0s`, at Azure plain seconds.
OPENAI_LIMITS = LimitHeaders("x-ratelimit-{part}-{what}", {"requests": "requests", "tokens": "tokens"}, duration_s)


# Of a provider that tells its limits nowhere.
NO_LIMITS = LimitHeaders("", {}, duration_s)


class LimitsReader:
    """Reads the limits of every answer, and gives them again only when there is news.

    While the same limits hold and more than half of each is left, an answer tells the gate nothing that it does not
    pace by already; not repeating it saves a tenth of what a call costs.
    """

    def __init__(self, family: LimitHeaders, utc: Callable[[], float]) -> None:
        self._family = family
        self._utc = utc
        self._known: list[tuple[istr, istr, str | None, float]] = []

    def news(self, headers: Headers) -> ReportedLimits | None:
        """The limits, when they have changed or less than half of one is left."""
        if self._known and self._nothing_new(headers):
            return None
        limits = self._family.read(headers, self._utc)
        if limits is not None:
            limit_texts = ((limit, left, headers.get(limit)) for limit, left, _ in self._family.names.values())
            self._known = [(limit, left, text, (_number(text or "") or 0.0) / 2) for limit, left, text in limit_texts]
        return limits

    def _nothing_new(self, headers: Headers) -> bool:
        for limit, remaining, text, half in self._known:
            if headers.get(limit) != text:
                return False
            if text is not None and ((left := headers.get(remaining)) is None or (_number(left) or 0.0) < half):
                return False
        return True


def _number(text: str) -> float | None:
    """A finite number of at least 0; Azure says -1 for none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0.0 <= value < math.inf else None
