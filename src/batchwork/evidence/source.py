"""A document made ready to be asked: its layout, numbers, dates and tokens, each found once.

Also decides which places can say a value at all, before anybody asks which of them does.
"""

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

from batchwork.evidence.fields import Field
from batchwork.evidence.page.bounds import is_other_end
from batchwork.evidence.page.context import Contexts
from batchwork.evidence.page.layout import Layout
from batchwork.evidence.page.phrases import Phrases
from batchwork.evidence.reading.contrary import is_turned
from batchwork.evidence.reading.dates import Dates
from batchwork.evidence.reading.mention import Mention, Reading
from batchwork.evidence.reading.moments import time_behind
from batchwork.evidence.reading.numbers import Numbers
from batchwork.evidence.reading.scales import Scales
from batchwork.evidence.reading.textindex import TextIndex
from batchwork.evidence.vocabulary.words import concepts, likeness

Span = tuple[int, int]
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?")
_ISO_MONTH = re.compile(r"(\d{4})-(\d{2})")
_PLAIN_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
_PERCENT_WORDS = frozenset(
    {"rate", "percent", "interest", "margin", "growth", "discount", "tax", "share", "yield", "apr"}
)
_SCALE_WORDS = frozenset({"thousand", "million", "billion", "thousands", "millions"})
_PART_WORDS = frozenset({"year", "month", "day", "date"})
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "CAD": "CA$", "AUD": "A$"}
FIGURES = frozenset({"number", "money", "percent", "date"})
_MOST = 300
_SMALL = 4  # significant digits below which a number is no sign of anything by itself


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that says the value, read in one of the ways it can be read."""

    spans: tuple[Span, ...]
    kind: str  # number, money, percent, date, id, text, symbol
    weight: float = 1.0
    exact: bool = True
    distinctive: bool = True

    @property
    def start(self) -> int:
        """Where it starts."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Where its first part ends."""
        return self.spans[0][1]


class Source:
    """One text, ready."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.layout = Layout(text)
        self.dates = Dates(self.layout.plain)
        taken = [(mention.start, mention.end) for mention in self.dates.mentions]
        self.numbers = Numbers(self.layout.plain, taken)
        self.index = TextIndex(self.layout)
        self._numbers_on: dict[int, list[int]] = {}
        for rank, start in enumerate(self.numbers.starts):
            self._numbers_on.setdefault(self.layout.line_of(start), []).append(rank)
        self.dates_on: dict[int, list[Mention]] = {}
        for mention in self.dates.mentions:
            self.dates_on.setdefault(self.layout.line_of(mention.start), []).append(mention)
        self.contexts = Contexts(self.layout, self._numbers_on.keys() | self.dates_on.keys())
        self._scales = Scales(self.layout, self.contexts.columns)
        self._dates: dict[date, list[tuple[Mention, Reading]]] = {}
        for mention in self.dates.mentions:
            for reading in mention.readings:
                if isinstance(reading.value, date):
                    self._dates.setdefault(reading.value, []).append((mention, reading))
        self._lines_with: dict[str, list[int]] | None = None
        self._alike: dict[str, list[str]] = {}  # concepts by how they begin

    def _scaled(self, mention: Mention) -> Iterable[Reading]:
        power = self._scales.power_at(mention.start)
        for reading in mention.readings:
            value = reading.value
            if not power or not isinstance(value, Decimal) or reading.kind != "plain" or _is_year(value, mention):
                yield reading
                continue
            yield Reading(value * 10**power, reading.weight)
            yield Reading(value, 0.4, "unscaled")

    def numbers_on(self, line: int) -> Iterator[Mention]:
        """The numbers that stand on a line."""
        for rank in self._numbers_on.get(line, ()):
            mention = self.numbers.mention(rank)
            if mention is not None:
                yield mention

    @cached_property
    def phrases(self) -> Phrases:
        """The sentences and lines, for questions of yes or no."""
        return Phrases(self.layout)

    def lines_with(self, words: Iterable[str], least: float = 0.7) -> set[int]:
        """The lines on which one of these concepts stands, or one at least that like it."""
        if self._lines_with is None:
            table: dict[str, list[int]] = {}
            for number, line in enumerate(self.layout.lines):
                for cell in line.cells:
                    for word in concepts(cell.text) if len(cell.text) < 200 else set(concepts(cell.text)):
                        table.setdefault(word, []).append(number)
            self._lines_with = table
            for word in table:
                self._alike.setdefault(word[:4], []).append(word)
        found: set[int] = set()
        for word in words:
            found.update(self._lines_with.get(word, ()))
            for other in self._alike.get(word[:4], ()):
                if other != word and likeness(word, other) >= least:
                    found.update(self._lines_with[other])
        return found

    def candidates(self, field: Field) -> list[Candidate]:
        """The places that say the field's value, by type; booleans are another matter.

        Beyond a few hundred they are not looked at: nobody could tell them apart.
        """
        return self._all_candidates(field)[:_MOST]

    def _all_candidates(self, field: Field) -> list[Candidate]:
        value = field.value
        if value is None or isinstance(value, bool):
            return []
        if isinstance(value, int | float | Decimal):
            return self._number_candidates(field, value)
        if isinstance(value, datetime):
            return self._moment_candidates(value)
        if isinstance(value, date):
            return self._date_candidates(value)
        if isinstance(value, time):
            return self._time_candidates(value)
        text = value if isinstance(value, str) else str(value) if not isinstance(value, bytes) else ""
        return self._string_candidates(field, text.strip())

    def _number_candidates(self, field: Field, value: Any) -> list[Candidate]:
        number = _decimal(value)
        if number is None:
            return []
        found: list[Candidate] = []
        digits = len(number.normalize().as_tuple().digits) if abs(number.adjusted()) < 60 else _SMALL
        for mention, reading in self._saying(number, field):
            if reading.kind == "part" and not _PART_WORDS.intersection(field.words):
                continue
            if is_other_end(field, self.text, mention.start, mention.end):
                continue
            weight = reading.weight
            if reading.kind == "percent" and not {"rate", "percent"}.intersection(field.words):
                known = _PERCENT_WORDS.intersection(field.words)
                weight *= (0.9 if known else 0.8) if abs(number) >= 1 else (0.6 if known else 0.5)
            if reading.kind == "unscaled" and _SCALE_WORDS.intersection(field.words):
                weight = 1.0
            kind = "percent" if reading.kind in ("fraction", "percent") else "money" if mention.money else "number"
            span = (mention.start, mention.end)
            found.append(Candidate((span,), kind, weight, distinctive=digits >= _SMALL))
            if len(found) == _MOST:
                break
        if not found and isinstance(value, int) and abs(value) >= 100_000 and value < 10**40:
            hits = self.index.find(str(value))  # an account number, grouped for the eye
            found = [Candidate(hit.spans, "id") for hit in hits]
        return found

    def _saying(self, number: Decimal, field: Field) -> Iterator[tuple[Mention, Reading]]:
        """Every number of the text that can be read as this one, and how."""
        digits = "".join(map(str, number.as_tuple().digits))
        for mention in self.numbers.saying(digits):
            for reading in self._scaled(mention):
                if not isinstance(reading.value, Decimal) or abs(reading.value) != abs(number):
                    continue
                turned = reading.value > 0 and is_turned(field, self.text, mention.start)
                if (-reading.value if turned else reading.value) == number:
                    yield mention, reading

    def _date_candidates(self, day: date) -> list[Candidate]:
        return [
            Candidate(((mention.start, mention.end),), "date", reading.weight)
            for mention, reading in self._dates.get(day, ())
        ]

    def _moment_candidates(self, moment: datetime) -> list[Candidate]:
        """The day with its time where one stands right behind it; midnight may be no more than the day."""
        found = []
        for candidate in self._date_candidates(moment.date()):
            told = time_behind(self.text, candidate.end)
            if told is None or moment.time() == time():
                found.append(candidate)
            elif told.says(moment):
                found.append(replace(candidate, spans=((candidate.start, told.end),)))
        return found

    def _time_candidates(self, moment: time) -> list[Candidate]:
        hour, minute = moment.hour, moment.minute
        half = "am" if hour < 12 else "pm"
        forms = [rf"0?{hour}[:.h]{minute:02d}(?:[:.]{moment.second:02d})?(?!\d|\s?[ap]\.?m)"]
        forms.append(rf"0?{(hour + 11) % 12 + 1}[:.]{minute:02d}\s?{half[0]}\.?m\b\.?")
        if minute == 0:
            forms.append(rf"0?{(hour + 11) % 12 + 1}\s?{half[0]}\.?m\b\.?")
        pattern = re.compile(r"(?<![\d:.])(?:" + "|".join(forms) + ")", re.IGNORECASE)
        return [Candidate(((match.start(), match.end()),), "date") for match in pattern.finditer(self.text)]

    def _string_candidates(self, field: Field, text: str) -> list[Candidate]:
        if not text:
            return []
        if _ISO_DATE.fullmatch(text):
            with suppress(ValueError):  # a month of 35 days, or words behind the time
                return self._moment_candidates(datetime.fromisoformat(text))
        month = _ISO_MONTH.fullmatch(text)
        if month:
            wanted = (int(month[1]), int(month[2]))
            found = [
                Candidate(((low, high),), "date") for low, high, *said in self.dates.partial if tuple(said) == wanted
            ]
            if found:
                return found
        hits = self.index.find(text)
        kind = "id" if any(map(str.isdigit, text)) else "text"
        if "currency" in field.words and len(text) == 3:
            kind = "symbol"  # it stands beside every amount and means the same each time
        found = [Candidate(hit.spans, kind, 1.0, hit.exact, distinctive=len(text) > 3) for hit in hits]
        if not found and re.search(r"[_-]", text):
            hits = self.index.find(re.sub(r"[_-]+", " ", text))
            found = [Candidate(hit.spans, kind, 1.0, exact=False, distinctive=len(text) > 3) for hit in hits]
        if not found or _PLAIN_NUMBER.fullmatch(text):
            found = self._typed(field, text) or found
        if not found and text.upper() in _SYMBOLS and ("currency" in field.words or text in _SYMBOLS):
            found = self._symbols(_SYMBOLS[text.upper()])
        return found

    def _typed(self, field: Field, text: str) -> list[Candidate]:
        """A string that is a number or a date in other clothes: compare what it means."""
        if _PLAIN_NUMBER.fullmatch(text) and not (text.lstrip("+-").startswith("0") and text.isdigit()):
            return self._number_candidates(field, Decimal(text))
        if len(text) > 40 or not any(map(str.isdigit, text)):
            return []
        days = Dates(text).mentions
        if len(days) == 1 and (days[0].start, days[0].end) == (0, len(text)) and len(days[0].readings) == 1:
            day = days[0].readings[0].value
            return self._date_candidates(day) if isinstance(day, date) else []
        numbers = Numbers(text, []).mentions
        whole = [mention for mention in numbers if (mention.start, mention.end) == (0, len(text))]
        if len(whole) == 1 and len(numbers) == 1:
            said = whole[0].readings[0].value
            return self._number_candidates(field, said) if isinstance(said, Decimal) else []
        return []

    def _symbols(self, symbol: str) -> list[Candidate]:
        pattern = re.compile(
            rf"(?<![A-Z]){re.escape(symbol)}(?=\s?[\d(])|(?<=\d){re.escape(symbol)}|(?<=\d[\s\u00a0]){re.escape(symbol)}"
        )
        return [Candidate(((match.start(), match.end()),), "symbol") for match in pattern.finditer(self.text)]


def _is_year(value: Decimal, mention: Mention) -> bool:
    return mention.end - mention.start == 4 and 1900 <= value <= 2100


def _decimal(value: Any) -> Decimal | None:
    """The number as it would be written; None for what cannot be written in a document."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return Decimal(repr(round(value, 12 - max(0, min(12, int(math.log10(abs(value)) + 1))) if value else 0)))
    try:
        number = Decimal(value)
    except (InvalidOperation, ValueError, TypeError):
        return None
    return number if number.is_finite() else None
