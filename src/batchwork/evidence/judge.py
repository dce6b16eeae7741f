"""Which of the places that say a value play the field's role, and how sure that is.

The rules of the house: a place needs its field's label, or no label at all and nothing that speaks against it; a label
of the field beside another value contradicts; two places that fit alike are told with a confidence below one half.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice

from batchwork.evidence.affinity import Affinity
from batchwork.evidence.claims import Claims
from batchwork.evidence.fields import Field
from batchwork.evidence.page.boxes import box_before, empty_box_behind
from batchwork.evidence.page.context import Context
from batchwork.evidence.page.labels import unnumbered
from batchwork.evidence.reading.mention import Mention
from batchwork.evidence.source import FIGURES, Candidate, Source
from batchwork.evidence.unlabelled import RIVALRY, UNSURE, Scored, Unlabelled
from batchwork.evidence.vocabulary.lexicon import CURRENCIES, GENERIC, NEGATIONS
from batchwork.evidence.vocabulary.words import concepts, fold, likeness

ACCEPTED = 0.5
LEFT_OVER = 0.55
_ANOTHERS = 0.23  # the fit of a place whose labels name another role
_AS_WELL = 0.05  # how much worse a place may fit its owner than another field
_CLEARLY, _SLIGHTLY = 0.2, 0.15  # how much better a place must fit than another field, or may fit worse
_ALIKE = 0.02
_CONTRADICTS = 0.4  # the fit of another value's place that puts a place with hardly a label in doubt
_LABELLED = {"text": 0.42, "id": 0.42, "symbol": 0.0}
_LABELLED_FIGURE = 0.5
_TIE = 0.06
_RIVALS = 80
_MOST_LINES = 300  # with words of the field, in which a rival is looked for
_OPTIONS = 20
_RELATED = 0.15
_MARGINAL = frozenset({"note", "page", "line"})
_EMPTY = re.compile(r"[\s:=\-–—.]*(?:n/?a|none|not stated|unknown|tbd|nil)?[\s.\-–—]*", re.IGNORECASE)
_HOME = re.compile(r"^(?P<label>[^:\n@<>]{2,45}?)\s?:\s+(?P<value>[^\s{\[].*)$")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A place and how sure it is that it says this field."""

    candidate: Candidate
    confidence: float


@dataclass(frozen=True, slots=True)
class Stake:
    """What a field has in a place that no label gives it."""

    candidate: Candidate
    score: float
    contradicted: bool

    def wins(self, others: Sequence["Stake"]) -> bool:
        """Whether the place is this field's and not one of the others' whose value it says too."""
        if self.contradicted:
            return False
        least = self.score - _CLEARLY
        return all(other.score <= (self.score + _SLIGHTLY if other.contradicted else least) for other in others)


class Judge:
    """Decides for the fields of one result over one source."""

    def __init__(self, source: Source, fields: list[Field], candidates: Mapping[str, Sequence[Candidate]]) -> None:
        self._source = source
        self.affinity = Affinity(fields)
        self.claims = Claims(self._scored, fields, candidates)
        self._unlabelled = Unlabelled(source, self.affinity)

    def score(self, field: Field, candidate: Candidate) -> float:
        """How well the labels of a candidate fit the field."""
        return self._scored(field, candidate).score

    def decide(self, field: Field, candidates: list[Candidate], lines: tuple[int, int] | None = None) -> list[Verdict]:
        """The places to cite, best first; empty when none says this field. `lines` is all the text that counts."""
        scored = [self._scored(field, candidate) for candidate in candidates if not self.is_denied(field, candidate)]
        if not scored:
            return []
        scored.sort(key=lambda entry: (-round(entry.score, 3), not entry.candidate.exact, entry.candidate.start))
        best = scored[0]
        ties = [entry for entry in scored if entry.score >= best.score - _TIE]
        rival = self._rival(field, best, [entry.candidate for entry in scored], lines)
        if rival >= 0.5 and (rival > best.score + 0.12 or (rival >= 0.9 and rival > best.score + 0.05)):
            return []
        figure = best.candidate.kind in FIGURES
        if best.score >= _LABELLED.get(best.candidate.kind, _LABELLED_FIGURE):
            confidence = 0.55 + 0.43 * best.score
            if not figure and self._unlabelled.misses_whom(field, best):
                confidence = UNSURE
        else:
            confidence = self._unlabelled.confidence(field, best, alone=len(ties) == 1, rival=rival)
        if confidence <= 0:
            return []
        if figure and rival >= 0.5 and rival > best.score - _ALIKE:
            confidence = min(confidence, 0.45)  # the same label beside another value: either may be meant
        repeats = self._repeats(best, ties)
        if len(ties) > len(repeats) and (figure or best.score >= 0.42):
            doubt = self._doubt(field, best, [tie for tie in ties if tie not in repeats], figure)
            confidence = min(confidence, doubt)
            if doubt < ACCEPTED:
                return [Verdict(entry.candidate, min(confidence, entry.candidate.weight)) for entry in ties[:5]]
        return [Verdict(entry.candidate, _capped(confidence, entry.candidate)) for entry in repeats]

    def stake(self, field: Field, candidates: Sequence[Candidate], settled: Set[str]) -> Stake | None:
        """What speaks for a field at the only place of its value, whose labels hardly name it; None when it has more.

        It is contradicted when its own label stands beside another value, or when the place's label is another role's
        or that of another field which is not settled yet.
        """
        if len({candidate.spans for candidate in candidates}) != 1 or candidates[0].weight < ACCEPTED:
            return None
        only = self._scored(field, candidates[0])
        rival = self._rival(field, only, [only.candidate])
        contradicted = (
            (rival >= _CONTRADICTS and rival > only.score - _ALIKE)
            or self.affinity.fit(field, only.context, only.candidate.kind) < _ANOTHERS
            or self.is_denied(field, only.candidate)
            or self.claims.is_named_for_another(field, only, settled)
            or not self._unlabelled.may_be_left(field, only)
        )
        return Stake(only.candidate, only.score, contradicted)

    def _doubt(self, field: Field, best: Scored, others: list[Scored], figure: bool) -> float:
        """What confidence remains when other places fit as well."""
        if all(self._says_the_same(field, best, entry) for entry in others):
            return 0.9
        if best.candidate.kind == "symbol" or not figure:
            # A name or an id means the same wherever it stands; the first place is as good as the others.
            return 0.6 if not any(_is_row(entry, best) for entry in others) else 0.45
        return 0.4

    def _repeats(self, best: Scored, ties: list[Scored]) -> list[Scored]:
        """The best place and those that say the same under the same label, as running heads do."""
        if best.candidate.kind == "symbol":
            return [best]
        line = self._line_text(best)
        repeats = [best]
        for entry in ties:
            if entry is best or entry.context.line == best.context.line:
                continue
            same_line = self._line_text(entry) == line and self._source.layout.tables[entry.context.line] < 0
            same_heading = self._headings(entry) == self._headings(best)
            if same_line and (same_heading or abs(entry.context.line - best.context.line) > 20):
                repeats.append(entry)
        return repeats

    def _says_the_same(self, field: Field, best: Scored, other: Scored) -> bool:
        """Two labels, differently put, that both name the field and nothing else: the text says it twice."""
        if min(best.score, other.score) < 0.8:
            return False
        texts = [{label.text for label in entry.context.primary} for entry in (best, other)]
        if texts[0] & texts[1]:
            return False  # one label, two places: which of them is meant is not said
        words = {word for entry in (best, other) for label in entry.context.primary for word in label.key}
        return all(word in GENERIC or any(likeness(word, own) >= 0.4 for own in field.words) for word in words)

    def _line_text(self, entry: Scored) -> str:
        line = self._source.layout.lines[entry.context.line]
        return " ".join(self._source.text[line.start : line.end].split())

    def _headings(self, entry: Scored) -> list[str]:
        layout = self._source.layout
        return [layout.lines[number].cells[0].text for number in layout.headings[entry.context.line]]

    def _scored(self, field: Field, candidate: Candidate) -> Scored:
        context = self._source.contexts.of(candidate.start, candidate.end)
        score = self.affinity.score(field, context, candidate.kind)
        if candidate.weight >= ACCEPTED:
            score *= 0.4 + 0.6 * candidate.weight  # 8 is rather "8.00" than "8%"
        if candidate.kind == "text" and (field.options or score > _RELATED):
            score = min(1.0, score + 0.5 * (box_before(self._source.text, candidate.start) is True))
        return Scored(score, candidate, context)

    def is_denied(self, field: Field, candidate: Candidate) -> bool:
        """Whether the text says that it is not so: "not active", an empty box."""
        if candidate.kind not in ("text", "id"):
            return False
        text = self._source.text
        if self._is_label_word(field, candidate):
            return True
        if box_before(text, candidate.start) is False or empty_box_behind(text, candidate.start, candidate.end):
            return True
        line_start = text.rfind("\n", 0, candidate.start) + 1
        before = text[max(line_start, candidate.start - 30) : candidate.start]
        said = text[candidate.start : candidate.end]
        plain = (
            bool(field.options) or said.islower() or (field.value.islower() if isinstance(field.value, str) else False)
        )
        if not plain or len(said.split()) > 2:
            return False
        words = [fold(word) for word in re.findall(r"[^\W_]+(?:['’]\w+)?", before)][-2:]
        if not words or fold(said.split()[0]) in NEGATIONS:
            return False
        return words[-1] in NEGATIONS or (
            words[0] in ("not", "no", "nicht")
            and words[-1] in ("yet", "longer", "been", "an", "a", "the", "currently", "be")
        )

    def _is_label_word(self, field: Field, candidate: Candidate) -> bool:
        """Whether the place is a word of a label ("Emergency contact:") rather than something said."""
        cell = self._source.layout.cell_of(candidate.start)
        if cell is None or candidate.end - candidate.start >= len(cell.text) - 1 or len(cell.text) > 60:
            return False
        label, colon, _ = cell.text.partition(":")
        if colon and candidate.end - cell.start <= len(label) and candidate.kind == "text":
            return field.options != () or candidate.end - candidate.start < len(label.strip()) - 1
        return self._source.contexts.columns.is_heading(cell)

    def _rival(
        self,
        field: Field,
        best: Scored,
        candidates: list[Candidate],
        within: tuple[int, int] | None = None,
        *,
        lenient: bool = True,
    ) -> float:
        """How well the field's own label stands beside another value; `lenient` leaves out what is another field's."""
        if not field.own:
            return 0.0
        own = [word for word in field.own if word not in GENERIC] or list(field.own)
        if best.candidate.kind in ("text", "id", "symbol"):
            return self._string_rival(field, own, best, candidates, within)
        source = self._source
        lines = source.lines_with(own)
        lines |= {line + 1 for line in lines} | {line + 2 for line in lines}
        if within is not None:
            lines &= set(range(*within))
        is_date = best.candidate.kind == "date"
        told = (source.dates_on.get(line, ()) if is_date else source.numbers_on(line) for line in sorted(lines))
        mentions = [mention for mentions in told for mention in mentions]
        strongest = 0.0
        for mention in mentions[:_RIVALS]:
            if any(candidate.start <= mention.start < candidate.end for candidate in candidates):
                continue
            if all(reading.kind == "part" or reading.weight < 0.5 for reading in mention.readings):
                continue
            kind = "date" if is_date else self._kind_of(mention.readings[0].kind, mention.money)
            if self._is_of_another_kind(field, best, kind, mention) or self._is_box_number(mention):
                continue
            context = source.contexts.of(mention.start, mention.end)
            if any(label.kind == "above" and _MARGINAL.issuperset(label.key) for label in context.primary if label.key):
                continue  # a column that says where to read on
            if not _is_said_nearby(own, context):
                continue
            floor = max(strongest, best.score - RIVALRY)  # below this a rival changes nothing
            score = self.affinity.score(field, context, kind, floor)
            if score > strongest and not (lenient and self._is_anothers(field, mention.start, score)):
                strongest = score
        return strongest

    def _is_anothers(self, field: Field, start: int, score: float) -> bool:
        """Whether a place says the value of another field, which it fits as well and better than any other place."""
        return any(
            place.score >= score - _AS_WELL
            and self._rival(other, place, [place.candidate], lenient=False) <= place.score
            for other, place in self.claims.at(start, but=field)
        )

    def _is_of_another_kind(self, field: Field, best: Scored, kind: str, mention: Mention) -> bool:
        """Whether what a label stands beside is another kind of thing: a share, or a count where a sum is meant."""
        if (kind == "percent") != (best.candidate.kind == "percent"):
            return True
        if kind == "money" and best.candidate.kind == "number":
            return _is_count(field, best.context)
        if best.candidate.kind == "money" and not mention.money and CURRENCIES.intersection(field.own):
            return True
        in_words = not any(map(str.isdigit, self._source.text[mention.start : mention.end]))
        return best.candidate.kind == "money" and in_words and not mention.money

    def _is_box_number(self, mention: Mention) -> bool:
        """Whether it is the number of a label in a form ("16 State wages")."""
        cell = self._source.layout.cell_of(mention.start)
        return cell is not None and cell.start == mention.start and unnumbered(cell.text) != cell.text

    def _kind_of(self, reading: str, money: bool) -> str:
        return "percent" if reading in ("fraction", "percent") else "money" if money else "number"

    def _string_rival(
        self,
        field: Field,
        own: list[str],
        best: Scored,
        candidates: list[Candidate],
        within: tuple[int, int] | None,
    ) -> float:
        """A line "label: something else" whose label is the field's own."""
        source = self._source
        layout = source.layout
        strongest = self._other_option(field, best, within)
        used = {label.text for label in best.context.labels}  # a label that is the best place's own is no rival's
        numbers = (n for n in sorted(source.lines_with(own)) if within is None or within[0] <= n < within[1])
        for number in islice(numbers, _MOST_LINES):
            cells = layout.lines[number].cells
            for rank, cell in enumerate(cells):
                found = _HOME.match(cell.text)
                if found:
                    label, low, high = found["label"], cell.start + found.start("value"), cell.end
                elif rank + 1 < len(cells) and cell.text not in used and (cell.text.endswith(":") or len(cells) == 2):
                    label, low, high = cell.text, cells[rank + 1].start, cells[rank + 1].end
                else:
                    continue
                said = source.text[low:high]
                if "@" in said and "@" not in source.text[best.candidate.start : best.candidate.end]:
                    continue  # an address is nobody's name
                if any(low - 1 <= candidate.start < high for candidate in candidates) or said in ("{", "["):
                    continue
                if (best.candidate.kind == "id") != any(map(str.isdigit, said)) and not _EMPTY.fullmatch(said):
                    continue
                strongest = max(strongest, self._label_match(field, label))
        return strongest

    def _other_option(self, field: Field, best: Scored, within: tuple[int, int] | None) -> float:
        """How well another choice of the field's fits in another line: what it says there, it does not say here."""
        strongest = 0.0
        for option in field.options[:_OPTIONS]:
            if fold(option) == fold(str(field.value)):
                continue
            other = replace(field, value=option)
            for candidate in self._source.candidates(other):
                line = self._source.layout.line_of(candidate.start)
                if line == best.context.line or not (within is None or within[0] <= line < within[1]):
                    continue
                if not self.is_denied(other, candidate):
                    strongest = max(strongest, self._scored(other, candidate).score)
        return strongest

    def _label_match(self, field: Field, label: str) -> float:
        words = concepts(label)
        if not words or len(words) > 5:
            return 0.0
        wanted = {word: 0.4 if word in GENERIC else 1.0 for word in field.own}
        said = sum(weight * max(likeness(word, other) for other in words) for word, weight in wanted.items()) / sum(
            wanted.values()
        )
        known = sum(1 for word in words if any(likeness(word, other) >= 0.7 for other in field.words)) / len(words)
        return said * (0.3 + 0.7 * known)


def _is_said_nearby(own: list[str], context: Context) -> bool:
    """Whether a word of the field stands at the place itself, not only in a heading above."""
    near = {word for label in context.labels if label.kind != "section" for word in label.key}
    return any(likeness(word, said) >= 0.4 for word in own for said in near)


def _is_count(field: Field, context: Context) -> bool:
    """Whether the field asks how many: by its name, or because what it is called follows the number."""
    behind = {word for label in context.labels if label.kind == "after" for word in label.key[:2]}
    return "number" in field.own or any(word in behind for word in field.own if word not in GENERIC)


def _capped(confidence: float, candidate: Candidate) -> float:
    if candidate.weight < ACCEPTED:
        return min(confidence, candidate.weight)
    return confidence * (0.5 + 0.5 * candidate.weight) if candidate.weight < 1 else confidence


def _is_row(entry: Scored, best: Scored) -> bool:
    """Whether both stand under one column heading, so that the rows make the difference."""
    heads = [{label.text for label in one.context.labels if label.kind == "above"} for one in (entry, best)]
    return bool(heads[0] & heads[1])
