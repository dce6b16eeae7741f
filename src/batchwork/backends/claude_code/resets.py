"""Recognise a plan's usage limit in the program's words, and when it ends. It says so in prose alone.

`You've hit your session limit · resets 3pm (Europe/Berlin)`, `... resets Nov 17, 3:30pm (UTC)`, and of older
versions `Claude AI usage limit reached|1763222400`.
"""

import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_LIMIT = re.compile(
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


def is_usage_limit(message: str) -> bool:
    """Whether the program says that the plan is used up for now."""
    return _LIMIT.search(message) is not None


def seconds_until_reset(message: str, utc: float) -> float | None:
    """Seconds until the limit ends; None when it does not say."""
    if (stamp := _STAMP.search(message)) is not None:
        return max(0.0, _moment(stamp) - utc)
    match = _RESETS.search(message)
    if match is None:
        return None
    try:
        return _until(match, utc)
    except ValueError:  # a thirtieth of February
        return None


def in_clock_time(message: str) -> str:
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
