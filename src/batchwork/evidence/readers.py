"""A value -> every span of a text that says it, by its type; the one place that decides what "says" means.

Numbers are compared by what they mean in every common notation, dates in full or as far as both sides tell them,
strings whatever their case, spacing, hyphenation and dashes. Booleans are another matter (`booleans`).
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from batchwork.evidence.dates import TIME, TIME_BEHIND, Dates, is_time
from batchwork.evidence.layout import Layout
from batchwork.evidence.numbers import NUMBER_WORDS, Mention, Numbers, in_words
from batchwork.evidence.scales import Scales
from batchwork.evidence.strings import TextIndex, folded
from batchwork.evidence.thresholds import MOST_PLACES, READING_UNSETTLED
from batchwork.evidence.words import PATTERNS, VOCABULARY

Span = tuple[int, int]
FIGURES = frozenset({"number", "money", "percent", "date"})
ALIASES: dict[str, tuple[str, ...]] = {
    short.lower(): tuple(sorted(names.split("|"), key=len, reverse=True))
    for short, names in VOCABULARY["aliases"].items()
}
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "CAD": "CA$", "AUD": "A$"}
_FORMS = {name: re.compile(pattern) for name, pattern in PATTERNS["readers"].items()}
_NEXT_NUMBER_WORD = re.compile(rf"(?i)[\s-]+(?:and[\s-]+)?(?:{'|'.join(NUMBER_WORDS)})\b")
_LONGEST = 60  # characters of what is looked for inside of words
_LONGEST_FIGURE = 40  # characters of a string that may be a date or a number


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
        days, months = self.dates.mentions, self.dates.partial
        return Numbers(self.layout.plain, [*((day.start, day.end) for day in days), *(month[:2] for month in months)])

    @cached_property
    def _scales(self) -> Scales:
        return Scales(self.layout)

    def places(self, value: Any) -> list[Place]:
        """The places that say a value; beyond a few hundred they are not looked at, nobody could tell them apart."""
        return list(islice(self._places(value), MOST_PLACES))

    def _places(self, value: Any) -> Iterable[Place]:
        if value is None or isinstance(value, bool | bytes):
            return ()
        if isinstance(value, int | float | Decimal):
            return self._number_places(value)
        if isinstance(value, datetime):
            return self._moment_places(value)
        if isinstance(value, time):
            return (Place((told.span(),), "date") for told in TIME.finditer(self.text) if is_time(told, value))
        return self._string_places(str(value).strip())

    def _number_places(self, value: float | Decimal) -> list[Place]:
        numbers = _written(value)
        if not numbers:
            return []
        number = numbers[0]
        digits = dict.fromkeys("".join(map(str, other.as_tuple().digits)).strip("0") for other in numbers)
        mentions = (mention for some in digits for mention in self.numbers.saying(some))
        sizes = {abs(other) for other in numbers}
        said = (place for mention in mentions for place in self._said_by(mention, sizes, number < 0))
        found = list(islice(said, MOST_PLACES))
        if 0 <= number < 10**9 and number == int(number):
            spelled = (spans for spans, _ in self.index.find(" ".join(in_words(int(number)))))
            larger = _NEXT_NUMBER_WORD.match  # "two hundred" is not 2
            found += [Place(spans, "number", 0.9) for spans in spelled if not larger(self.text, spans[-1][1])]
        return found or list(self._inside_words(format(number.normalize(), "f")))

    def _said_by(self, mention: Mention, sizes: set[Decimal], negative: bool) -> Iterator[Place]:
        """A mention as a place, once for each of its readings that has the size and sign of a number."""
        power = self._scales.power_at(mention.start)
        for reading in mention.readings:
            value, told, weight = reading.value, reading.kind, reading.weight
            if not isinstance(value, Decimal):
                continue
            year = mention.end - mention.start == 4 and 1900 <= value <= 2100
            scale = power if told == "plain" and not year else 0
            if abs(value) * 10**scale not in sizes:
                if not scale or abs(value) not in sizes:
                    continue
                told, weight = "unscaled", READING_UNSETTLED  # as it stands, below a note that multiplies it
            kind = "percent" if told in ("fraction", "percent") else "money" if mention.money else "number"
            before = max(0, mention.start - 40), mention.start
            falls = negative and value > 0 and _FORMS["falls"].search(self.text, *before)
            if (value < 0) == negative or falls:
                yield Place(((mention.start, mention.end),), kind, weight, reading=told)

    def _inside_words(self, text: str) -> Iterator[Place]:
        """Where digits stand as a part of a word, an address or an id: rfc3492, v2.4, bugs.example/39678."""
        if 2 < len(text) <= _LONGEST and text[0].isdigit() and text.isascii() and text in self.text:
            pattern = rf"(?:(?<=[A-Za-z/_#=])|(?<=[A-Za-z]-)){re.escape(text)}(?!\d|[.,-]\d)"
            yield from (Place((match.span(),), "id", 0.6) for match in re.finditer(pattern, self.text))

    def _date_places(self, day: date) -> list[Place]:
        said = ((one, reading) for one in self.dates.mentions for reading in one.readings if reading.value == day)
        found = [Place(((one.start, one.end),), "date", reading.weight) for one, reading in said]
        return found or [Place((span,), "date", 0.6, reading="part") for span in self.dates.without_year(day)]

    def _moment_places(self, moment: datetime) -> list[Place]:
        """The day with its time where one stands in it or right behind; midnight may be no more than the day."""
        found = []
        for place in self._date_places(moment.date()):
            told = TIME_BEHIND.match(self.text, place.end) or TIME.search(self.text, place.start, place.end)
            if told is None or moment.time() == time():
                found.append(place)
            elif is_time(told, moment):
                found.append(replace(place, spans=((place.start, max(place.end, told.end())),)))
        return found

    def _string_places(self, text: str) -> Iterable[Place]:
        """Where a string stands, by the first way that finds it."""
        canonical = _FORMS["number"].fullmatch(text) or _FORMS["iso"].fullmatch(text)
        ways = [self._as_written, self._as_meant, self._inside_words, self._inside_path, self._by_alias, self._symbols]
        for way in [self._as_meant, *ways] if canonical else ways:
            found = list(way(text)) if text else []
            if found:
                return found if way == self._by_alias else [*found, *self._by_alias(text, found)]
        return ()

    def _as_written(self, text: str) -> Iterator[Place]:
        """Where its words stand, with its own marks between them before all others."""
        hits = self.index.find(text)
        same = [spans for spans, _ in hits if self.text[spans[0][0] : spans[-1][1]] == text]
        best = same or [spans for spans, exact in hits if exact] or [spans for spans, _ in hits]
        for spans in best:
            yield Place(spans, _kind(text), 1.0, bool(same))

    def _as_meant(self, text: str) -> Iterable[Place]:
        """Where a number, a date or a month stands that the string is in other clothes."""
        if _FORMS["number"].fullmatch(text):
            return () if text.isdigit() and text[0] == "0" else self._number_places(Decimal(text))
        if len(text) > _LONGEST_FIGURE or _kind(text) == "text":
            return ()
        with suppress(ValueError):  # a month of 35 days, or words behind the time
            return self._moment_places(datetime.fromisoformat(text))
        days = Dates(text)
        for mention in [*days.mentions, *Numbers(text, []).mentions]:
            value = mention.readings[0].value
            if (mention.start, mention.end) == (0, len(text)):
                return self._date_places(value) if isinstance(value, date) else self._number_places(value)
        month = [said for low, high, *said in days.partial if (low, high) == (0, len(text))]
        return [Place(((low, high),), "date") for low, high, *said in self.dates.partial if said in month]

    def _inside_path(self, text: str) -> Iterator[Place]:
        """Where it stands between the marks of a path, a type or a name with dots: text/markdown, foo.example."""
        if not 2 < len(text) <= _LONGEST or "://" in text or folded(text) not in self.index.folded:
            return
        for match in re.finditer(rf"(?i)(?<![^\W_]){re.escape(text)}(?![^\W_])", self.text):
            low, high = match.span()
            if text.isalpha():
                before = _FORMS["path"].search(self.text, max(0, low - _LONGEST), low)
                behind = _FORMS["path_behind"].match(self.text, high)
                low, high = before.start() if before else low, behind.end() if behind else high
            yield Place(((low, high),), _kind(text), 0.7, False)

    def _by_alias(self, text: str, known: Sequence[Place] = ()) -> Iterator[Place]:
        """Where another name of a licence stands, the longest one; not where it is known to stand already."""
        hits = (hit for name in ALIASES.get(text.lower(), ()) for hit, _ in self.index.find(name))
        last = -1
        for spans in sorted(hits, key=lambda spans: (spans[0][0], -spans[-1][1])):
            *head, (low, high) = spans
            if spans[0][0] < last or any(place.start < high and low < place.end for place in known):
                continue
            last = high
            yield Place((*head, (low, high)), _kind(text), 0.9, False)

    def _symbols(self, text: str) -> Iterator[Place]:
        if text.upper() in _SYMBOLS:
            sign = re.escape(_SYMBOLS[text.upper()])
            pattern = rf"(?<![A-Z]){sign}(?=\s?[\d(])|(?<=\d){sign}|(?<=\d[\s\u00a0]){sign}"
            yield from (Place((match.span(),), "symbol") for match in re.finditer(pattern, self.text))


def _kind(text: str) -> str:
    return "id" if any(map(str.isdigit, text)) else "text"


def _written(value: float | Decimal) -> list[Decimal]:
    """The number as it would be written, a float also without the noise of its last digits; none for what cannot be."""
    if isinstance(value, float):
        return [Decimal(repr(value)), Decimal(f"{value:.12g}")] if math.isfinite(value) else []
    number = Decimal(value)
    return [number] if number.is_finite() and abs(number.adjusted()) < 10_000 else []
