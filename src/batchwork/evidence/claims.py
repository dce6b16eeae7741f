"""Which fields of a result have a claim to a place: those whose value it says.

A place has one owner. One that says another field's value, under labels that fit that field as well, is no sign that
this field's value is a different one.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from batchwork.evidence.affinity import Affinity
from batchwork.evidence.fields import Field
from batchwork.evidence.source import Candidate, Source

_AS_WELL = 0.05  # how much worse a place may fit its owner than another field


class Claims:
    """The places of one source, and the fields of one result whose values stand there."""

    def __init__(
        self,
        source: Source,
        affinity: Affinity,
        fields: Sequence[Field],
        candidates: Mapping[str, Sequence[Candidate]],
    ) -> None:
        self._source = source
        self._affinity = affinity
        self._at: dict[int, list[tuple[Field, Candidate]]] = defaultdict(list)
        for field in fields:
            for candidate in candidates[field.path]:
                self._at[candidate.start].append((field, candidate))

    def is_anothers(self, field: Field, start: int, score: float) -> bool:
        """Whether a place says another field's value, and fits that field as well as this one."""
        return any(
            other.path != field.path and self._score(other, candidate) >= score - _AS_WELL
            for other, candidate in self._at.get(start, ())
        )

    def _score(self, field: Field, candidate: Candidate) -> float:
        context = self._source.contexts.of(candidate.start, candidate.end)
        return self._affinity.score(field, context, candidate.kind)
