"""Which fields of a result have a claim to a place: those whose value it says, and those that its labels name."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import islice

from batchwork.evidence.affinity import can_say, scope_of
from batchwork.evidence.fields import Field
from batchwork.evidence.source import Candidate
from batchwork.evidence.unlabelled import Scored

_MOST_OTHERS = 100  # fields without a place that are asked whether this one is theirs
_NAMED, _BETTER = 0.4, 0.15  # how well labels must fit another field to be its own, and how much better


class Claims:
    """The places of one source, and the fields of one result that they may belong to."""

    def __init__(
        self,
        scored: Callable[[Field, Candidate], Scored],
        fields: Sequence[Field],
        candidates: Mapping[str, Sequence[Candidate]],
    ) -> None:
        self._scored = scored
        self._fields = fields
        self._at: dict[int, list[tuple[Field, Candidate]]] = defaultdict(list)
        for field in fields:
            for candidate in candidates[field.path]:
                self._at[candidate.start].append((field, candidate))

    def at(self, start: int, *, but: Field) -> Iterator[tuple[Field, Scored]]:
        """The other fields whose value stands here, and how well the place fits them."""
        for field, candidate in self._at.get(start, ()):
            if field.path != but.path:
                yield field, self._scored(field, candidate)

    def is_claimed(self, start: int) -> bool:
        """Whether any field's value stands here."""
        return start in self._at

    def is_named_for_another(self, field: Field, place: Scored, settled: Set[str]) -> bool:
        """Whether the labels of a place are clearly another field's that has no place yet, whatever its value is."""
        least = max(_NAMED, place.score + _BETTER)
        scope, kind = scope_of(field), place.candidate.kind
        others = (
            other
            for other in self._fields
            if other.path not in settled and other.path != field.path and other.value is not None
            if scope_of(other) == scope and can_say(kind, other)
        )
        return any(self._scored(other, place.candidate).score >= least for other in islice(others, _MOST_OTHERS))
