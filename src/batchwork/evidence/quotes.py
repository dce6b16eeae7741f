"""What a model quotes for the values of its answer: believed only where the document and the finder bear it out.

A quote counts if it stands in the document, says the value by the same readers as a found place, and stands where the
finder does not deny it: no label, role, row or better claim of another field. What is cited is the value's own span.
A field without such a quote keeps what the finder finds. How well all quotes of an answer hold decides whether one is
believed where the finder would rather stay in doubt.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from batchwork.documents import Document
from batchwork.evidence.citations import Citation
from batchwork.evidence.features import NAMES, Scored
from batchwork.evidence.fields import Field, fields_of
from batchwork.evidence.find import Finder, Verdict, citations_of
from batchwork.evidence.passages import Passages
from batchwork.evidence.quoted_places import QuotedPlaces
from batchwork.evidence.readers import Place, Source, Span
from batchwork.evidence.thresholds import (
    ALIKE,
    CONTESTED,
    DEFAULT_LINE,
    HALF,
    MOST_QUOTED,
    MOST_QUOTES,
    MOST_REPEATS,
    OUTDONE,
    OUTDONE_COMMON,
    QUOTED,
    READING_SETTLED,
    SETTLED_BY,
    TRUSTED,
    UNBACKED,
)

ABSENT = "the answer has no such field, or no value there"
UNFOUND = "it does not stand in the document"
UNSAID = "it does not say the value"
DENIED = "it stands where the document says something else: another field, role or row"
SURPLUS = "the field has quotes enough"
DISTRUSTED = "most quotes of this answer do not hold"
_NO_VOTE = (ABSENT, SURPLUS)  # says nothing of how well a model quotes
_YEAR = 4  # digits
_FEW = 3  # quotes, from which nobody learns how well a model quotes
_LINE = NAMES.index("line")
_STEP = re.compile(r"[^.\[\]/]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedQuote:
    """A quote that was not believed."""

    path: str
    quote: str
    why: str

    def to_dict(self) -> dict[str, str]:
        """As the result files hold it."""
        return {"path": self.path, "quote": self.quote, "why": self.why}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedEvidence:
    """The citations of every field, and the quotes that were refused."""

    citations: dict[str, list[Citation]]
    rejected: list[RejectedQuote]


def verify_quotes(
    value: Any, quotes: Sequence[tuple[str, str]], document: Document | str, *, schema: Any = None
) -> QuotedEvidence:
    """For every leaf of `value` the places to cite, by quotes (of a path, in the model's words) or else by the finder.

    `schema` is as for `find_evidence`.
    """
    fields = fields_of(value, schema)
    text = document if isinstance(document, str) else document.text
    finder = Finder(Source(text), fields)
    verifier = _Verifier(finder, fields, Passages(text))
    rejected = list(verifier.reject(quotes))
    citations = {field.path: citations_of(document, verifier.verdicts(field)) for field in fields}
    return QuotedEvidence(citations=citations, rejected=rejected)


@dataclass(frozen=True, slots=True)
class _Backed:
    """A place that a quote has for a field, and where the words of that quote stand."""

    entry: Scored
    spans: Sequence[tuple[int, int]]


class _Verifier:
    """Takes the quotes of one answer, one after the other, and decides then what is cited."""

    def __init__(self, finder: Finder, fields: Sequence[Field], passages: Passages) -> None:
        self._finder = finder
        self._places = QuotedPlaces(finder)
        self._passages = passages
        self._fields = {_steps(field.path): field for field in fields if field.value is not None}
        scored = finder.scored()
        self._found = {field.path: finder.verdicts(field, scored[field.path]) for field in fields}
        self._scores = {path: {one.place.spans: one.score for one in entries} for path, entries in scored.items()}
        # The places that the finder itself would show
        self._sure = {path: verdict for path, found in self._found.items() for verdict in found if _is_sure(verdict)}
        self._taken = sorted((verdict.place.start, verdict.place.end, path) for path, verdict in self._sure.items())
        self._counts: dict[str, int] = defaultdict(int)
        self._stands: dict[str, int] = defaultdict(int)  # the places that the quotes of a field have
        self._backed: dict[str, list[_Backed]] = defaultdict(list)
        self._trust = 0.0  # how much of what was quoted stands in the document and says its value

    def reject(self, quotes: Sequence[tuple[str, str]]) -> Iterator[RejectedQuote]:
        """Take all quotes in; those that are refused, and why."""
        heard = [self._heard(path, quote) for path, quote in quotes]
        counted = {
            told: not isinstance(one, str) for told, one in zip(quotes, heard, strict=True) if one not in _NO_VOTE
        }
        self._trust = (sum(counted.values()) + 1) / (len(counted) + 2)
        backs_nothing = self._trust <= HALF and len(counted) > _FEW
        for (path, quote), one in zip(quotes, heard, strict=True):
            why = one if isinstance(one, str) else DISTRUSTED if backs_nothing else self._refused(*one)
            if why is not None:
                yield RejectedQuote(path=path, quote=quote, why=why)

    def _heard(self, path: str, quote: str) -> str | tuple[Field, list[Place], Sequence[Span]]:
        """The field, the places of its value in the quote, and where that stands; or why it is none."""
        field = self._field(path)
        if field is None:
            return ABSENT
        self._counts[field.path] += 1
        if self._counts[field.path] > MOST_QUOTES:
            return SURPLUS
        spans = self._passages.find(quote)
        if not spans:
            return UNFOUND
        places = self._places.within(field, spans)
        return (field, places, spans) if places else UNSAID

    def _refused(self, field: Field, places: Sequence[Place], spans: Sequence[Span]) -> str | None:
        """Why a quote is refused that says the value; None when it is taken."""
        sure = self._sure.get(field.path)
        self._stands[field.path] += len(places)
        scored = [self._finder.scorer.entry(field, place) for place in places[:MOST_QUOTED]]
        if sure is not None and any(place.spans == sure.place.spans for place in places):
            settled = self._finder.scorer.entry(field, sure.place)
            better = [entry for entry in scored if entry.score > settled.score + OUTDONE_COMMON]
            scored = better or [settled]
        allowed = [entry for entry in scored if self._is_allowed(field, entry, spans)]
        known = {one.entry.place.spans for one in self._backed[field.path]}
        self._backed[field.path] += [_Backed(entry, spans) for entry in allowed if entry.place.spans not in known]
        return None if allowed else DENIED

    def verdicts(self, field: Field) -> list[Verdict]:
        """What is cited for a field: by quotes; by the finder where there is none, or where it settles which place."""
        found, backed, sure = self._found[field.path], self._backed[field.path], self._sure.get(field.path)
        if not backed:
            is_unbacked = sure is not None and self._counts and sure.confidence < UNBACKED
            return _doubted(found) if is_unbacked else found
        if sure is not None and any(one.entry.place.spans == sure.place.spans for one in backed):
            return [Verdict(sure.place, max(QUOTED, sure.confidence))] if self._stands[field.path] == 1 else found
        ranked = sorted(backed, key=lambda one: (-one.entry.score, one.entry.place.start))
        best = ranked[0]
        alike = [one for one in ranked if best.entry.score - one.entry.score <= SETTLED_BY]
        if len(alike) > 1 and best.entry.place.kind != "answer":  # of several phrases that answer alike any will do
            if self._trust < TRUSTED or len(best.spans) > 1 or any(one.spans is not best.spans for one in alike):
                return [Verdict(one.entry.place, ALIKE) for one in ranked[:MOST_REPEATS]]
            best = max(alike, key=lambda one: one.entry.place.start)  # words lead to a value
        open_to_doubt = best.entry.place.weight < (READING_SETTLED if self._trust < TRUSTED else ALIKE)
        if open_to_doubt or self._is_contested(field, best.entry, best.spans):
            others = [verdict for verdict in found if verdict.place.spans != best.entry.place.spans]
            return [Verdict(best.entry.place, ALIKE), *_doubted(others)]
        return [Verdict(best.entry.place, QUOTED)]

    def _is_allowed(self, field: Field, entry: Scored, spans: Sequence[tuple[int, int]]) -> bool:
        """Whether the finder does not deny a place, nor knows a much better one."""
        sure = self._sure.get(field.path)
        if sure is not None and sure.place.spans == entry.place.spans:
            return True
        strict = self._trust < TRUSTED
        elsewhere = self._places.is_other_elements(field, entry.place, at_home=strict)
        elsewhere = elsewhere and not self._places.is_only(field, entry.place)
        if entry.place.kind == "answer":
            return not elsewhere and not self._places.is_anothers_answer(field, entry.place, spans)
        if elsewhere or self._is_denied(field, entry):
            return False
        if sure is None:
            return True
        # A value that is rare (no year) and nobody else's hardly stands in a quote by chance.
        long = entry.place.end - entry.place.start > _YEAR
        deliberate = long and field.is_telling and not any(self._places.others(field, entry.place))
        better = OUTDONE if deliberate else OUTDONE_COMMON
        return self._finder.scorer.entry(field, sure.place).score <= entry.score + better

    def _is_denied(self, field: Field, entry: Scored) -> bool:
        """Whether a place cannot say the field: the text denies it, or it is another role's or field's."""
        rivals = self._rivals(field, entry)
        return self._places.denies(field, entry) or any(rival.score > entry.score + CONTESTED for rival in rivals)

    def _rivals(self, field: Field, entry: Scored) -> Iterator[Scored]:
        """What a place is to the other fields whose value it says, without those that surely stand elsewhere."""
        for other in self._places.others(field, entry.place):
            here, sure = self._finder.scorer.entry(other, entry.place), self._sure.get(other.path)
            if sure is None or here.score > self._exchanged(field, entry, other, sure.place) - SETTLED_BY:
                yield here

    def _exchanged(self, field: Field, entry: Scored, other: Field, place: Place) -> float:
        """The score of the other field here from which on both would do as well if they changed places."""
        return (
            entry.score + self._finder.scorer.entry(other, place).score - self._finder.scorer.entry(field, place).score
        )

    def _is_contested(self, field: Field, entry: Scored, spans: Sequence[Span]) -> bool:
        """Whether a place may be another field's, or the finder has a better one and the model is not trusted."""
        place, scores = entry.place, self._scores[field.path]
        if self._places.is_only(field, place):
            return False
        if self._is_anothers(field, place, spans):
            return True
        if self._trust >= TRUSTED:
            return False
        if len(scores) > 3 and not field.is_telling and entry.score < 0 and not entry.features[_LINE]:
            return True  # a common value, on a line that says nothing of the field
        shared = any(self._places.others(field, place))
        if shared and max(scores.values(), default=0.0) > scores.get(place.spans, 0.0) + CONTESTED:
            return True  # two fields have the value, and the finder knows a better place for this one
        return any(other.score > entry.score - CONTESTED for other in self._rivals(field, entry))

    def _is_anothers(self, field: Field, place: Place, spans: Sequence[Span]) -> bool:
        """Whether the words are another field's: of an equal value, or of one that the quote holds as well."""
        others = [other.path for other in self._places.others(field, place)]
        surely = (self._sure.get(path) for path in others)
        if field.path not in self._sure and any(one is not None and one.place.spans == place.spans for one in surely):
            return True
        if any(one.entry.place.spans == place.spans for path in others for one in self._backed[path]):
            return True  # two fields are said to stand in one place
        if self._places.is_part(field, place):
            return True
        overlapping = self._others_in(field, place.start, place.end, overlaps=True)
        if any((start, end) != place.spans[0] for start, end, _ in overlapping):
            return True
        if any(verdict.place.spans == place.spans for verdict in self._found[field.path]):
            return False
        # Words lead to a value: a quote may be another field's that stands behind in it and has no quote of its own.
        own = [(low, high) for low, high in spans if low <= place.start < high]
        behind = (one for low, high in own for one in self._others_in(field, low, high) if one[0] > place.start)
        return any(all(one.entry.place.start != start for one in self._backed[path]) for start, _, path in behind)

    def _others_in(
        self, field: Field, low: int, high: int, *, overlaps: bool = False
    ) -> Iterator[tuple[int, int, str]]:
        """The places inside of a span, or overlapping it, that the finder is sure other fields have, and whose."""
        first = bisect_left(self._taken, (low,))
        for start, end, path in self._taken[max(0, first - 1) if overlaps else first :]:
            if start >= high:
                break
            if path != field.path and (end > low if overlaps else end <= high):
                yield start, end, path

    def _field(self, path: str) -> Field | None:
        """The field that a model means: `items[0].amount`, `/items/0/amount`, `$.answer.items.0.amount`."""
        steps = _steps(path)
        while steps not in self._fields and steps[:1] in (("$",), ("answer",)):
            steps = steps[1:]
        return self._fields.get(steps)


def _doubted(found: Sequence[Verdict]) -> list[Verdict]:
    return [Verdict(verdict.place, min(ALIKE, verdict.confidence)) for verdict in found]


def _is_sure(verdict: Verdict) -> bool:
    return verdict.confidence >= DEFAULT_LINE


def _steps(path: str) -> tuple[str, ...]:
    return tuple(step.strip(" \"'") for step in _STEP.findall(path))
