"""A text as phrases: sentences of prose, and lines of forms and tables, each with its words.

Knows which phrases name given concepts, straight or by their opposite ("unpaid" names paid), without reading them all.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from batchwork.evidence.page.layout import Layout
from batchwork.evidence.vocabulary.lexicon import GENERIC, NEGATIONS
from batchwork.evidence.vocabulary.sayings import MEANINGS, OPPOSITES, VERBS
from batchwork.evidence.vocabulary.words import concepts, fold, likeness

_TWO = "|".join(form.replace(" ", r"\s+") for form in VERBS)
# A key of a program is as many words as it has humps: notifyOnFailure.
_WORD = re.compile(
    rf"\b(?:{_TWO})\b|(?<![^\W_])[a-z]+(?=[A-Z][a-z])|[A-Z][a-z]+(?=[A-Z][a-z])|[^\W_]+(?:['’][^\W_]+)?",
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n\s*\n|\n(?=\s*(?:[-*•▪‣]|\d+[.)]|#|\||\[))")
BOX = re.compile(r"(?P<on>\[[xX✓✔*]\]|\([xX✓]\)|[☑☒✓✔⊠●])|(?P<off>\[\s?\]|\(\s?\)|[☐□○])")
_RECORDS = ("{", "<", '"')  # a line of a dump says nothing of the next one
_LOOSELY, _GENERIC = 0.8, 0.4
_NAMED = 0.7  # how like a word must be to a concept to name it
_PREFIXES = ("un", "in", "non", "im", "ir", "dis")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a phrase, folded."""

    start: int
    end: int
    word: str
    denies: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A word that names the field, perhaps by its opposite."""

    start: int
    end: int
    word: str
    opposite: bool


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence or a line, with its words."""

    start: int
    end: int
    words: tuple[Word, ...]


class Phrases:
    """All phrases of a text, by the concepts they name."""

    def __init__(self, layout: Layout) -> None:
        self.text = layout.text
        self._layout = layout
        self._places = _units(layout)
        self._naming: dict[str, set[int]] = {}
        for number, (start, end) in enumerate(self._places):
            for word in set(_WORD.findall(self.text, start, end)):
                for concept in all_concepts(_folded(word)):
                    self._naming.setdefault(concept, set()).add(number)
        self._alike: dict[str, list[str]] = {}
        for concept in self._naming:
            self._alike.setdefault(concept[:4], []).append(concept)

    def naming(self, wanted: list[str], enough: float) -> list[Phrase]:
        """The phrases that name at least this share of the wanted concepts."""
        counts: dict[int, float] = {}
        for concept in set(wanted):
            numbers = set(self._naming.get(concept, ()))
            for other in self._alike.get(concept[:4], ()):
                if other != concept and likeness(concept, other) >= _NAMED:
                    numbers |= self._naming[other]
            for number in numbers:
                counts[number] = counts.get(number, 0.0) + worth(concept)
        least = enough * sum(map(worth, set(wanted))) - 1e-9
        return [self._phrase(*self._places[number]) for number in sorted(counts) if counts[number] >= least]

    def stand_under(self, start: int, wanted: tuple[str, ...]) -> bool:
        """Whether a heading over this place names one of the concepts."""
        lines = self._layout.headings[self._layout.line_of(start)]
        said = {concept for line in lines for concept in concepts(self._layout.lines[line].cells[0].text)}
        return any(likeness(want, other) >= _NAMED for want in wanted for other in said)

    def _phrase(self, start: int, end: int) -> Phrase:
        return Phrase(start, end, tuple(map(_word, _WORD.finditer(self.text, start, end))))


@lru_cache(maxsize=50_000)
def all_concepts(word: str) -> tuple[str, ...]:
    """What a word names, straight or by denying it."""
    straight = _said(word) + concepts(OPPOSITES.get(VERBS.get(word, word), ""))
    if not word.startswith(_PREFIXES):
        return straight
    return straight + tuple(
        other
        for prefix in _PREFIXES
        if word.startswith(prefix) and len(word) > len(prefix) + 3
        for other in concepts(word[len(prefix) :])
    )


@lru_cache(maxsize=50_000)
def _said(word: str) -> tuple[str, ...]:
    """What a word, or a verb of two, names straight."""
    return _literally(word) + MEANINGS.get(word, ())


def _literally(word: str) -> tuple[str, ...]:
    noun = word.removesuffix("ary") if word.endswith("ary") else ""  # probationary, disciplinary
    return concepts(word) + concepts(VERBS.get(word, "")) + concepts(noun)


@lru_cache(maxsize=50_000)
def names(word: str, wanted: tuple[str, ...]) -> tuple[bool, bool]:
    """Whether a word names one of the concepts, and whether it does so by its opposite."""
    if any(likeness(want, other) >= _NAMED for want in wanted for other in _said(word)):
        return True, False
    opposite = any(likeness(want, other) >= _NAMED for want in wanted for other in all_concepts(word))
    return opposite, opposite


@lru_cache(maxsize=50_000)
def closeness(word: str, want: str) -> float:
    """How surely a word names a concept: 0 when it does not, less than 1 by a word that only comes to the same."""
    if not names(word, (want,))[0]:
        return 0.0
    loosely = word in MEANINGS and not any(likeness(want, other) >= _NAMED for other in _literally(word))
    return _LOOSELY if loosely and any(likeness(want, other) >= _NAMED for other in MEANINGS[word]) else 1.0


def worth(concept: str) -> float:
    """How much of a question a concept is: "goods" in "exports goods" says little."""
    return _GENERIC if concept in GENERIC else 1.0


def _folded(word: str) -> str:
    return fold(word) if word.isalnum() else " ".join(map(fold, word.split()))


def _word(match: re.Match[str]) -> Word:
    word = _folded(match.group())
    denies = word in NEGATIONS or match.group().lower().endswith(("n't", "n’t"))
    return Word(match.start(), match.end(), word, denies)


def _units(layout: Layout) -> list[tuple[int, int]]:
    """Sentences, and lines of forms and tables, each by itself."""
    units: list[tuple[int, int]] = []
    begin: int | None = None
    prose_end = 0
    for number, line in enumerate(layout.lines):
        above = layout.lines[number - 1] if number else None
        prose = (
            line.kind == "text"
            and len(line.cells) == 1
            and line.end - line.start >= 30
            and not line.cells[0].text.startswith(_RECORDS)
            and not BOX.search(line.cells[0].text)
        )
        goes_on = (
            prose_end and above is not None and above.end == prose_end and line.kind == "text" and len(line.cells) == 1
        )
        if begin is not None and not (goes_on and (prose or (above is not None and above.end - above.start >= 38))):
            units.extend(_sentences(layout.text, begin, prose_end))
            begin = None
        if prose or (begin is not None and line.kind == "text"):
            begin = line.start if begin is None else begin
            prose_end = line.end
        elif line.kind == "text":
            units.append((line.start, line.end))
            prose_end = 0
    if begin is not None:
        units.extend(_sentences(layout.text, begin, prose_end))
    return units


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    cuts = [start]
    for gap in _SENTENCE.finditer(text, start, end):
        cuts.extend((gap.start(), gap.end()))
    cuts.append(end)
    return [(low, high) for low, high in zip(cuts[::2], cuts[1::2], strict=True) if low < high]
