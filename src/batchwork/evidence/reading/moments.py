"""The time of day that stands right behind a date: "2025-05-21T01:00:00Z", "21 May 2025, 1:00 pm"."""

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta

_TIME = re.compile(
    r"(?:T|,?[ \t\u00a0]+(?:(?:at|um|à|às|alle|om|kl\.?)[ \t\u00a0]+)?)"
    r"(?P<hour>[01]?\d|2[0-3])[:h](?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:[.,]\d{1,9})?)?(?!\d)"
    r"(?:[ \u00a0]?(?P<half>[ap])\.?m\b\.?)?(?:[ \u00a0]?(?P<zone>Z\b|UTC\b|GMT\b|[+-]\d\d:?\d\d(?!\d)))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """A time as it stands; `offset` is None when no zone is told."""

    end: int
    hour: int
    minute: int
    second: int | None
    offset: timedelta | None

    def says(self, moment: datetime) -> bool:
        """Whether it is the moment's time, as exactly as the text tells it."""
        if self.offset is not None and moment.utcoffset() is not None and self.offset != moment.utcoffset():
            return False
        told = time(self.hour, self.minute, self.second or 0)
        wanted = moment.time().replace(microsecond=0)
        return told == (wanted if self.second is not None else wanted.replace(second=0))


def time_behind(text: str, end: int) -> TimeOfDay | None:
    """The time right behind the date that ends here, if there is one."""
    found = _TIME.match(text, end)
    if found is None:
        return None
    hour = int(found["hour"])
    if found["half"] and hour <= 12:
        hour = hour % 12 + (12 if found["half"].lower() == "p" else 0)
    second = int(found["second"]) if found["second"] else None
    return TimeOfDay(found.end(), hour, int(found["minute"]), second, _offset(found["zone"]))


def _offset(zone: str | None) -> timedelta | None:
    if zone is None:
        return None
    if zone[0] not in "+-":
        return timedelta()
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    return timedelta(hours=hours, minutes=minutes) * (-1 if zone[0] == "-" else 1)
