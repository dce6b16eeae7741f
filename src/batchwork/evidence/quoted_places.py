"""The places that a quote may name, as the finder sees them: what they say, whose they are, and which it denies."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from batchwork.evidence.booleans import Statement, question, sentences
from batchwork.evidence.contradictions import is_denied
from batchwork.evidence.features import Scored
from batchwork.evidence.fields import Field
from batchwork.evidence.find import Finder, list_of
from batchwork.evidence.numbers import NUMBER_WORDS, in_words
from batchwork.evidence.readers import Place, Source, Span
from batchwork.evidence.thresholds import (
    ALIKE,
    HALF,
    MOST_PLACES,
    MOST_QUOTED,
    NAMED_AT_ALL,
    NAMED_IN_FULL,
)

# A mark by itself, in quotes or brackets.
_MARK = r"(?<![^\s\"'`(\[<])MARK(?![^\s\"'`)\]>,;])"
_SPELLED = 100  # larger numbers are written in figures
# No part of another number.
_PARTS = "|".join((*NUMBER_WORDS, "half", "quarters?", "thirds?", "fifths?", "tenths?", "fold"))
_COUNT = rf"(?i)(?<![-\w])(?:COUNT)\b(?![- ]+(?:{_PARTS})\b)"
_COMPOUND = re.compile(r"-(?!\n|(?:only|based|like|style|specific|compatible)\b)")


class QuotedPlaces:
    """The places of all values of one result."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._layout = finder.source.layout
        self._strengths: dict[tuple[tuple[str, ...], str, tuple[Span, ...]], float] = {}
        self._units: dict[str, list[Span]] = {}  # where the elements of a list stand
        self._saying: dict[tuple[Span, ...], list[Field]] = defaultdict(list)
        self._on_line: dict[int, list[Span]] = defaultdict(list)  # places of one span, by the line where they begin
        for field in finder.fields:
            for spans in {place.spans for place in finder.places[field.path]}:
                if len(spans) == 1 and spans not in self._saying:
                    self._on_line[self._layout.line_of(spans[0][0])].append(spans[0])
                self._saying[spans].append(field)

    def within(self, field: Field, spans: Sequence[Span]) -> list[Place]:
        """The places inside of some spans that say a field's value."""
        if isinstance(field.value, bool):
            return list(self._answers(field, spans))
        known, text = self._finder.places[field.path], self._finder.source.text
        if isinstance(field.value, str) and not any(map(str.isalnum, field.value)):
            mark = re.escape(field.value.strip())
            return _once(_MARK.replace("MARK", mark), text, spans) if mark else []  # else it stands everywhere
        places = [place for place in known if _is_in(spans, place.start, place.spans[-1][1])]
        if not places and (isinstance(field.value, str) or len(known) >= MOST_PLACES):
            # what the whole text says better elsewhere may still be said here
            near = ((low + start, low + end) for low, high in spans for start, end in says(text[low:high], field.value))
            value = "".join(str(field.value).split())
            strict = value.isupper() or not value[:1].isalnum()  # LICENSE is a file, and no licence; so is .lzma
            same = (span for span in near if not strict or "".join(text[slice(*span)].split()) == value)
            places = [Place((span,), "text", exact=False) for span in same]
        if not known and isinstance(field.value, int) and 1 < field.value < _SPELLED:
            said = "[- ]".join(in_words(field.value)) + ("|twice" if field.value == 2 else "")
            return _once(_COUNT.replace("COUNT", said), text, spans)
        if str(field.value).isalpha():  # xmlsec1-gnutls is no gnutls
            places = [place for place in places if not _COMPOUND.search(text, place.start, place.end)]
        return places

    def _answers(self, field: Field, spans: Sequence[Span]) -> Iterator[Place]:
        """What answers a question of yes or no in some spans; of less weight where it names little or is left open."""
        stated = self._finder.phrases.statements(field)
        said = [one for one in stated if one.says == field.value and one.strength >= HALF]
        told = [one for one in said if any(low < one.end and one.start < high for low, high in spans)]
        against = max((one.strength for one in stated if one.says != field.value), default=0.0)
        for one in told or self._said(field, spans, NAMED_AT_ALL):
            heading = one.says is None and bool(field.value) and self._is_heading(field, one)
            if one.says == field.value and one.strength >= HALF:
                yield Place(((one.start, one.end),), "answer")
            elif one.strength >= against and (one.says == field.value or heading):  # not denied more plainly
                around = (span for span in spans if heading and span[0] <= one.start < span[1])
                yield Place((next(around, (one.start, one.end)),), "answer", ALIKE)

    def _is_heading(self, field: Field, one: Statement) -> bool:
        """Whether words that name a question in full have nothing else on their line: "Constant-time verification"."""
        text = self._finder.source.text
        low, high = text.rfind("\n", 0, one.start) + 1, text.find("\n", one.end)
        whole = self._finder.phrases.read(low, len(text) if high < 0 else high, *question(field))
        return one.strength >= NAMED_IN_FULL and whole is not None and whole.says is None

    def _said(self, field: Field, spans: Sequence[Span], least: float) -> list[Statement]:
        """What some stretches of the text answer: each by its last sentence that names most of it, or as a whole."""
        asked, read = question(field), list[Statement]()
        for low, high in spans:
            parts = dict.fromkeys([(low, high), *sentences(self._finder.source.text, low, high)])
            told = [one for part in parts if (one := self._finder.phrases.read(*part, *asked)) is not None]
            read += [max(reversed(told), key=lambda one: (one.says is not None, one.strength))] if told else []
        return [one for one in read if one.strength >= least]

    def denies(self, field: Field, entry: Scored) -> bool:
        """Whether a place cannot say this field: the text denies it, or it is another role's."""
        denied = is_denied(self._finder.source, field, entry.place, entry.context)
        return denied or self._finder.scorer.is_another_role(entry.features)

    def is_other_elements(self, field: Field, place: Place, *, at_home: bool) -> bool:
        """Whether a place stands where another element of the field's list does; `at_home`: or outside of its own."""
        home = self._finder.homes.get(field.record)
        if not field.record or (home is not None and place in home):
            return False
        if at_home and home is not None and home.sure:
            return True
        name = list_of(field)
        if name not in self._units:
            homes = (home for path, home in self._finder.homes.items() if path[: path.rindex("[")] == name)
            self._units[name] = sorted((home.start, home.end) for home in homes)
        return _is_in(self._units[name], place.start, place.start + 1)

    def is_anothers_answer(self, field: Field, place: Place, quoted: Sequence[Span]) -> bool:
        """Whether what a place answers is rather the answer to another question, or to that of any element."""
        parts = (part for span in quoted for part in sentences(self._finder.source.text, *span))
        spans = [(low, high) for low, high in parts if low < place.end and place.start < high]
        mine = max(0.0, self._strength(field, spans))
        home = self._finder.homes.get(field.record)
        unsure = home is None or not home.sure
        for other in self._finder.fields:
            if other is field or not isinstance(other.value, bool):
                continue
            same = other.name == field.name and other.value == field.value and unsure
            if self._strength(other, spans) >= (mine if same else mine + 0.01):
                return True
        return False

    def _strength(self, field: Field, spans: Sequence[Span]) -> float:
        """How fully some spans name a question; all elements of a list ask the same one, which is read once."""
        key = field.own, field.name, tuple(spans)
        if key not in self._strengths:
            said = self._said(field, spans, 0.0)
            self._strengths[key] = max((one.strength for one in said), default=-1.0)
        return self._strengths[key]

    def is_only(self, field: Field, place: Place) -> bool:
        """Whether a rare value stands nowhere else, and is nobody else's: then no other place can be meant."""
        known = {one.spans for one in self._finder.places[field.path]}
        return field.is_telling and known == {place.spans} and not any(self.others(field, place))

    def others(self, field: Field, place: Place) -> Iterator[Field]:
        """The other fields whose value the place says."""
        return (other for other in self._saying.get(place.spans, ())[:MOST_QUOTED] if other is not field)

    def is_part(self, field: Field, place: Place) -> bool:
        """Whether a place is a part of one that says another field's value: a name inside of an address."""
        return any(
            low <= place.start and place.end <= high and (low, high) != (place.start, place.end)
            for low, high in self._on_line.get(self._layout.line_of(place.start), ())
            if self._saying[((low, high),)] != [field]
        )


def says(text: str, value: Any) -> list[Span]:
    """The spans of some text that say this value, by themselves and whatever stands around; for no boolean."""
    found = (place for place in Source(text).places(value) if place.reading not in ("unscaled", "part"))
    return [span for place in found for span in place.spans]


def _once(pattern: str, text: str, spans: Sequence[Span]) -> list[Place]:
    """Where some spans have a pattern, each of them once."""
    found = [[one.span() for one in re.compile(pattern).finditer(text, low, high)] for low, high in spans]
    return [Place((places[0],), "text") for places in found if len(places) == 1]


def _is_in(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether a stretch lies in one of some spans, which are in order."""
    at = bisect_right(spans, start, key=itemgetter(0)) - 1
    return at >= 0 and end <= spans[at][1]
