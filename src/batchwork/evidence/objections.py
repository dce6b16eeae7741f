"""What the finder has to say about the places that somebody quotes for a field: where they are, and what denies them.

A place is denied where the text says that it is not so, where it is another role's, stands in another element's row, or
fits another field of the same value better.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import itemgetter

from batchwork.evidence.contradictions import is_denied
from batchwork.evidence.features import Candidate
from batchwork.evidence.fields import Field
from batchwork.evidence.find import Finder, list_of
from batchwork.evidence.readers import Place, Span, says
from batchwork.evidence.thresholds import CONTESTED, MOST_PLACES, MOST_QUOTED


class Objections:
    """Asks the finder of one result, after it has run."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._layout = finder.source.layout
        self._saying: dict[Span, list[Field]] = defaultdict(list)
        self._on_line: dict[int, list[Span]] = defaultdict(list)  # places by the line where they begin
        for field in finder.fields:
            for span in {place.span for place in finder.places[field.path]}:
                if span not in self._saying:
                    self._on_line[self._layout.line_of(span[0])].append(span)
                self._saying[span].append(field)
        self._rows: dict[str, list[Span]] = defaultdict(list)  # where the elements of a list stand
        for path, home in sorted(finder.homes.items(), key=lambda entry: entry[1].start):
            self._rows[list_of(path)].append((home.start, home.end))

    def places_in(self, field: Field, spans: Sequence[Span]) -> list[Place]:
        """The places inside of some spans, which are in order, that say a field's value."""
        if isinstance(field.value, bool):
            said = [one for one in self._finder.phrases.statements(field) if one.says == field.value]
            told = [one for one in said if any(low < one.end and one.start < high for low, high in spans)]
            return [Place((one.start, one.end), "answer") for one in told]
        known = self._finder.places[field.path]
        places = [place for place in known if _is_in(spans, *place.span)]
        if not places and (isinstance(field.value, str) or len(known) >= MOST_PLACES):
            text = self._finder.source.text  # what the whole text says better elsewhere may still be said here
            near = ((low + start, low + end) for low, high in spans for start, end in says(text[low:high], field.value))
            places = [Place(span, "text", exact=False) for span in near]
        return places

    def denies(self, field: Field, entry: Candidate) -> bool:
        """Whether a place cannot say this field: the text denies it, or it is another role's, row's or field's."""
        finder = self._finder
        if is_denied(finder.source, field, entry.place) or finder.scorer.is_another_role(field, entry):
            return True
        if self._is_other_elements(field, entry.place):
            return True
        return any(other.score > entry.score + CONTESTED for other in self.others_at(field, entry.place))

    def _is_other_elements(self, field: Field, place: Place) -> bool:
        """Whether a place stands where another element of the field's list does."""
        home = self._finder.homes.get(field.record)
        if not field.record or (home is not None and place in home):
            return False
        return _is_in(self._rows[list_of(field.record)], place.start, place.start + 1)

    def others_at(self, field: Field, place: Place) -> Iterator[Candidate]:
        """What a place is to the other fields whose value it says."""
        others = self._saying.get(place.span, ())[:MOST_QUOTED]
        return (self._finder.candidate(other, place) for other in others if other is not field)

    def is_part(self, field: Field, place: Place) -> bool:
        """Whether a place is a part of one that says another field's value: a name inside of an address."""
        return any(
            low <= place.start and place.end <= high and (low, high) != place.span
            for low, high in self._on_line.get(self._layout.line_of(place.start), ())
            if self._saying[low, high] != [field]
        )


def _is_in(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether a stretch lies in one of some spans, which are in order."""
    at = bisect_right(spans, start, key=itemgetter(0)) - 1
    return at >= 0 and end <= spans[at][1]
