"""What two fields may both want: a place has one owner, and one that nobody owns goes to whom nothing denies it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import permutations

from batchwork.evidence.fields import Field
from batchwork.evidence.judge import ACCEPTED, LEFT_OVER, Judge, Stake, Verdict
from batchwork.evidence.source import Candidate, Source
from batchwork.evidence.unlabelled import LENT, UNSURE
from batchwork.evidence.vocabulary.words import excludes

Found = dict[str, list[Verdict]]

SHARED = 0.6
_MOST_SHARED = 4  # places that are shared out
_MOST_CITING = 100  # fields that are looked at for one that excludes another
_SUITS = 0.5
_DOUBTFUL, _BETTER = 0.9, 0.1  # below this a place goes to a field that is so much surer of it


def _is_settled(verdicts: Sequence[Verdict]) -> bool:
    return bool(verdicts) and verdicts[0].confidence >= ACCEPTED


class Contest:
    """The fields of one result, and the places of one source that they cite."""

    def __init__(
        self, source: Source, judge: Judge, fields: Sequence[Field], candidates: Mapping[str, list[Candidate]]
    ) -> None:
        self._source = source
        self._judge = judge
        self._fields = fields
        self._by_path = {field.path: field for field in fields}
        self._candidates = candidates

    def settle(self, found: Found) -> None:
        """Take places from fields with the lesser claim, and give those that are left."""
        self._settle_claims(found)
        self._share_out(found)
        self._give_what_is_left(found)

    def _share_out(self, found: Found) -> None:
        """As many fields with one value as places that say it: to each the place that suits it, if that is clear."""
        groups: dict[tuple[int, ...], list[Field]] = defaultdict(list)
        for field in self._fields:
            places = tuple(sorted({candidate.start for candidate in self._candidates[field.path]}))
            if 1 < len(places) <= _MOST_SHARED and not field.record and not isinstance(field.value, str | bool):
                groups[places].append(field)
        for places, fields in groups.items():
            if len(fields) == len(places) and not all(_is_settled(found[field.path]) for field in fields):
                found.update(self._shared(fields))

    def _shared(self, fields: Sequence[Field]) -> Found:
        """The way of sharing places out that suits best; nothing when another way suits nearly as well."""
        ways = []
        places = {candidate.start: candidate for candidate in self._candidates[fields[0].path]}  # each read in one way
        for way in permutations(places.values()):
            scores = [self._judge.score(field, place) for field, place in zip(fields, way, strict=True)]
            ways.append((sum(scores), min(scores), way))
        ways.sort(key=lambda entry: entry[0], reverse=True)
        total, least, way = ways[0]
        if least < _SUITS or total < ways[1][0] + _BETTER:
            return {}
        return {field.path: [Verdict(place, SHARED)] for field, place in zip(fields, way, strict=True)}

    def _settle_claims(self, found: Found) -> None:
        """A place that hardly has a label is its field's only when no other field has a better claim to it."""
        claims: dict[tuple[int, int], float] = defaultdict(float)
        for verdict in (verdict for verdicts in found.values() for verdict in verdicts):
            span = verdict.candidate.spans[0]
            claims[span] = max(claims[span], verdict.confidence)
        citing: dict[int, list[Field]] = defaultdict(list)
        for field in self._fields:
            if found[field.path] and not isinstance(field.value, bool):
                citing[found[field.path][0].candidate.start].append(field)
        for path, verdicts in found.items():
            if not verdicts or verdicts[0].confidence > _DOUBTFUL:
                continue
            mine, most = verdicts[0].confidence, claims[verdicts[0].candidate.spans[0]]
            better = most > mine and (mine == LENT or most >= mine + _BETTER)
            if better or (most < mine + _BETTER and self._is_opposites(path, citing[verdicts[0].candidate.start])):
                found[path] = [Verdict(verdict.candidate, UNSURE) for verdict in verdicts]

    def _is_opposites(self, path: str, citing: Sequence[Field]) -> bool:
        """Whether two fields cite a place that cannot both have it: buyer and seller."""
        mine = self._by_path[path]
        others = {word for field in citing[:_MOST_CITING] if field.path != path for word in field.own}
        return any(excludes(word, other) for other in others for word in mine.own)

    def _give_what_is_left(self, found: Found) -> None:
        """The only place of a value that nobody got yet goes to the field that nothing denies it."""
        settled = {path for path, verdicts in found.items() if _is_settled(verdicts)}
        taken: set[int] = set()
        stakes: dict[int, dict[str, Stake]] = defaultdict(dict)
        for field in self._fields:
            verdicts, candidates = found[field.path], self._candidates[field.path]
            if field.path in settled:
                taken.update(verdict.candidate.start for verdict in verdicts)
            elif field.record or isinstance(field.value, bool):
                taken.update(candidate.start for candidate in candidates)
            elif self._has_an_end_elsewhere(field, found, settled):
                continue
            elif candidates and (stake := self._judge.stake(field, candidates, settled)) is not None:
                stakes[stake.candidate.start][field.path] = stake
            else:
                taken.update(candidate.start for candidate in candidates)
        for start, rivals in stakes.items():
            for path, stake in rivals.items():
                others = [other for name, other in rivals.items() if name != path]
                if start not in taken and stake.wins(others):
                    found[path] = [Verdict(stake.candidate, LEFT_OVER)]

    def _has_an_end_elsewhere(self, field: Field, found: Found, settled: set[str]) -> bool:
        """Whether its twin stands beside another date, which nobody claims: a period's end is where its start is."""
        stem = field.path.rpartition("_")[0]
        for twin in self._fields:
            if twin.path not in settled or not stem or twin.path.rpartition("_")[0] != stem:
                continue
            place = found[twin.path][0].candidate
            if place.kind == "date" and any(
                mention.start != place.start and not self._judge.claims.is_claimed(mention.start)
                for mention in self._source.dates_on.get(self._source.layout.line_of(place.start), ())
            ):
                return any(candidate.kind == "date" for candidate in self._candidates[field.path])
        return False
