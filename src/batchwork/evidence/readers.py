"""A value -> every span of a text that says it, by its type; the one place that decides what "says" means.

Numbers are compared by what they mean in every common notation, dates in full or as far as both sides tell them,
strings whatever their case, spacing, hyphenation and dashes. Booleans are another matter (`booleans`).
"""

import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from batchwork.evidence.dates import Dates, says_time
from batchwork.evidence.layout import Layout
from batchwork.evidence.numbers import Numbers
from batchwork.evidence.numerals import Mention, Reading
from batchwork.evidence.scales import Scales
from batchwork.evidence.strings import TextIndex
from batchwork.evidence.thresholds import MOST_PLACES, READING_UNSETTLED
from batchwork.evidence.words import VOCABULARY

Span = tuple[int, int]
FIGURES = frozenset({"number", "money", "percent", "date"})
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?")
_ISO_MONTH = re.compile(r"(\d{4})-(\d{2})")
_PLAIN_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
ALIASES: dict[str, tuple[str, ...]] = {
    short.lower(): tuple(names.split("|")) for short, names in VOCABULARY["aliases"].items()
}
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "CAD": "CA$", "AUD": "A$"}
_LONGEST_WORD, _LONGEST_DATE = 60, 40  # characters of a value that is looked for in other clothes
_CLOCK = re.compile(r"(\d\d):(\d\d)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value is said, read in one of the ways in which that can be read."""

    span: Span
    kind: str  # number, money, percent, date, id, text, symbol, answer
    weight: float = 1.0
    exact: bool = True
    reading: str = "plain"

    @property
    def start(self) -> int:
        """Where it starts."""
        return self.span[0]

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.span[1]


class Source:
    """One text, ready to be asked: its layout, numbers, dates and tokens, each found once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.layout = Layout(text)
        self.dates = Dates(self.layout.plain)
        self.numbers = Numbers(self.layout.plain, [(day.start, day.end) for day in self.dates.mentions])
        self.index = TextIndex(self.layout)
        self._scales = Scales(self.layout)
        self._days: dict[date, list[tuple[Mention, Reading]]] = {}
        for mention in self.dates.mentions:
            for reading in mention.readings:
                if isinstance(reading.value, date):
                    self._days.setdefault(reading.value, []).append((mention, reading))

    def places(self, value: Any) -> list[Place]:
        """The places that say a value; beyond a few hundred they are not looked at, nobody could tell them apart."""
        return self._places(value)[:MOST_PLACES]

    def _places(self, value: Any) -> list[Place]:
        if value is None or isinstance(value, bool | bytes):
            return []
        if isinstance(value, int | float | Decimal):
            return self._number_places(value)
        if isinstance(value, datetime):
            return self._moment_places(value)
        if isinstance(value, date):
            return self._date_places(value)
        if isinstance(value, time):
            return self._time_places(value)
        return self._string_places((value if isinstance(value, str) else str(value)).strip())

    def _number_places(self, value: Any) -> list[Place]:
        numbers = [number for number in (_decimal(value, exact=True), _decimal(value)) if number is not None]
        if not numbers:
            return []
        number = numbers[0]
        found: list[Place] = []
        sizes = {abs(other) for other in numbers}
        digits = dict.fromkeys("".join(map(str, other.as_tuple().digits)).strip("0") for other in numbers)
        months = {high - 2 for low, high, *_ in self.dates.partial if self.text[low:high][4:5] == "-"}  # 2012-12
        for mention in (mention for some in digits for mention in self.numbers.saying(some)):
            if mention.start in months:
                continue
            for reading in self._scaled(mention):
                if not isinstance(reading.value, Decimal) or abs(reading.value) not in sizes:
                    continue
                if (reading.value < 0) == (number < 0):
                    span = (mention.start, mention.end)
                    found.append(Place(span, mention.kind, reading.weight, reading=reading.kind))
            if len(found) >= MOST_PLACES:
                break
        if not found and isinstance(value, int) and 100_000 <= abs(value) < 10**40:
            found = [Place((hit.start, hit.end), "id") for hit in self.index.find(str(value))]  # grouped for the eye
        if not found and len(text := format(number.normalize(), "f")) > 2:
            found = self._inside_words(text)
        return found

    def _inside_words(self, text: str) -> list[Place]:
        """Where digits stand as a part of a word, an address or an id: rfc3492, v2.4, bugs.example/39678."""
        if len(text) > _LONGEST_WORD or not text.isascii() or text not in self.text:
            return []
        found = re.finditer(rf"(?:(?<=[A-Za-z/_#=])|(?<=[A-Za-z]-)){re.escape(text)}(?!\d|[.,-]\d)", self.text)
        return [Place(match.span(), "id", 0.6) for match in found]

    def _scaled(self, mention: Mention) -> Iterator[Reading]:
        """The readings of a number under the note that multiplies it, if there is one."""
        power = self._scales.power_at(mention.start)
        for reading in mention.readings:
            value = reading.value
            year = mention.end - mention.start == 4 and isinstance(value, Decimal) and 1900 <= value <= 2100
            if power and isinstance(value, Decimal) and reading.kind == "plain" and not year:
                yield Reading(value * 10**power, reading.weight)
                yield Reading(value, READING_UNSETTLED, "unscaled")
            else:
                yield reading

    def _date_places(self, day: date) -> list[Place]:
        found = self._days.get(day, ())
        return [Place((mention.start, mention.end), "date", reading.weight) for mention, reading in found]

    def _moment_places(self, moment: datetime) -> list[Place]:
        """The day with its time where one stands right behind it; midnight may be no more than the day."""
        found = []
        for place in self._date_places(moment.date()):
            inside = _CLOCK.search(self.text, place.start, place.end)
            if moment.time() == time():
                found.append(place)
            elif inside:
                found += [place] if (int(inside[1]), int(inside[2])) == (moment.hour, moment.minute) else []
            elif (end := says_time(self.text, place.end, moment)) is not None:
                found.append(replace(place, span=(place.start, end)))
        return found

    def _time_places(self, moment: time) -> list[Place]:
        hour, minute = moment.hour, moment.minute
        half = "am" if hour < 12 else "pm"
        forms = [rf"0?{hour}[:.h]{minute:02d}(?:[:.]{moment.second:02d})?(?!\d|\s?[ap]\.?m)"]
        forms.append(rf"0?{(hour + 11) % 12 + 1}[:.]{minute:02d}\s?{half[0]}\.?m\b\.?")
        if minute == 0:
            forms.append(rf"0?{(hour + 11) % 12 + 1}\s?{half[0]}\.?m\b\.?")
        pattern = re.compile(r"(?<![\d:.])(?:" + "|".join(forms) + ")", re.IGNORECASE)
        return [Place(match.span(), "date") for match in pattern.finditer(self.text)]

    def _string_places(self, text: str) -> list[Place]:
        """Where a string stands as it is; else, one after the other, what may be meant by it."""
        kind = "id" if any(map(str.isdigit, text)) else "text"
        ways: tuple[Callable[[], list[Place]], ...] = (
            lambda: self._as_date(text),
            lambda: self._as_number(text) or self._written(text, kind),
            lambda: self._like(re.sub(r"[_-]+", " ", text), kind, 1.0),
            lambda: self._as_month(text),
            lambda: self._inside_words(text) if text[0].isdigit() and len(text) > 2 else [],
            lambda: self._among_signs(text, kind),
            lambda: next((found for name in ALIASES.get(text.lower(), ()) if (found := self._like(name, kind))), []),
            lambda: self._symbols(_SYMBOLS.get(text.upper(), "")),
        )
        return next((found for way in ways if (found := way())), []) if text else []

    def _written(self, text: str, kind: str) -> list[Place]:
        hits = self.index.find(text)
        hits = [hit for hit in hits if hit.exact] or hits
        if not text.isupper() and any(self.text[hit.start : hit.end] == text for hit in hits):
            hits = [hit for hit in hits if not self.text[hit.start : hit.end].isupper()]  # a title line says it louder
        return [Place((hit.start, hit.end), kind, 1.0, self.text[hit.start : hit.end] == text) for hit in hits]

    def _like(self, text: str, kind: str, weight: float = 0.9) -> list[Place]:
        return [Place((hit.start, hit.end), kind, weight, False) for hit in self.index.find(text)]

    def _among_signs(self, text: str, kind: str) -> list[Place]:
        """A word between signs that the index takes for one word with it: a path, an address."""
        if not 2 < len(text) <= _LONGEST_WORD or text.lower() not in self.text.lower():
            return []
        word = rf"(?<![^\W_]){re.escape(text)}(?![^\W_])"
        pattern = re.compile(rf"[\w/.+-]*{word}[\w/+-]*" if text.isalpha() else word, re.IGNORECASE)
        return [Place(match.span(), kind, 0.7, False) for match in pattern.finditer(self.text)]

    def _as_date(self, text: str) -> list[Place]:
        if _ISO_DATE.fullmatch(text):
            with suppress(ValueError):  # a month of 35 days, or words behind the time
                return self._moment_places(datetime.fromisoformat(text))
        month = _ISO_MONTH.fullmatch(text)
        return self._months(int(month[1]), int(month[2])) if month else []

    def _months(self, year: int, month: int) -> list[Place]:
        return [Place((low, high), "date") for low, high, *said in self.dates.partial if said == [year, month]]

    def _as_month(self, text: str) -> list[Place]:
        """A string that is a day or a month in other clothes."""
        days = Dates(text) if len(text) <= _LONGEST_DATE and any(map(str.isdigit, text)) else None
        if days is None:
            return []
        whole = [day.readings[0].value for day in days.mentions if (day.start, day.end) == (0, len(text))]
        if whole and isinstance(whole[0], date):
            return self._date_places(whole[0])
        return next((self._months(*said) for low, high, *said in days.partial if (low, high) == (0, len(text))), [])

    def _as_number(self, text: str) -> list[Place]:
        leading_zero = text.lstrip("+-").startswith("0") and text.isdigit()
        return self._number_places(Decimal(text)) if _PLAIN_NUMBER.fullmatch(text) and not leading_zero else []

    def _symbols(self, symbol: str) -> list[Place]:
        """Where the sign of a currency stands beside a figure."""
        sign = re.escape(symbol)
        pattern = rf"(?<![A-Z]){sign}(?=\s?[\d(])|(?<=\d){sign}|(?<=\d[\s\u00a0]){sign}"
        return [Place(match.span(), "symbol") for match in re.finditer(pattern, self.text)] if symbol else []


def says(text: str, value: Any) -> list[Span]:
    """The spans of some text that say this value, by themselves and whatever stands around; for no boolean."""
    source = Source(text)
    found = (place for place in source.places(value) if place.reading not in ("unscaled", "part"))
    return [place.span for place in found]


def _decimal(value: Any, *, exact: bool = False) -> Decimal | None:
    """The number as it would be written; None for what cannot be written in a document.

    A float has up to 17 digits, of which the last may be noise: it is looked for as it is and rounded.
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        if exact:
            return Decimal(repr(value))
        return Decimal(repr(round(value, 12 - max(0, min(12, int(math.log10(abs(value)) + 1))) if value else 0)))
    try:
        number = Decimal(value)
    except (InvalidOperation, ValueError, TypeError):
        return None
    return number if number.is_finite() and abs(number.adjusted()) < 10_000 else None
