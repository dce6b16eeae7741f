"""Yes or no: find the phrase that says it, and understand when it says the opposite.

Forms: an answer beside the question ("Gift wrap: no"), a ticked or empty box, a chosen one of two options, a sentence
with or without a negation, and words that carry their own opposite ("unpaid", "inactive", "excluded").
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from batchwork.evidence.fields import Field
from batchwork.evidence.layout import Layout
from batchwork.evidence.thresholds import NAMED_ENOUGH
from batchwork.evidence.words import GENERIC, NEGATIONS, VOCABULARY, concepts, fold, likeness

_TWO_WORDS = {form: meant for meant, forms in VOCABULARY["two_words"].items() for form in forms.split("|")}
_OPPOSITES: dict[str, str] = {}
for _pair in VOCABULARY["opposites"]:
    for _one, _other in (_pair.split(), _pair.split()[::-1]):
        _OPPOSITES[_one] = f"{_OPPOSITES.get(_one, '')} {_other}".strip()
_MEANINGS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("may", "can", "darf", "kann", "peut", "puede"), ("allow", "fit", "able", "entitl", "eligibl", "free", "right")
    ),
    **dict.fromkeys(("must", "shall", "muss"), ("require", "allow", "fit", "able")),
}
for _group in VOCABULARY["alike"]:
    for _word in _group.split():
        _MEANINGS[_word] = tuple(dict.fromkeys((*_MEANINGS.get(_word, ()), *concepts(_group))))
_WORD = re.compile(
    rf"\b(?:{'|'.join(form.replace(' ', '[ ]') for form in _TWO_WORDS)})\b"
    r"|(?<![^\W_])[a-z]+(?=[A-Z][a-z])|[A-Z][a-z]+(?=[A-Z][a-z])|[^\W_]+(?:['’][^\W_]+)?",
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n\s*\n|\n(?=\s*(?:[-*•▪‣]|\d+[.)]|#|\||\[))")
_BOX = re.compile(r"(?P<on>\[[xX✓✔*]\]|\([xX✓]\)|[☑☒✓✔⊠●])|(?P<off>\[\s?\]|\(\s?\)|[☐□○])")
_AUXILIARY = frozenset(
    "is are has have was were can does do did should be been flag include enabled status yes no".split()
)
_ASKING = frozenset("whether true false if so when unless otherwise".split())
_YES = "yes|y|true|ja|oui|sí|si|enabled|included|applicable|active|on|granted|accepted|required|agreed|provided|confirmed|available|present|ok|positive|valid|allowed|permitted|passed|fitted|installed|supplied|done|always"
_NO = r"no|n|false|nein|non|nee|not \w+|disabled|excluded|inactive|off|none|denied|rejected|declined|waived|absent|unavailable|negative|never|invalid|prohibited|without|forbidden|missing|refused|lacking|failed|withheld|untested"
_ANSWER = re.compile(
    rf"[\s:=?|.>\"'\-–—]*(?P<answer>(?P<no>{_NO})|(?P<yes>{_YES})|(?P<tick>[✓✔☑☒✗✘☐])|(?P<box>\[[ xX✓]?\]))(?![\w-])",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(r"[\s:=?|]*(?:n/?a|not applicable|not stated|unknown|tbd|-+|—|\?)\s*$", re.IGNORECASE)
_TO_ANSWER = re.compile(r"\s?\.{3,}\s*|[^.:?\n\t]{0,40}?[:?]\s*(?:(?:A|Answer|Antwort)[:.]\s*)?|\s{2,}|\t|\s*\|\s*|\s*")
_ENDS = re.compile(r"[\"']?\s*(?:$|[.,;|\t)<}\]]|\s{2,}|\()|[ \t]*\n")
_OPTION = re.compile(
    r"\b(?:(?P<yes>yes|true|ja|oui|sí|si|sim|tak|ano)|(?P<no>no|false|nein|non|nee|nej|nie|ne))\b", re.IGNORECASE
)
_DOUBT = frozenset({"if", "whether", "unless", "may", "might", "should", "could", "wenn", "ob", "falls"})
_SETTLED = re.compile(r"\s+(?:not(?! be\b)|no longer|keep|retain|remain|stay|continue)\b", re.IGNORECASE)
_FINITE = r"(?:am|is|are|was|were|has|have|had|does|do|did|will|would|shall|should|can|could|may|might|must|needs?|cannot|ist|sind|hat|haben|wird|werden|kann|darf|est|sont|es|son|ha|è|sono|zijn|heeft|wordt)"
_AND = r"(?:and|or|but|yet|while|whereas|und|oder|aber|et|ou|mais|y|pero|e|ma|en|maar)"
# What is denied ends at punctuation, and where a verb or a new subject follows ("does not smoke and has").
_CLAUSE_END = re.compile(
    rf"[.;:!?]\s|,\s*(?:and|but|or|which|while|aber|und|mais)\b|\b(?:but|however)\b|,\s+{_FINITE}\s"
    rf"|\b{_AND}\s+(?:(?:also|then|now|never|still)\s+)?(?:{_FINITE}|that|no|not|the|a|an|i|they|he|she|it|we|you|kein|keine|nicht)\b"
    rf"|(?P<subject>\b{_AND}\s+|,\s+(?!(?:which|who|that|where|when|if|as|it|they)\b))(?:[\w-]+\s+){{1,3}}?{_FINITE}\b",
    re.IGNORECASE,
)
_VERB = re.compile(rf"\b{_FINITE}\b", re.IGNORECASE)
_OF_THE_NEXT = frozenset({"no", "without", "excluding", "non", "kein", "keine", "keinen", "ohne", "sans", "neither"})
_PREFIXES = ("un", "in", "non", "im", "ir", "dis")
_NAMED = 0.7  # how like a word must be to a concept to name it
_REACH = 600  # characters; what stands further away is in no clause with it


@dataclass(frozen=True, slots=True)
class Statement:
    """A phrase that answers a field's question; `strength` says how fully it names the field."""

    start: int
    end: int
    says: bool
    strength: float


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    word: str
    opposite: bool = False


class Phrases:
    """The sentences of a text, and the lines of its forms and tables, by the concepts they name."""

    def __init__(self, layout: Layout) -> None:
        self._text = layout.text
        self._places = _units(layout)
        self._naming: dict[str, set[int]] = {}
        for number, (start, end) in enumerate(self._places):
            for word in set(_WORD.findall(self._text, start, end)):
                for concept in (*_meant(_folded(word)), *_denied(_folded(word))):
                    self._naming.setdefault(concept, set()).add(number)
        self._alike: dict[str, list[str]] = {}
        for concept in self._naming:
            self._alike.setdefault(concept[:4], []).append(concept)

    def statements(self, field: Field) -> list[Statement]:
        """Every phrase that answers the field, strongest first; by its description where none has its name."""
        wanted = _asked(field.own) or list(field.own)
        negated = [word for word in re.split(r"[_\W]+", field.name.lower()) if word in NEGATIONS]
        found = self._answers(wanted, frozenset(negated))
        if not found and len(described := _asked(field.described)) > 1:
            found = self._answers(described, frozenset())
        return sorted(found, key=lambda statement: -statement.strength)

    def _answers(self, wanted: list[str], negated: frozenset[str]) -> list[Statement]:
        counts: dict[int, float] = {}
        total = sum(map(_worth, set(wanted)))
        for concept in dict.fromkeys(wanted):
            numbers = set(self._naming.get(concept, ()))
            for other in self._alike.get(concept[:4], ()):
                if other != concept and likeness(concept, other) >= _NAMED:
                    numbers |= self._naming[other]
            for number in numbers:
                counts[number] = counts.get(number, 0.0) + _worth(concept)
        found = []
        for number in sorted(counts):
            if counts[number] < NAMED_ENOUGH * total - 1e-9:
                continue
            statement = self._read(*self._places[number], tuple(wanted), negated)
            if statement is not None and statement.strength >= NAMED_ENOUGH:
                found.append(statement)
        return found

    def _read(self, begin: int, end: int, wanted: tuple[str, ...], negated: frozenset[str]) -> Statement | None:
        text = self._text
        words = [_Word(m.start(), m.end(), _folded(m.group())) for m in _WORD.finditer(text, begin, end)]
        hits: list[_Word] = []
        named: dict[str, float] = {}
        for word in words:
            straight = {want for want in wanted if _names(want, _meant(word.word))}
            turned = set() if straight else {want for want in wanted if _names(want, _denied(word.word))}
            if straight or turned:
                hits.append(_Word(word.start, word.end, word.word, bool(turned)))
                named.update(dict.fromkeys(sorted(straight | turned), 1.0))
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
        if (
            len(hits) > 1
            and re.fullmatch(r"\s*[:=|]\s*|\t+|\s{3,}", text[hits[-2].end : last.start])
            and not text[last.end : end].strip(" .")
        ):
            return Statement(last.start, last.end, not last.opposite, strength + 0.2)  # "Radio: present"
        if "?" in text[last.end : end]:
            return None  # a question says nothing by itself
        return _sentence(text, begin, words, hits, strength, negated, not repeated)


def _asked(words: Iterable[str]) -> list[str]:
    return [word for word in words if word not in _AUXILIARY and word not in NEGATIONS and word not in _ASKING]


def _sentence(
    text: str, begin: int, words: list[_Word], hits: list[_Word], strength: float, negated: frozenset[str], turned: bool
) -> Statement | None:
    """What a sentence says of the words that name the field: denied an odd number of times it says no."""
    first, last = hits[0], hits[-1]
    near = [word for word in words if word.end > first.start - _REACH and word.start < last.end + _REACH]
    clause = [word for word in near if _same_clause(text, begin, word, first, last)]
    places = {hit.start for hit in hits}
    free = [word for word in clause if word.start not in places]
    for word in free:
        if (
            word.word in _DOUBT
            and word.start < last.start
            and not (word.word == "may" and _SETTLED.match(text, word.end))
        ):
            return None
    denials = [
        word
        for word in free
        if (word.word in NEGATIONS or text[word.start : word.end].lower().endswith(("n't", "n’t")))
        and word.word not in negated
        and first.start - word.end < 60
        and word.start - last.end < 40
        and not (word.word in _OF_THE_NEXT and word.start > last.end)
    ]
    if any(word.word == "neither" for word in denials):
        denials = [word for word in denials if word.word != "nor"]  # one denial in two words
    if len(clause) <= len(hits) and len(words) <= 6:
        return None  # a label or a heading that says nothing by itself
    says = (len(denials) + sum(hit.opposite for hit in hits) + turned) % 2 == 0
    low = min([first.start, *(word.start for word in denials)])
    high = max([last.end, *(word.end for word in denials)])
    return Statement(low, high, says, strength)


def _same_clause(text: str, begin: int, word: _Word, first: _Word, last: _Word) -> bool:
    if first.start <= word.start <= last.end:
        return True
    low, high, reach = (
        (last.end, word.start, word.start) if word.start > last.end else (word.end, first.start, first.end + 12)
    )
    return not any(
        ended.start() < high
        and (ended["subject"] is None or _VERB.search(text, max(begin, ended.start() - _REACH), ended.start()))
        for ended in _CLAUSE_END.finditer(text, low, reach)
    )


def _closest(hits: list[_Word], count: int) -> list[_Word]:
    """The shortest stretch that still names as many of the wanted words."""
    if len(hits) <= count:
        return hits
    windows = [hits[index : index + count] for index in range(len(hits) - count + 1)]
    return min(
        windows, key=lambda window: (len({hit.word for hit in window}) < count, window[-1].end - window[0].start)
    )


def _boxed(text: str, begin: int, end: int, hits: list[_Word]) -> tuple[int, int, bool] | None:
    """A box before or behind the words, or a ticked one among options behind them."""
    boxes = list(_BOX.finditer(text, begin, end))
    if not boxes:
        return None
    last = hits[-1]
    options = list(_OPTION.finditer(text, last.end, end))
    if options:
        box_first = boxes[0].start() < options[0].start()
        for box in boxes:
            if box["on"] and box.start() > last.start:
                after = [option for option in options if option.start() >= box.end()]
                before = [option for option in options if option.end() <= box.start()]
                chosen = (after[:1] if box_first else before[-1:]) or after or before
                if chosen:
                    return chosen[0].start(), chosen[0].end(), chosen[0]["yes"] is not None
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


def cell_answer(text: str) -> bool | None:
    """What a cell says that holds nothing but an answer; None when it is none."""
    found = _ANSWER.fullmatch(text)
    return None if found is None else _is_yes(found)


def _is_yes(found: re.Match[str]) -> bool:
    ticked = bool(found["tick"]) and found["tick"] in "✓✔☑☒"
    return bool(found["yes"]) or ticked or (bool(found["box"]) and found["box"].strip("[] ") != "")


def _answer(text: str, position: int, end: int) -> tuple[int, int, bool] | None:
    """The answer word right behind the label, at the end of its cell or line."""
    colon = _TO_ANSWER.match(text, position, end)  # the label may go on a little ("Insurance (optional): yes")
    found = _ANSWER.match(text, colon.end() if colon else position, end)
    if found is None:
        return None
    between = text[position : found.start("answer")]
    if not re.search(r"[:=?|>\t]|\s{2,}|–|—|\s-\s|\.{3}", between) or not _ENDS.match(text[found.end("answer") : end]):
        return None
    return found.start("answer"), found.end("answer"), _is_yes(found)


def _folded(word: str) -> str:
    return fold(word) if word.isalnum() else " ".join(map(fold, word.split()))


@lru_cache(maxsize=50_000)
def _meant(word: str) -> tuple[str, ...]:
    """What a word, or a verb of two, names straight."""
    noun = word.removesuffix("ary") if word.endswith("ary") else ""  # probationary, disciplinary
    return concepts(word) + concepts(_TWO_WORDS.get(word, "")) + concepts(noun) + _MEANINGS.get(word, ())


@lru_cache(maxsize=50_000)
def _denied(word: str) -> tuple[str, ...]:
    """What a word names by denying it."""
    prefixed = (word[len(p) :] for p in _PREFIXES if word.startswith(p) and len(word) > len(p) + 3)
    return concepts(_OPPOSITES.get(_TWO_WORDS.get(word, word), "")) + tuple(
        c for rest in prefixed for c in concepts(rest)
    )


def _names(want: str, meant: tuple[str, ...]) -> bool:
    return any(likeness(want, other) >= _NAMED for other in meant)


def _worth(concept: str) -> float:
    """How much of a question a concept is: "goods" in "exports goods" says little."""
    return 0.4 if concept in GENERIC else 1.0


def _units(layout: Layout) -> list[tuple[int, int]]:
    """Sentences, and lines of forms and tables, each by itself."""
    units: list[tuple[int, int]] = []
    begin: int | None = None
    end = 0
    for line in layout.lines:
        single = line.kind == "text" and len(line.cells) == 1
        text = line.cells[0].text if single else ""
        prose = (
            single and line.end - line.start >= 30 and not text.startswith(("{", "<", '"')) and not _BOX.search(text)
        )
        if begin is not None and not (single and end + 1 == line.start and (prose or end - begin >= 38)):
            units.extend(_sentences(layout.text, begin, end))
            begin = None
        if prose or (begin is not None and single):
            begin = line.start if begin is None else begin
            end = line.end
        elif sum(":" in cell.text[:-1] for cell in line.cells) > 1:
            units.extend((cell.start, cell.end) for cell in line.cells)
        elif line.kind == "text":
            units.append((line.start, line.end))
    if begin is not None:
        units.extend(_sentences(layout.text, begin, end))
    return units


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    cuts = [start]
    for gap in _SENTENCE.finditer(text, start, end):
        cuts.extend((gap.start(), gap.end()))
    cuts.append(end)
    return [(low, high) for low, high in zip(cuts[::2], cuts[1::2], strict=True) if low < high]
