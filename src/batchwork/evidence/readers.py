"""A value -> every span of a text that says it, by its type; the one place that decides what "says" means.

Numbers are compared by what they mean in every common notation, dates in full or as far as both sides tell them,
strings whatever their case, spacing, hyphenation and dashes. Booleans are another matter (`booleans`).
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from batchwork.evidence.dates import Dates, is_time, time_behind, times
from batchwork.evidence.layout import Layout
from batchwork.evidence.numbers import NUMBER_WORDS, Mention, Numbers, Reading, in_words
from batchwork.evidence.scales import Scales
from batchwork.evidence.strings import TextIndex
from batchwork.evidence.thresholds import MOST_PLACES, READING_UNSETTLED
from batchwork.evidence.words import PATTERNS, VOCABULARY

Span = tuple[int, int]
FIGURES = frozenset({"number", "money", "percent", "date"})
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?")
_ISO_MONTH = re.compile(r"(\d{4})-(\d{2})")
_PLAIN_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
ALIASES: dict[str, tuple[str, ...]] = {
    short.lower(): tuple(names.split("|")) for short, names in VOCABULARY["aliases"].items()
}
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "CAD": "CA$", "AUD": "A$"}
_FALLS = re.compile(PATTERNS["readers"]["falls"])
_WORD_BEFORE, _WORD_BEHIND = (
    re.compile(r"([^\W\d_]+)[\s-]+(?:and[\s-]+)?\Z"),
    re.compile(r"[\s-]+(?:and[\s-]+)?([^\W\d_]+)"),
)


class Place(Struct, frozen=True, gc=False):
    """Where a value is said, read in one of the ways in which that can be read."""

    spans: tuple[Span, ...]
    kind: str  # number, money, percent, date, id, text, symbol, answer
    weight: float = 1.0
    exact: bool = True
    reading: str = "plain"

    @property
    def start(self) -> int:
        """Where it starts."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Where its first part ends."""
        return self.spans[0][1]


class Source:
    """One text, ready to be asked: its layout, numbers, dates and tokens, each found once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.layout = Layout(text)
        self.index = TextIndex(self.layout)

    @cached_property
    def dates(self) -> Dates:
        """Its dates."""
        return Dates(self.layout.plain)

    @cached_property
    def numbers(self) -> Numbers:
        """Its numbers."""
        return Numbers(self.layout.plain, [(day.start, day.end) for day in self.dates.mentions])

    @cached_property
    def _scales(self) -> Scales:
        return Scales(self.layout)

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
        for mention in (mention for some in digits for mention in self.numbers.saying(some)):
            if mention.start in self._months:
                continue
            for reading in self._scaled(mention):
                if not isinstance(reading.value, Decimal) or abs(reading.value) not in sizes:
                    continue
                share = reading.kind in ("fraction", "percent")
                kind = "percent" if share else "money" if mention.money else "number"
                turned = number < 0 < reading.value and _FALLS.search(
                    self.text, max(0, mention.start - 40), mention.start
                )
                if (reading.value < 0) == (number < 0) or turned:
                    found.append(Place(((mention.start, mention.end),), kind, reading.weight, reading=reading.kind))
            if len(found) >= MOST_PLACES:
                break
        if number == number.to_integral_value():
            found += self._spelled(in_words(int(number)))
        if not found and isinstance(value, int) and 100_000 <= abs(value) < 10**40:
            found = [Place(hit.spans, "id") for hit in self.index.find(str(value))]  # grouped for the eye
        if not found and len(text := format(number.normalize(), "f")) > 2:
            found = [Place((span,), "id", 0.6) for span in self._inside_words(text)]
        return found

    def _spelled(self, words: list[str]) -> Iterator[Place]:
        """Where a number stands in words that are no part of a longer one."""
        for hit in self.index.find(" ".join(words)):
            around = (
                _WORD_BEFORE.search(self.text, max(0, hit.start - 12), hit.start),
                _WORD_BEHIND.match(self.text, hit.end),
            )
            if not any(word and word[1].lower() in NUMBER_WORDS for word in around):
                yield Place(hit.spans, "number", 0.9)

    @cached_property
    def _months(self) -> set[int]:
        """Where the month of 2012-12 stands, which is no number."""
        return {high - 2 for low, high, *_ in self.dates.partial if self.text[low:high][4:5] == "-"}

    def _inside_words(self, text: str) -> Iterator[Span]:
        """Where digits stand as a part of a word, an address or an id: rfc3492, v2.4, bugs.example/39678."""
        if len(text) > 60 or not text.isascii() or text not in self.text:
            return
        for match in re.finditer(rf"(?:(?<=[A-Za-z/_#=])|(?<=[A-Za-z]-)){re.escape(text)}(?!\d|[.,-]\d)", self.text):
            yield match.span()

    def _scaled(self, mention: Mention) -> Iterable[Reading]:
        power = self._scales.power_at(mention.start)
        for reading in mention.readings:
            value = reading.value
            year = mention.end - mention.start == 4 and isinstance(value, Decimal) and 1900 <= value <= 2100
            if not power or not isinstance(value, Decimal) or reading.kind != "plain" or year:
                yield reading
                continue
            yield Reading(value * 10**power, reading.weight)
            yield Reading(value, READING_UNSETTLED, "unscaled")

    def _date_places(self, day: date) -> list[Place]:
        found = [
            Place(((mention.start, mention.end),), "date", reading.weight)
            for mention, reading in self.dates.by_day.get(day, ())
        ]
        return found or [
            Place(((low, high),), "date", 0.6, reading="part") for low, high in self.dates.without_year(day)
        ]

    def _moment_places(self, moment: datetime) -> list[Place]:
        """The day with its time where one stands right behind it; midnight may be no more than the day."""
        found = []
        for place in self._date_places(moment.date()):
            inside = next(times(self.text, place.start, place.end), None)
            told = inside or time_behind(self.text, place.end)
            if told is None or moment.time() == time():
                found.append(place)
            elif is_time(told, moment):
                found.append(replace(place, spans=((place.start, max(place.end, told.end())),)))
        return found

    def _time_places(self, moment: time) -> list[Place]:
        return [Place((told.span(),), "date") for told in times(self.text) if is_time(told, moment)]

    def _string_places(self, text: str) -> list[Place]:
        if not text:
            return []
        if _ISO_DATE.fullmatch(text):
            with suppress(ValueError):  # a month of 35 days, or words behind the time
                return self._moment_places(datetime.fromisoformat(text))
        month = _ISO_MONTH.fullmatch(text)
        if month:
            wanted = (int(month[1]), int(month[2]))
            found = [Place(((low, high),), "date") for low, high, *said in self.dates.partial if tuple(said) == wanted]
            if found:
                return found
        kind = "id" if any(map(str.isdigit, text)) else "text"
        hits = self.index.find(text)
        hits = [hit for hit in hits if hit.exact] or hits
        if not text.isupper() and any(self.text[hit.start : hit.end] == text for hit in hits):
            hits = [hit for hit in hits if not self.text[hit.start : hit.end].isupper()]  # a title line says it louder
        found = [Place(hit.spans, kind, 1.0, self.text[hit.spans[0][0] : hit.spans[-1][1]] == text) for hit in hits]
        if not found and re.search(r"[_-]", text):
            found = [Place(hit.spans, kind, 1.0, False) for hit in self.index.find(re.sub(r"[_-]+", " ", text))]
        if not found or _PLAIN_NUMBER.fullmatch(text):
            found = self._typed(text) or found
        if not found and text[0].isdigit() and len(text) > 2:
            found = [Place((span,), kind, 0.6) for span in self._inside_words(text)]
        if not found and 2 < len(text) <= 60 and text.lower() in self.text.lower():
            word = re.escape(text)
            pattern = re.compile(
                rf"[\w/.+-]*(?<![^\W_]){word}(?![^\W_])(?:[\w/+-]|\.(?=\w))*"
                if text.isalpha()
                else rf"(?<![^\W_]){word}(?![^\W_])",
                re.IGNORECASE,
            )
            found = [Place((match.span(),), kind, 0.7, False) for match in pattern.finditer(self.text)]
        if not found:
            hits = next(filter(None, map(self.index.find, ALIASES.get(text.lower(), ()))), [])
            found = [Place(hit.spans, kind, 0.9, False) for hit in hits]
        if not found and text.upper() in _SYMBOLS:
            found = list(self._symbols(_SYMBOLS[text.upper()]))
        return found

    def _typed(self, text: str) -> list[Place]:
        """A string that is a number or a date in other clothes: compare what it means."""
        if _PLAIN_NUMBER.fullmatch(text):
            leading_zero = text.lstrip("+-").startswith("0") and text.isdigit()
            return [] if leading_zero else self._number_places(Decimal(text))
        if len(text) > 40 or not any(map(str.isdigit, text)):
            return []
        days = Dates(text)
        whole = [day for day in days.mentions if (day.start, day.end) == (0, len(text)) and len(day.readings) == 1]
        if whole and isinstance(whole[0].readings[0].value, date):
            return self._date_places(whole[0].readings[0].value)
        for low, high, *said in days.partial:
            if (low, high) == (0, len(text)):
                return [Place(((a, b),), "date") for a, b, *other in self.dates.partial if other == said]
        numbers = Numbers(text, []).mentions
        if len(numbers) == 1 and (numbers[0].start, numbers[0].end) == (0, len(text)):
            value = numbers[0].readings[0].value
            return self._number_places(value) if isinstance(value, Decimal) else []
        return []

    def _symbols(self, symbol: str) -> Iterator[Place]:
        sign = re.escape(symbol)
        pattern = re.compile(rf"(?<![A-Z]){sign}(?=\s?[\d(])|(?<=\d){sign}|(?<=\d[\s\u00a0]){sign}")
        for match in pattern.finditer(self.text):
            yield Place(((match.start(), match.end()),), "symbol")


def says(text: str, value: Any) -> list[Span]:
    """The spans of some text that say this value, by themselves and whatever stands around; for no boolean."""
    source = Source(text)
    found = (place for place in source.places(value) if place.reading not in ("unscaled", "part"))
    return [span for place in found for span in place.spans]


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
