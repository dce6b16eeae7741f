"""Find every date in a text, in all common forms, and decide which of two numbers is the day.

The order of day and month is a habit of the whole text: a form hint ("DD/MM/YYYY") settles it, then dates that can be
read only one way, at last the country that currency and words point to. When nothing settles it both readings stand
with a weight below one half, because then nobody can know.
"""

import re
from collections.abc import Collection, Iterator
from datetime import date, datetime, time, timedelta

from msgspec import Struct

from batchwork.evidence.numbers import Mention, Reading
from batchwork.evidence.words import PATTERNS, VOCABULARY, fold

_PATTERNS: dict[str, str] = PATTERNS["dates"]

MONTHS: dict[str, int] = {
    fold(name): month for month, names in enumerate(VOCABULARY["months"], start=1) for name in names.split()
}
_MONTH = r"(?P<month>[^\W\d_]{3,10})\.?"
_ISO = re.compile(_PATTERNS["iso"])
_NUMERIC = re.compile(_PATTERNS["numeric"])
_DAY_FIRST = re.compile(_PATTERNS["day_first"])
_MONTH_FIRST = re.compile(_PATTERNS["month_first"])
_YEARS = re.compile(r"[12'’](?<!\d.)(?:(?:(?<=1)[6-9]|(?<=2)[0-2])\d|(?<=['’])\d)\d(?!\d)")
_LONGEST = 45  # characters from the day or the month to the year's end
_MONTH_YEAR = re.compile(rf"(?<![^\W_]){_MONTH}[ \u00a0]?,?[ \u00a0]?(?P<year>(?:19|20)\d\d)\Z", re.IGNORECASE)
_MONTH_NUMBER = re.compile(_PATTERNS["month_number"])
_YEARLESS = re.compile(_PATTERNS["yearless"])
_WORDS = re.compile(r"[^\W\d_]{3,10}")
_COMPACT = re.compile(_PATTERNS["compact"])

_DAY_MONTH_HINT = re.compile(
    r"(?i)\b(?:(?:dd?|tt?|jj?|gg?)\s?[-/.]\s?mm?\s?[-/.]\s?(?:yy|jj|aa)|day (?:first|before month)|day, month)"
)
_MONTH_DAY_HINT = re.compile(r"(?i)\bmm?\s?[-/.]\s?dd?\s?[-/.]\s?yy")
_DAY_MONTH_LANDS, _MONTH_DAY_LANDS = (re.compile(VOCABULARY["lands"][order]) for order in ("day_month", "month_day"))


class Dates:
    """All dates of a text; `partial` are months with a year, for values that say no day."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._yearless: dict[tuple[int, int], list[tuple[int, int]]] | None = None
        self.partial: list[tuple[int, int, int, int]] = []  # start, end, year, month
        for match in _MONTH_NUMBER.finditer(text):
            month, year = match.group("one", "two") if match["mark"] == "/" else match.group("two", "one")
            if len(year) == 4 and year[:2] in ("19", "20") and len(month) < 3 and 1 <= int(month) <= 12:
                self.partial.append((match.start(), match.end(), int(year), int(month)))
        certain = [*self._plain(), *self._named()]
        numeric = list(_NUMERIC.finditer(text))
        self.day_first = self._order(numeric, {mention.readings[0].value for mention in certain})
        self.mentions = sorted(
            _without_overlaps([*certain, *self._numeric(numeric)]), key=lambda mention: mention.start
        )

    def without_year(self, day: date) -> list[tuple[int, int]]:
        """Where this day and month stand without a year, in a text that names the year elsewhere."""
        if not re.search(rf"(?<!\d){day.year}(?!\d)", self._text):
            return []
        if self._yearless is None:
            self._yearless = {}
            for match in _YEARLESS.finditer(self._text):
                month = MONTHS.get(fold(match["month"] or match["month2"]))
                if month is not None:
                    key = (month, int(match["day"] or match["day2"]))
                    self._yearless.setdefault(key, []).append((match.start(), match.end()))
        return self._yearless.get((day.month, day.day), [])

    def _plain(self) -> Iterator[Mention]:
        """Dates in figures with the year first, with or without marks."""
        for pattern, weight in ((_ISO, 1.0), (_COMPACT, 0.6)):
            for match in pattern.finditer(self._text):
                day = _date(match["year"], match["month"], match["day"])
                if day is not None:
                    yield Mention(match.start(), match.end(), (Reading(day, weight),))

    def _named(self) -> list[Mention]:
        """Dates with the month's name: looked for before every year, because years are few and words are many."""
        found = []
        for year in _YEARS.finditer(self._text):
            low = max(0, year.start() - _LONGEST)
            if not any(fold(word) in MONTHS for word in _WORDS.findall(self._text, low, year.start())):
                continue
            self._add_month(low, year.end())
            for pattern in (_DAY_FIRST, _MONTH_FIRST):
                match = pattern.search(self._text, low, year.end())
                month = MONTHS.get(fold(match["month"])) if match else None
                if match is None or month is None or match.group().count("\n") > 1:
                    continue
                day = _date(match["year"], str(month), match["day"])
                if day is not None:
                    found.append(Mention(match.start(), match.end(), (Reading(day),)))
        return found

    def _add_month(self, low: int, high: int) -> None:
        """A month with the year that ends here."""
        match = _MONTH_YEAR.search(self._text, low, high)
        month = MONTHS.get(fold(match["month"])) if match else None
        if match is not None and month is not None:
            self.partial.append((match.start(), match.end(), int(match["year"]), month))

    def _numeric(self, matches: list[re.Match[str]]) -> list[Mention]:
        found = []
        for match in matches:
            day_first = _date(match["year"], match["b"], match["a"])
            month_first = _date(match["year"], match["a"], match["b"])
            order = self.day_first
            if "." in match["mark"] and order is None:
                order = True  # with points the day comes first everywhere
            readings: tuple[Reading, ...]
            if day_first is None or month_first is None or day_first == month_first:
                only = day_first or month_first
                readings = (Reading(only),) if only else ()
            elif order is None:
                readings = (Reading(day_first, 0.45), Reading(month_first, 0.45))
            else:
                readings = (Reading(day_first if order else month_first),)
            if readings:
                found.append(Mention(match.start(), match.end(), readings))
        return found

    def _order(self, numeric: list[re.Match[str]], certain: Collection[object]) -> bool | None:
        """True for day first, False for month first, None when nothing tells."""
        if not numeric:
            return None
        if _DAY_MONTH_HINT.search(self._text):
            return True
        if _MONTH_DAY_HINT.search(self._text):
            return False
        votes = 0.0
        for match in numeric:
            day_first = _date(match["year"], match["b"], match["a"])
            month_first = _date(match["year"], match["a"], match["b"])
            if (day_first is None) != (month_first is None):
                votes += 3 if day_first else -3
            elif day_first and day_first != month_first and "." in match["mark"]:
                votes += 3
            elif day_first != month_first:  # the same day may stand elsewhere in full
                votes += (day_first in certain) - (month_first in certain)
        if votes:
            return votes > 0
        day_month, month_day = len(_DAY_MONTH_LANDS.findall(self._text)), len(_MONTH_DAY_LANDS.findall(self._text))
        if day_month != month_day:
            return day_month > month_day
        return None


def _without_overlaps(mentions: list[Mention]) -> list[Mention]:
    """The longer one where two patterns read the same place."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda mention: (mention.start, -mention.end)):
        if kept and mention.start < kept[-1].end:
            if mention.end - mention.start > kept[-1].end - kept[-1].start:
                kept[-1] = mention
            continue
        kept.append(mention)
    return kept


def _date(year: str, month: str, day: str) -> date | None:
    number = int(year.lstrip("'’"))
    if number < 100:
        number += 2000 if number < 70 else 1900
    try:
        return date(number, int(month), int(day))
    except ValueError:
        return None


_TIME = re.compile(_PATTERNS["time"])


class TimeOfDay(Struct, frozen=True, gc=False):
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
