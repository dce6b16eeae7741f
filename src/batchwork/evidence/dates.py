"""Find every date in a text, in all common forms, and decide which of two numbers is the day.

The order of day and month is a habit of the whole text: a form hint ("DD/MM/YYYY") settles it, then dates that can be
read only one way, at last the country that currency and words point to. When nothing settles it both readings stand
with a weight below one half, because then nobody can know.
"""

import re
from collections.abc import Collection, Iterator
from datetime import date, datetime, time, timedelta
from itertools import chain

from batchwork.evidence.numbers import Mention, Reading
from batchwork.evidence.words import PATTERNS, VOCABULARY, fold

_PATTERNS: dict[str, str] = PATTERNS["dates"]
_FORMS = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}
_LANDS = {order: re.compile(signs) for order, signs in VOCABULARY["lands"].items()}
TIME, TIME_BEHIND = (re.compile(_PATTERNS[lead] + _PATTERNS["time"]) for lead in ("no_time", "to_time"))
_MONTHS = {fold(name): month for month, names in enumerate(VOCABULARY["months"], start=1) for name in names.split()}
_LONGEST = 45  # characters from the day or the month to the year


class Dates:
    """All dates of a text; `partial` are months with a year, for values that say no day."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.partial: list[tuple[int, int, int, int]] = []  # start, end, year, month
        self._figures: list[tuple[re.Match[str], date | None, date | None]] = []  # day first, month first
        certain = [*self._plain(), *self._named()]
        self._day_first = self._order({mention.readings[0].value for mention in certain})
        self.mentions: list[Mention] = []
        for mention in sorted([*certain, *self._unordered()], key=lambda mention: (mention.start, -mention.end)):
            if not self.mentions or mention.start >= self.mentions[-1].end:
                self.mentions.append(mention)

    def without_year(self, day: date) -> list[tuple[int, int]]:
        """Where this day and month stand without a year, in a text that names the year elsewhere."""
        if not re.search(rf"(?<!\d){day.year}(?!\d)", self._text):
            return []
        names = "|".join(VOCABULARY["months"][day.month - 1].split())
        pattern = _PATTERNS["yearless"].replace("MONTH", names).replace("DAY", f"0?{day.day}")
        return [match.span() for match in re.finditer(pattern, self._text)]

    def _plain(self) -> Iterator[Mention]:
        """Dates in figures with the year first; others are kept for when their order is known."""
        for match in chain(_FORMS["figures"].finditer(self._text), _FORMS["compact"].finditer(self._text)):
            one, two, three = match.group("one", "two", "three")
            if three is None:
                month, year = (one, match["other"]) if match["sole"] == "/" else (match["other"], one)
                if len(year) == 4 and year[:2] in ("19", "20") and len(month) < 3 and 1 <= int(month) <= 12:
                    self.partial.append((*match.span(), int(year), int(month)))
            elif len(one) == 4:
                day = _date(one, two, three)
                if day is not None:
                    yield Mention(*match.span(), (Reading(day, 1.0 if match["mark"] else 0.6),))
            elif len(three) > 1:  # 4.6.1 is a version
                self._figures.append((match, _date(three, two, one), _date(three, one, two)))

    def _named(self) -> Iterator[Mention]:
        """Dates with the month's name: looked for before every year, because years are few and words are many."""
        for year in _FORMS["years"].finditer(self._text):
            low = max(0, year.start() - _LONGEST)
            names = _FORMS["name"].finditer(self._text, low, year.start())
            words = [word for word in names if fold(word[0]) in _MONTHS]
            behind = _FORMS["to_year"].fullmatch(self._text, words[-1].end(), year.start()) if words else None
            if behind is None:
                continue
            name, month = words[-1], _MONTHS[fold(words[-1][0])]
            start, told = name.start(), behind["day"]
            if told is None:
                if len(year[0]) == 4:
                    self.partial.append((start, year.end(), int(year[0]), month))
                before = _FORMS["to_month"].search(self._text, low, start)
                start, told = (before.start(), before["day"]) if before else (start, None)
            day = _date(year[0], str(month), told) if told else None
            if day is not None and self._text.count("\n", start, year.end()) < 2:
                yield Mention(start, year.end(), (Reading(day),))

    def _unordered(self) -> Iterator[Mention]:
        """Dates in figures with the year last."""
        for match, day_first, month_first in self._figures:
            days = [day for day in dict.fromkeys((day_first, month_first)) if day is not None]
            if len(days) == 2 and self._day_first is not None:
                days = days[:1] if self._day_first else days[1:]
            if days:
                weight = 1.0 if len(days) == 1 else 0.45
                yield Mention(*match.span(), tuple(Reading(day, weight) for day in days))

    def _order(self, certain: Collection[object]) -> bool | None:
        """True for day first, False for month first, None when nothing tells."""
        if not any(one and two and one != two for _, one, two in self._figures):
            return None
        votes, hints = 0, self._lead(_FORMS)
        for match, day_first, month_first in self._figures:
            if day_first is None or month_first is None:
                votes += 3 * ((day_first is not None) - (month_first is not None))
            elif day_first != month_first:  # the same day may stand elsewhere in full
                votes += 3 if "." in match["mark"] else (day_first in certain) - (month_first in certain)
        votes = hints or votes or self._lead(_LANDS)
        return votes > 0 if votes else None

    def _lead(self, forms: dict[str, re.Pattern[str]]) -> int:
        return len(forms["day_month"].findall(self._text)) - len(forms["month_day"].findall(self._text))


def _date(year: str, month: str, day: str) -> date | None:
    number = int(year.lstrip("'’"))
    if number < 100:
        number += 2000 if number < 70 else 1900
    try:
        return date(number, int(month), int(day))
    except ValueError:
        return None


def is_time(found: re.Match[str], moment: datetime | time) -> bool:
    """Whether a time as it stands is the moment's, as exactly as the text tells it."""
    hour, zone = int(found["hour"]), found["zone"]
    if found["half"] and hour <= 12:
        hour = hour % 12 + (12 if found["half"].lower() == "p" else 0)
    told = hour, int(found["minute"] or 0), int(found["second"] or moment.second)
    if told != (moment.hour, moment.minute, moment.second):
        return False
    if not zone or moment.utcoffset() is None:
        return True
    ahead = timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[-2:])) if zone[0] in "+-" else timedelta()
    return moment.utcoffset() == ahead
