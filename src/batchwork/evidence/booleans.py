"""Yes or no: find the phrase that says it, and understand when it says the opposite.

Forms: an answer beside the question ("Gift wrap: no"), a ticked or empty box, a chosen one of two options, a sentence
with or without a negation, and words that carry their own opposite ("unpaid", "inactive", "excluded").
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from msgspec import Struct

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout
from batchwork.evidence.thresholds import NAMED_ENOUGH, NAMING
from batchwork.evidence.words import GENERIC, NEGATIONS, PATTERNS, VOCABULARY, ConceptIndex, concepts, fold, nearest

_PATTERNS: dict[str, str] = PATTERNS["booleans"]

_WORDS = VOCABULARY["answers"]
_OPPOSITES: dict[str, str] = {}
for _pair in VOCABULARY["opposites"]:
    for _one, _other in (_pair.split(), _pair.split()[::-1]):
        _OPPOSITES[_one] = f"{_OPPOSITES.get(_one, '')} {_other}".strip()
_MEANINGS: dict[str, tuple[str, ...]] = dict.fromkeys(_WORDS["may"].split(), tuple(_WORDS["permits"].split()))
for _group in VOCABULARY["alike"]:
    for _word in _group.split():
        _MEANINGS[_word] = tuple(dict.fromkeys((*_MEANINGS.get(_word, ()), *concepts(_group))))
# A key of a program is as many words as it has humps: notifyOnFailure.
_WORD = re.compile(r"(?<![^\W_])[a-z]+(?=[A-Z][a-z])|[A-Z][a-z]+(?=[A-Z][a-z])|[^\W_]+(?:['’][^\W_]+)?")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|,\s+(?=[\w.-]+=\S)|\n\s*\n|\n(?=\s*(?:[-*•▪‣]|\d+[.)]|#|\||\[))")
_BOX = re.compile(r"(?P<on>\[[xX✓✔*]\]|\([xX✓]\)|[☑☒✓✔⊠●])|(?P<off>\[\s?\]|\(\s?\)|[☐□○])")
_ANSWER = re.compile(_PATTERNS["answer"])
_UNKNOWN = re.compile(r"[\s:=?|]*(?:n/?a|not applicable|not stated|unknown|tbd|-+|—|\?)\s*$", re.IGNORECASE)
_TO_ANSWER = re.compile(r"\s?\.{3,}\s*|[^.:?\n\t]{0,40}?[:?]\s*(?:(?:A|Answer)[:.]\s*)?|\s{2,}|\t|\s*\|\s*|\s*")
_BETWEEN = re.compile(r"[:=?|>\t]|\s{2,}|–|—|\s-\s|\.{3}")
_ENDS = re.compile(r"[\"']?\s*(?:$|[.,;|\t)<}\]]|\s{2,}|\()|[ \t]*\n")
_OPTION = re.compile(r"\b(?:(?P<yes>yes|true|ja|oui|sí|si)|(?P<no>no|false|nein|non|nee))\b", re.IGNORECASE)
_ASKING = frozenset(_WORDS["asking"].split())
_DOUBT = frozenset(_WORDS["doubt"].split())
# What is denied ends at punctuation, and where another verb or subject follows ("does not smoke and has").
_CLAUSE_END = re.compile(_WORDS["clause_end"], re.IGNORECASE)
_CLAUSE_STOPS = re.compile(
    r"(?:\s+(?:is|are|was|were|does|do|has|have))?(?:\s+(?:not|too|neither|either))?\s*(?:[.,;:!?\n]|$)"
)
_KEY = re.compile(r"[A-Z][\w-]*: \S")
_STOP, _STOP_LINE = re.compile(r"\.(?:\s|$)"), re.compile(r"[ \t]*(?:\n|$)")
_AND = re.compile(r"\w\s+(?:and|und|et|y)\s")
_OF_THE_NEXT = frozenset(_WORDS["of_the_next"].split())
_PREFIXES = ("un", "in", "non", "im", "ir", "dis")
_REACH = 60  # characters to a word that still denies


class Statement(Struct, frozen=True, gc=False):
    """A phrase that answers a field's question; `strength` says how fully it names the field."""

    start: int
    end: int
    says: bool
    strength: float


class _Word(Struct, frozen=True, gc=False):
    start: int
    end: int
    word: str
    opposite: bool = False


class Phrases:
    """The sentences of a text, and the lines of its forms and tables, by the concepts they name."""

    def __init__(self, layout: Layout) -> None:
        self._text = layout.text
        self._places = _units(layout)
        named = (set(map(fold, _WORD.findall(self._text, start, end))) for start, end in self._places)
        self._index = ConceptIndex(chain.from_iterable(map(_named, words)) for words in named)

    def statements(self, field: Field) -> list[Statement]:
        """Every phrase that answers the field, strongest first; by its description where none has its name."""
        wanted = _asked(field.own) or list(field.own)
        said = frozenset(re.split(r"[_\W]+", field.name.lower())) & NEGATIONS
        negated = frozenset(word for word in said if set(wanted).isdisjoint(concepts(word)))
        found = self._answers(wanted, negated)
        if not found and len(described := _asked(field.described)) > 1:
            found = self._answers(described, frozenset())
        return sorted(found, key=lambda statement: -statement.strength)

    def _answers(self, wanted: list[str], negated: frozenset[str]) -> list[Statement]:
        counts: dict[int, float] = {}
        for concept in dict.fromkeys(wanted):
            for number in self._index.naming(concept):
                counts[number] = counts.get(number, 0.0) + _worth(concept)
        least = NAMED_ENOUGH * sum(map(_worth, set(wanted))) - 1e-9
        read = (self._read(*self._places[n], tuple(wanted), negated) for n in sorted(counts) if counts[n] >= least)
        return [statement for statement in read if statement is not None and statement.strength >= NAMED_ENOUGH]

    def _read(self, begin: int, end: int, wanted: tuple[str, ...], negated: frozenset[str]) -> Statement | None:
        text = self._text
        words = [_Word(m.start(), m.end(), fold(m.group())) for m in _WORD.finditer(text, begin, end)]
        hits: list[_Word] = []
        named: set[str] = set()
        for word in words:
            straight = {want for want in wanted if _names(want, _meant(word.word))}
            turned = set() if straight else {want for want in wanted if _names(want, _denied(word.word))}
            if straight or turned:
                hits.append(_Word(word.start, word.end, word.word, bool(turned)))
                named |= straight | turned
        if not hits:
            return None
        strength = sum(map(_worth, named)) / sum(map(_worth, set(wanted)))
        hits = _closest(hits, len(named))
        box = _boxed(text, begin, end, hits)
        if box is not None:
            return Statement(*box, strength + 0.2)
        last = hits[-1]
        if _UNKNOWN.match(text, last.end, end):
            return None
        repeated = not negated or bool(negated & {word.word for word in words})  # "Disabled: no" is the name itself
        turned_name = any(hit.opposite for hit in hits) == repeated
        answer = _answer(text, last.end, end)
        if answer is not None:
            return Statement(answer[0], answer[1], answer[2] != turned_name, strength + 0.2)
        if "?" in text[last.end : end]:
            return None  # a question says nothing by itself
        return _sentence(text, words, hits, strength, negated, turned=not repeated)


def _asked(words: Iterable[str]) -> list[str]:
    return [word for word in words if word not in NEGATIONS and word not in _ASKING]


def _sentence(
    text: str, words: list[_Word], hits: list[_Word], strength: float, negated: frozenset[str], *, turned: bool
) -> Statement | None:
    """What a sentence says of the words that name the field: denied an odd number of times it says no."""
    first, last = hits[0], hits[-1]
    clause = [word for word in words if _is_near(text, word, first, last)]
    free = [word for word in clause if all(word.start != hit.start for hit in hits)]
    if any(word.word in _DOUBT and word.start < last.start for word in free):
        return None
    denials = [
        word
        for word in free
        if (word.word in NEGATIONS or text[word.start : word.end].lower().endswith(("n't", "n’t")))
        and word.word not in negated
        and not (word.word in _OF_THE_NEXT and word.start > last.end)
    ]
    if any(word.word == "neither" for word in denials):
        denials = [word for word in denials if word.word != "nor"]
    if _is_cut(text, first.end, last.start) and not _CLAUSE_STOPS.match(text, last.end):
        return None  # of two clauses each has a subject and a verb of its own
    if any(word.word in _OF_THE_NEXT and _AND.search(text, word.end, first.start) for word in denials):
        return None  # "no pets and smokes" or "no cats and dogs"
    if len(clause) <= len(hits) and len(words) <= 6 and not _is_told(text, first.start, last.end):
        return None  # a label or a heading that says nothing by itself
    says = (len(denials) + sum(hit.opposite for hit in hits) + turned) % 2 == 0
    low = min([first.start, *(word.start for word in denials)])
    return Statement(low, max([last.end, *(word.end for word in denials)]), says, strength)


def _is_told(text: str, start: int, end: int) -> bool:
    """Whether bare words are said and do not head anything: a full stop ends them, or they stand behind a label."""
    return bool(_STOP.match(text, end)) or (
        text[max(0, start - 4) : start].rstrip(" ").endswith(":") and bool(_STOP_LINE.match(text, end))
    )


def _is_near(text: str, word: _Word, first: _Word, last: _Word) -> bool:
    """Whether a word stands in the clause of these, and not far from them."""
    if first.start <= word.start <= last.end:
        return True
    low, high = (last.end, word.start) if word.start > last.end else (word.end, first.start)
    return high - low < _REACH and not _is_cut(text, low, high)


def _is_cut(text: str, low: int, high: int) -> bool:
    """Whether another clause begins between two places; its verb may stand behind the second one."""
    found = _CLAUSE_END.search(text, low, high + _REACH)
    return found is not None and found.start() < high


def _closest(hits: list[_Word], count: int) -> list[_Word]:
    """The shortest stretch that still names as many of the wanted words."""
    if len(hits) <= count:
        return hits
    windows = [hits[index : index + count] for index in range(len(hits) - count + 1)]
    return min(windows, key=lambda part: (len({hit.word for hit in part}) < count, part[-1].end - part[0].start))


def _boxed(text: str, begin: int, end: int, hits: list[_Word]) -> tuple[int, int, bool] | None:
    """A box before or behind the words, or a ticked one among options behind them."""
    boxes = list(_BOX.finditer(text, begin, end))
    if not boxes:
        return None
    last = hits[-1]
    options = list(_OPTION.finditer(text, last.end, end))
    if options:
        leads = boxes[0].start() < options[0].start()
        for box in (box for box in boxes if box["on"] and box.start() > last.start):
            after = [option for option in options if option.start() >= box.end()]
            before = [option for option in options if option.end() <= box.start()]
            for option in (after[:1] if leads else before[-1:]) or after or before:
                return option.start(), option.end(), option["yes"] is not None
        return None
    leading = all(re.match(r"\s{0,3}[^\W\d_]", text[box.end() : box.end() + 4]) for box in boxes)
    own = [box for box in boxes if box.end() <= last.start]
    if leading and own and not any(boxes[0].start() < hit.start < own[-1].start() for hit in hits):
        return own[-1].start(), last.end, own[-1]["on"] is not None
    behind = [box for box in boxes if box.start() >= last.end]
    if behind and not text[last.end : behind[0].start()].strip(" :\t|.-"):
        return behind[0].start(), behind[0].end(), behind[0]["on"] is not None
    return None


def box_before(text: str, start: int) -> bool | None:
    """Whether the box right before a place is ticked; None when there is none."""
    line = text.rfind("\n", 0, start) + 1
    boxes = list(_BOX.finditer(text, max(line, start - 6), start))
    if not boxes or text[boxes[-1].end() : start].strip(" "):
        return None
    return boxes[-1]["on"] is not None


def _is_yes(found: re.Match[str]) -> bool:
    ticked = bool(found["tick"]) and found["tick"] in "✓✔☑☒"
    return bool(found["yes"]) or ticked or (bool(found["box"]) and found["box"].strip("[] ") != "")


def _answer(text: str, position: int, end: int) -> tuple[int, int, bool] | None:
    """The answer word right behind the label, at the end of its cell or line."""
    colon = _TO_ANSWER.match(text, position, end)  # the label may go on a little ("Insurance (optional): yes")
    found = _ANSWER.match(text, colon.end() if colon else position, end)
    if found is None or not _ENDS.match(text[found.end("answer") : end]):
        return None
    if not _BETWEEN.search(text, position, found.start("answer")):
        return None
    return found.start("answer"), found.end("answer"), _is_yes(found)


@lru_cache(maxsize=50_000)
def _meant(word: str) -> tuple[str, ...]:
    """What a word names straight."""
    return concepts(word) + _MEANINGS.get(word, ())


@lru_cache(maxsize=50_000)
def _named(word: str) -> tuple[str, ...]:
    """What a word names, straight or by denying it."""
    return _meant(word) + _denied(word)


@lru_cache(maxsize=50_000)
def _denied(word: str) -> tuple[str, ...]:
    """What a word names by denying it."""
    prefixed = (word[len(p) :] for p in _PREFIXES if word.startswith(p) and len(word) > len(p) + 3)
    return concepts(_OPPOSITES.get(word, "")) + tuple(c for rest in prefixed for c in concepts(rest))


def _names(want: str, meant: tuple[str, ...]) -> bool:
    return nearest(want, meant) >= NAMING


def _worth(concept: str) -> float:
    """How much of a question a concept is: "goods" in "exports goods" says little."""
    return 0.4 if concept in GENERIC else 1.0


def _units(layout: Layout) -> list[tuple[int, int]]:
    """Sentences, and lines of forms and tables, each by itself."""
    units: list[tuple[int, int]] = []
    begin, end = -1, 0
    for line in layout.lines:
        single = line.kind == "text" and len(line.cells) == 1
        keyed = single and _KEY.match(line.cells[0].text) is not None
        prose = single and line.end - line.start >= 30 and not line.cells[0].text.startswith(("{", "<", '"', "[", "☐"))
        if begin >= 0 and (keyed or not (single and end + 1 == line.start and (prose or end - begin >= 38))):
            units.extend(_sentences(layout.text, begin, end))
            begin = -1
        if prose or (begin >= 0 and single):
            begin, end = line.start if begin < 0 else begin, line.end
        elif sum(":" in cell.text[:-1] for cell in line.cells) > 1 and not line.cells[0].text.endswith("?"):
            units.extend((cell.start, cell.end) for cell in line.cells)
        elif line.kind == "text":
            units.append((line.start, line.end))
    return [*units, *(_sentences(layout.text, begin, end) if begin >= 0 else ())]


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    cuts = [start]
    for gap in _SENTENCE.finditer(text, start, end):
        cuts.extend((gap.start(), gap.end()))
    cuts.append(end)
    return [(low, high) for low, high in zip(cuts[::2], cuts[1::2], strict=True) if low < high]
