"""Which fields of a result could claim a place: those whose value it says, and those of whose place it is a part."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout
from batchwork.evidence.readers import Place, Span
from batchwork.evidence.thresholds import MOST_QUOTED


class SharedPlaces:
    """The places of all values of one result."""

    def __init__(self, fields: Sequence[Field], places: Mapping[str, Sequence[Place]], layout: Layout) -> None:
        self._layout = layout
        self._saying: dict[tuple[Span, ...], list[Field]] = defaultdict(list)
        self._on_line: dict[int, list[Span]] = defaultdict(list)  # places of one span, by the line where they begin
        for field in fields:
            for spans in {place.spans for place in places[field.path]}:
                if len(spans) == 1 and spans not in self._saying:
                    self._on_line[layout.line_of(spans[0][0])].append(spans[0])
                self._saying[spans].append(field)

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
