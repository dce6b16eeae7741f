"""What a place is worth whose labels do not name the field: how sure it may be all the same, or not at all.

A figure without a label says little; a name says more, but only where nothing else claims it: a label of another role,
a heading of another column, a sentence about somebody else.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from batchwork.evidence.affinity import Affinity
from batchwork.evidence.fields import Field
from batchwork.evidence.page.context import Context
from batchwork.evidence.page.labels import Label, is_named
from batchwork.evidence.page.layout import overlap
from batchwork.evidence.reading.shapes import shows_its_kind
from batchwork.evidence.source import FIGURES, Candidate, Source
from batchwork.evidence.vocabulary.lexicon import GENERIC, NAMELESS, PARTIES, TITLES, words
from batchwork.evidence.vocabulary.words import concepts, is_known, likeness, words_of

_SHORT = 3  # words before a figure that are a label even without a colon
_NOT_FAR = 45
UNSURE = 0.45
LENT = 0.57  # a place that the field may have unless another claims it
_OWN_PAPER = 0.62
RIVALRY = 0.1  # how much worse another value may fit and still put a place in doubt
_ENOUGH, _LITTLE = 20_000, 4  # characters that tell a language by their small words, and how long those are
_ENGLISH = words("the of and to in for is on by with from at be this that or as are not an")
_FOREIGN = words(
    "der die das und den dem ein von zu mit für bei auf im ist nach des zum zur le la les de des du et un une en au aux"
    " pour est sur el los las del y por con se il lo gli di e per che al da i het een van voor met op te bij uw"
)
_ACCIDENT = 3  # so many small words of another language stand in any text
_PIECES = 3  # of a code; more make an address
_FEW_DIGITS = 3  # a number of fewer stands in a text by accident
_FAINT = 0.1  # a unit or a word that at least points to the field
_HINT = 0.4  # how much of a word of the field must be said near a name
_SAME = 0.95  # how like a word must be to be the same one
_HALF, _NEAR = 0.36, 0.8  # of the name, said by words right at the place
_TITLE_LINES = 3  # the first lines with words: whose paper it is, and what
_PARTIES = frozenset(concept for word in PARTIES for concept in concepts(word))
_TITLES = frozenset(concept for word in TITLES for concept in concepts(word))
_NAMELESS = frozenset(concept for word in NAMELESS for concept in concepts(word))
_CODES = frozenset(
    concept for word in words("number reference code registration id ref no") for concept in concepts(word)
)
_LITTLE_WORDS = words("of the a an for by from to with as at in on and is was are dr mr mrs ms")
_ANYBODY = frozenset({"person", "party", "contact", "customer", "number"})
_BY = (" by ", " by\n")
_LEADS = {"as": words("job title"), "in": words("place location city venue"), "at": words("place location venue")}
_AGENTS = ("er", "or", "ee", "ist", "ant", "ian")  # who does something: lender, lessor, trustee, chemist, tenant


@dataclass(frozen=True, slots=True)
class Scored:
    """A place, its labels, and how well they fit the field."""

    score: float
    candidate: Candidate
    context: Context


class Unlabelled:
    """Judges places that no label of the field names, over one source."""

    def __init__(self, source: Source, affinity: Affinity) -> None:
        self._source = source
        self._affinity = affinity

    def confidence(self, field: Field, best: Scored, *, alone: bool, rival: float) -> float:
        """How sure it may be that this place is meant; 0 when its label names another role.

        `alone` says that no other place with the value fits as well, `rival` how well one with another value fits.
        """
        if not field.words:
            return 0.7 if alone else 0.4
        candidate, context, score = best.candidate, best.context, best.score
        if self._affinity.fit(field, context, candidate.kind) < 0.6:
            return 0.0
        figure = candidate.kind in FIGURES
        strange = self._is_strange(field, context, figure) or self._is_one_of_a_column(field, candidate, context)
        if not figure:
            return UNSURE if strange or not candidate.distinctive else self._of_name(field, best)
        if not alone or strange:
            return 0.35
        if score >= _HALF and rival <= score - RIVALRY and self._half_said(field, context):
            return 0.55
        if candidate.kind == "date":
            plain = all(GENERIC.issuperset(label.key) for label in context.primary)
            return 0.58 if context.free or plain or score >= 0.3 else UNSURE
        if candidate.distinctive:
            return 0.52 if context.free or score > 0.25 else UNSURE
        return 0.3

    def may_be_left(self, field: Field, only: Scored) -> bool:
        """Whether the only place of a value may be meant although no label says so."""
        candidate, context = only.candidate, only.context
        told_as_text = isinstance(field.value, str) and not (candidate.kind == "date" and "date" in field.words)
        if candidate.kind in FIGURES and not told_as_text:
            digits = sum(map(str.isdigit, self._source.text[candidate.start : candidate.end]))
            return candidate.distinctive or digits >= _FEW_DIGITS or candidate.kind != "number" or only.score > _FAINT
        if not candidate.distinctive or (only.score and self.misses_whom(field, only)):
            return False
        named = {word for label in context.labels if self._is_name(label, context, False) for word in label.key}
        told = named - GENERIC
        if any(likeness(word, own) >= 0.4 for word in told for own in field.words):
            return True
        if not named:
            # Told in a sentence: a role whose name is known would be recognised if it were told of somebody else.
            if candidate.kind == "id":
                return self._is_asked_for_code(field, candidate)
            asked = [part for part in words_of(field.name) if not GENERIC.issuperset(concepts(part))]
            whom = any(map(_is_party, asked)) and all(map(is_known, field.own))
            return whom and not self._is_named_before(field, candidate)
        return bool(told) and self._is_foreign and not any(map(is_known, told))

    def _is_asked_for_code(self, field: Field, candidate: Candidate) -> bool:
        """Whether the field asks for a code, and the word before this one does not say that it is another's."""
        pieces = self._source.text[candidate.start : candidate.end].split()
        asked = len(pieces) <= _PIECES and not _CODES.isdisjoint(field.own)
        return asked and not self._is_named_before(field, candidate)

    def _is_named_before(self, field: Field, candidate: Candidate) -> bool:
        """Whether the noun right before a place says that it is something else: "the position of Clerk"."""
        before = self._source.text[max(0, candidate.start - _NOT_FAR) : candidate.start].lower().split()
        last = next((word for word in reversed(before) if word.strip(".,:") not in _LITTLE_WORDS), "")
        told = [word for word in concepts(last) if word not in GENERIC and is_known(word)]
        return bool(told) and not any(likeness(word, own) >= _HINT for word in told for own in field.words)

    @cached_property
    def _is_foreign(self) -> bool:
        """Whether the text is in another language than names are: there a label may say anything."""
        said = [word for word in re.findall(r"[^\W\d_]+", self._source.text[:_ENOUGH].lower()) if len(word) <= _LITTLE]
        ours, theirs = (sum(1 for word in said if word in some) for some in (_ENGLISH, _FOREIGN))
        return theirs > max(ours, _ACCIDENT)

    def misses_whom(self, field: Field, best: Scored) -> bool:
        """Whether the labels speak of the field's topic but not of whom it asks for: "Travel:" for a travel agency."""
        asked = [part for part in words_of(field.name) if not GENERIC.issuperset(concepts(part))]
        if len(asked) < 2 or not _is_party(asked[-1]) or _ANYBODY.issuperset(concepts(asked[-1])):
            return False
        if self._source.text.endswith(_BY, 0, best.candidate.start):
            return False  # who does it is named
        whom = concepts(asked[-1])
        return not any(
            likeness(own, said) * weight >= _HINT for own in whom for said, weight in best.context.weights.items()
        )

    def _half_said(self, field: Field, context: Context) -> bool:
        """Whether a word right at the place is one that tells this field from others."""
        near = [word for word, weight in context.weights.items() if weight >= _NEAR]
        return any(likeness(own, word) >= _NEAR for own in field.own if own not in GENERIC for word in near)

    def _of_name(self, field: Field, best: Scored) -> float:
        """A name or an id: its surroundings hint at the field, or it stands alone, or the text is about the field."""
        if self._hint(field, best.context, best.candidate.start, best.candidate.end) >= _HINT:
            return 0.62 + 0.2 * best.score
        if best.context.free:
            return self._alone(field, best.context)
        return LENT if self._is_topic(field) else UNSURE

    def _hint(self, field: Field, context: Context, start: int, end: int) -> float:
        """How much the words around say of any word that tells this field from others."""
        wanted = [word for word in field.words if word not in GENERIC]
        if not wanted or shows_its_kind(field, self._source.text[start:end]):
            return 1.0  # a mere status or name is whatever the text calls so
        before = self._source.text[max(0, start - 5) : start].split()
        if before and _LEADS.get(before[-1], frozenset()).issuperset(wanted):
            return 1.0
        return max(
            (likeness(w, said) * weight for w in wanted for said, weight in context.weights.items()), default=0.0
        )

    def _alone(self, field: Field, context: Context) -> float:
        """A name that nothing labels: whose paper it is and to whom it goes need no label, a code or a place does."""
        parts = [part for name in field.path.split(".") for part in words_of(name)]
        asked = [part for part in parts if not GENERIC.issuperset(concepts(part))]
        known = [part for part in asked if not (_PARTIES | _TITLES).isdisjoint(concepts(part))]
        if known or any(map(_is_party, asked)):
            if not all(part in known or _is_party(part) for part in asked):
                return UNSURE
            return _OWN_PAPER if len(known) == len(asked) else LENT
        lines = self._source.layout.lines[: context.line]
        titled = sum(1 for line in lines if line.cells) < _TITLE_LINES and not _NAMELESS.intersection(field.own)
        return LENT if titled else UNSURE

    def _is_topic(self, field: Field) -> bool:
        """Whether the text speaks of all that the field is called, so that it may be told without a label."""
        asked = [word for word in field.own if word not in GENERIC] or [*field.parents]
        return bool(asked) and all(self._source.lines_with([word], _SAME) for word in asked)

    def _is_strange(self, field: Field, context: Context, figure: bool) -> bool:
        """Whether a label of its own says something the field knows nothing of: then the place is another's."""
        told: set[str] = set()
        headed = any(label.kind == "above" for label in context.primary)  # what stands left of it is then a value
        for label in context.labels:
            if label.kind == "left" and headed:
                continue
            if self._is_name(label, context, figure):
                told.update(word for word in label.key if word not in GENERIC)
        return bool(told) and not any(likeness(word, own) >= 0.4 for word in told for own in field.words)

    def _is_name(self, label: Label, context: Context, figure: bool) -> bool:
        """Whether a label names what stands at the place, rather than standing near it."""
        if label.kind == "left":
            return figure or label.text.endswith(":") or self._is_pair(context)
        if label.kind == "inline":
            return is_named(label.text) or (figure and len(label.text.split()) <= _SHORT)
        return label.kind in ("above", "defined")

    def _is_pair(self, context: Context) -> bool:
        """Whether its line is a label and a value, not far from each other."""
        cells = self._source.layout.lines[context.line].cells
        near = len(cells) == 2 and cells[1].column - cells[0].until <= _NOT_FAR
        return near and cells[0].is_label and any(map(is_known, concepts(cells[0].text)))

    def _is_one_of_a_column(self, field: Field, candidate: Candidate, context: Context) -> bool:
        """Whether it is one row's value in a column whose heading does not name the field."""
        heads = [word for label in context.primary if label.kind == "above" for word in label.key]
        if field.record or not heads:
            return False
        if any(likeness(word, own) >= 0.7 for word in heads if word not in GENERIC for own in field.words):
            return False
        layout = self._source.layout
        first = layout.tables[context.line]
        cell = layout.cell_of(candidate.start, context.line)
        head = self._source.contexts.columns.head_row(context.line)
        if first < 0 or cell is None or not head:
            return False
        below = range(layout.line_of(head[0].start) + 1, len(layout.lines))
        rows = list(takewhile(lambda number: layout.tables[number] == first, below))
        if candidate.kind == "date":
            rows = [number for number in rows if number in self._source.dates_on]
        return sum(1 for number in rows if any(overlap(cell, other) for other in layout.lines[number].cells)) > 1


def _is_party(word: str) -> bool:
    """Whether a word of a field's name is somebody: by what it means, or by its ending."""
    return word.endswith(_AGENTS) or not _PARTIES.isdisjoint(concepts(word))
