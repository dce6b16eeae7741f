"""Yes or no: find the phrase that says it, and understand when it says the opposite.

One scheme for all forms. The words of a line, cell or sentence that name the question are found; then a box that
belongs to them answers it, or an answer right behind them ("Gift wrap: no"), or their own clause does, which says no
when it is denied an odd number of times. Words that carry their own opposite ("unpaid", "excluded") turn what is said.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from heapq import nlargest
from itertools import chain, islice
from math import log

from msgspec import Struct
from msgspec.structs import replace

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout
from batchwork.evidence.thresholds import HALF, MOST_NAMED, MOST_STATEMENTS, NAMING
from batchwork.evidence.words import GENERIC, NEGATIONS, PATTERNS, ROOT, VOCABULARY, concepts, fold, nearest, reach

_WORDS = VOCABULARY["answers"]
_OPPOSITES: dict[str, str] = {}
for _pair in VOCABULARY["opposites"]:
    for _one, _other in (_pair.split(), _pair.split()[::-1]):
        _OPPOSITES[_one] = f"{_OPPOSITES.get(_one, '')} {_other}".strip()
_MEANINGS: dict[str, tuple[str, ...]] = dict.fromkeys(_WORDS["may"].split(), tuple(_WORDS["permits"].split()))
for _group in VOCABULARY["alike"]:
    for _word in _group.split():
        _MEANINGS[_word] = tuple(dict.fromkeys((*_MEANINGS.get(_word, ()), *concepts(_group))))
_FORMS = {name: re.compile(pattern) for name, pattern in PATTERNS["booleans"].items()}
_BOX_BEFORE = re.compile(rf"(?:{PATTERNS['booleans']['box']}) *\Z")
_ASKING, _DOUBT, _OF_THE_NEXT = (frozenset(_WORDS[name].split()) for name in ("asking", "doubt", "of_the_next"))
_SILENT = NEGATIONS | _ASKING
# What is denied ends at punctuation, and where another verb or subject follows ("does not smoke and has").
_CLAUSE_END = re.compile(_WORDS["clause_end"], re.IGNORECASE)
_PREFIXES = ("un", "in", "non", "im", "ir", "dis")
_REACH, _FEW = 60, 6  # characters to a word that still denies; words of a line that may be no more than a label
_PARENT, _DESCRIBED = 0.5, 0.4  # what a word of another kind is worth beside one of the field's own
_Word = re.Match[str]
_OPEN: list[_Word] = []


class Statement(Struct, frozen=True, gc=False):
    """A phrase about a field; `strength` says how fully it names the field, `about` how much of what is asked."""

    start: int
    end: int
    says: bool | None  # None where it names the question and leaves it open
    strength: float
    about: float = 0.0
    is_answer: bool = False  # a plain yes or no, or a box


class Phrases:
    """The sentences of a text, and the lines of its forms and tables, by those of their words that may name a field."""

    def __init__(self, layout: Layout, fields: Iterable[Field]) -> None:
        self._text = layout.text
        self._places = list(_units(layout))
        said = [set(_FORMS["word"].findall(self._text, *place)) for place in self._places]
        asked = frozenset(root for field in fields for root in reach(field.own + field.parents + field.described))
        heard = frozenset[str]().union(*said)
        self._naming = {word: list[int]() for word in heard if not asked.isdisjoint(_meanings(word)[2])}
        for number, words in enumerate(said):
            for word in words & self._naming.keys():
                self._naming[word].append(number)

    def statements(self, field: Field, within: tuple[int, int] | None = None) -> list[Statement]:
        """The phrases with all of a question's own words, or with most of what is asked, rare words first."""
        asked = question(field)
        worth = dict.fromkeys((word for word in field.described if word not in _SILENT), _DESCRIBED)
        worth |= dict.fromkeys(field.parents, _PARENT)
        worth |= {word: _PARENT if word in GENERIC else 1.0 for word in asked[0]}
        told, whole = defaultdict[int, float](float), Counter[int]()
        total = 0.0
        for concept, plain in worth.items():
            alike = (places for word, places in self._naming.items() if _naming(concept, word))
            naming = set(chain.from_iterable(alike))
            weight = plain * log(2 + len(self._places) / (1 + len(naming)))
            total += weight
            for number in naming:
                told[number] += weight
                whole[number] += concept in asked[0]
        found = []
        described = [word for word in worth if word not in asked[0]]
        inside = [n for n in sorted(told) if within is None or within[0] <= self._places[n][0] < within[1]]
        best = nlargest(MOST_STATEMENTS, inside, key=lambda number: (told[number], -number))
        named = (number for number in inside if whole[number] == len(set(asked[0])))
        for number in dict.fromkeys((*best, *islice(named, MOST_NAMED))):
            begin, end = self._places[number]
            one = self.read(begin, end, *asked)
            if (one is None or one.says is None) and described:
                one = self.read(begin, end, described, NEGATIONS.intersection(field.described))
                one = replace(one, strength=one.strength * HALF) if one and one.strength >= HALF else None
            if one is not None and one.says is not None:
                found.append(replace(one, about=told[number] / total))
        return sorted(found, key=lambda statement: -statement.strength)

    def read(self, begin: int, end: int, wanted: list[str], negated: frozenset[str]) -> Statement | None:
        """What a line, cell or sentence answers."""
        text = self._text
        words = list(_FORMS["word"].finditer(text, begin, end))
        naming = [word for word in words if word[0] in self._naming and any(_naming(one, word[0]) for one in wanted)]
        named = {want for want in wanted for word in naming if _naming(want, word[0])}
        if named == {want for want in wanted for word in naming if _naming(want, word[0]) > 0}:  # opposites say no more
            naming = [word for word in naming if any(_naming(want, word[0]) > 0 for want in wanted)]
        hits = _closest(naming, len(named))
        if not hits:
            return None
        strength = len(named) / len(set(wanted))
        opposite = any(all(_naming(want, hit[0]) <= 0 for want in wanted) for hit in hits)
        repeated = not negated or not negated.isdisjoint(fold(word[0]) for word in words)  # "Disabled: no" is the name
        turned = opposite == repeated
        told, answer = _boxed(text, begin, end, hits), _FORMS["answer"].match(text, hits[-1].end(), end)
        if told is None and answer:
            told = *answer.span("answer"), answer["yes"] is not None
        if told is not None:
            return Statement(told[0], told[1], told[2] != turned, strength + 0.2, is_answer=True)
        if "?" in text[hits[-1].end() : end]:
            return None  # a question says nothing by itself
        denials = _denials(text, words, hits, negated)
        if denials is None or denials is _OPEN:
            return None if denials is None else Statement(hits[0].start(), hits[-1].end(), None, strength)
        low, high = min(word.start() for word in (*hits, *denials)), max(word.end() for word in (*hits, *denials))
        high = said.end() if (said := _FORMS["said"].match(text, high, end)) else high
        return Statement(low, high, (len(denials) + turned) % 2 == 0, strength)


def question(field: Field) -> tuple[list[str], frozenset[str]]:
    """The concepts that a phrase must name to answer a field, and the denials that are a part of its name."""
    wanted = [word for word in field.own if word not in _SILENT] or list(field.own)
    said = frozenset(re.split(r"[_\W]+", field.name.lower())) & NEGATIONS
    return wanted, frozenset(word for word in said if set(wanted).isdisjoint(concepts(word)))


def _closest(hits: list[_Word], count: int) -> list[_Word]:
    """The shortest stretch that still names as many of the wanted words."""
    windows = [hits[index : index + count] for index in range(len(hits) - count + 1)]
    fullest = [part for part in windows if len({fold(hit[0]) for hit in part}) == count] or windows
    return min(fullest, key=lambda part: part[-1].end() - part[0].start()) if hits and windows else hits


def _boxed(text: str, begin: int, end: int, hits: list[_Word]) -> tuple[int, int, bool] | None:
    """The box to which the words belong, or the ticked one of two options behind them."""
    boxes = list(_FORMS["box"].finditer(text, begin, end))
    first, last = hits[0].start(), hits[-1].end()
    leading = all(_FORMS["box_leads"].match(text, box.end(), end) for box in boxes)
    edges = [begin, *(place for box in boxes for place in box.span()), end]
    for rank, box in enumerate(boxes, start=1):
        low, high = edges[2 * rank : 2 * rank + 2] if leading else edges[2 * rank - 2 : 2 * rank]
        option = _FORMS["option"].search(text, max(low, last), high)
        if option and box["on"]:
            return option.start(), option.end(), option["yes"] is not None
        if not option and low <= first and last <= high:
            start, stop = (box.start(), last) if leading else box.span()
            return start, stop, box["on"] is not None
    return None


def box_before(text: str, start: int) -> bool | None:
    """Whether the box right before a place is ticked; None when there is none."""
    found = _BOX_BEFORE.search(text, max(0, start - 6), start)
    return None if found is None else found["on"] is not None


def _denials(text: str, words: list[_Word], hits: list[_Word], negated: frozenset[str]) -> list[_Word] | None:
    """The words that deny what these say in their clause; None when that is doubted, `_OPEN` when nothing is said."""
    first, last = hits[0], hits[-1]
    low, high = first.start() - _REACH, last.end() + _REACH
    either = [one.span() for one in _FORMS["either"].finditer(text, max(0, low), high + _REACH)]
    inside = False  # whether another clause begins between them; its verb may stand behind
    for cut in _CLAUSE_END.finditer(text, max(0, low), high + _REACH):
        if any(start <= cut.start() < end for start, end in either):
            continue
        if cut.start() >= last.end():
            high = min(high, cut.start())
            break
        low = cut.start() if cut.start() < first.start() else low
        inside = inside or (first.end() <= cut.start() < last.start() and not cut[0].endswith("("))
    free = [word for word in words if low < word.end() and word.start() <= high and word not in hits]
    free = [word for word in free if not any(start <= word.start() < end for start, end in either)]
    doubted = any(fold(word[0]) in _DOUBT and word.start() < last.start() for word in free)
    doubted = doubted or any(start <= first.start() and last.end() <= end for start, end in either)
    said = text.startswith(".", last.end()) or text.endswith(": ", 0, first.start())
    stops = not inside or _FORMS["clause_stops"].match(text, last.end())  # of two clauses each has a verb of its own
    if doubted or not stops or (not free and len(words) <= _FEW and not said):
        return None if doubted or not stops else _OPEN  # or it is a label that says nothing by itself
    denials = {word: fold(word[0]) for word in free if fold(word[0]) in NEGATIONS - negated}
    neither = "neither" in denials.values()
    single = ((word, said) for word, said in denials.items() if not (neither and said == "nor"))
    single = ((word, said) for word, said in single if said not in _OF_THE_NEXT or word.start() < last.end())
    return [word for word, said in single if said != "non" or any(hit.start() - word.end() < 2 for hit in hits)]


@lru_cache(maxsize=50_000)
def _naming(want: str, word: str) -> int:
    """Whether a word names a concept, 1 for straight and -1 for by denying it; 0 when it does not."""
    straight, denied, _ = _meanings(word)
    return 1 if nearest(want, straight) >= NAMING else -int(bool(denied) and nearest(want, denied) >= NAMING)


@lru_cache(maxsize=50_000)
def _meanings(word: str) -> tuple[tuple[str, ...], tuple[str, ...], frozenset[str]]:
    """What a word names straight, what by denying it, and how all of that begins: a quick look before the exact one."""
    word = fold(word)
    prefixed = (word[len(p) :] for p in _PREFIXES if word.startswith(p) and len(word) > len(p) + 3)
    straight = concepts(word) + _MEANINGS.get(word, ())
    denied = concepts(_OPPOSITES.get(word, "")) + tuple(c for rest in prefixed for c in concepts(rest))
    return straight, denied, frozenset(concept[:ROOT] for concept in straight + denied)


def _units(layout: Layout) -> Iterator[tuple[int, int]]:
    """Sentences, and lines of forms and tables, each by itself."""
    begin, end = -1, 0
    for line in layout.lines:
        single = line.kind == "text" and len(line.cells) == 1
        prose = single and line.end - line.start >= 30
        if begin >= 0 and not (single and end + 1 == line.start):
            yield from sentences(layout.text, begin, end)
            begin = -1
        if prose or (begin >= 0 and single):
            begin, end = line.start if begin < 0 else begin, line.end
        elif sum(":" in cell.text[:-1] for cell in line.cells) > 1 and not line.cells[0].text.endswith("?"):
            yield from ((cell.start, cell.end) for cell in line.cells)
        elif line.kind == "text":
            yield line.start, line.end
    if begin >= 0:
        yield from sentences(layout.text, begin, end)


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretches of some text that say something by themselves."""
    for gap in _FORMS["sentence"].finditer(text, start, end):
        yield start, gap.start()
        start = gap.end()
    yield start, end
