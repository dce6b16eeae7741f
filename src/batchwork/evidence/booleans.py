# ruff: noqa: RUF001 - the dashes and quotes of documents are what this is about
"""Yes or no: find the phrase that says it, and understand when it says the opposite.

Forms: an answer beside the question ("Gift wrap: no"), a ticked or empty box, a chosen one of two options, a sentence
with or without a negation, and words that carry their own opposite ("unpaid", "inactive", "excluded").
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from batchwork.evidence.fields import Field
from batchwork.evidence.lexicon import NEGATIONS, words
from batchwork.evidence.phrases import BOX, Phrase, Phrases, Word, names

_AUXILIARY = words("is are has have was were can does do did should be been flag include enabled status yes no")
_POSITIVE = (
    "yes|y|true|ja|oui|sí|si|enabled|included|applicable|active|on|granted|accepted|required|agreed|provided|confirmed"
    "|available|present|ok|positive|valid|allowed|permitted"
)
_NEGATIVE = (
    r"no|n|false|nein|non|not \w+|disabled|excluded|inactive|off|none|denied|rejected|declined|waived|absent"
    "|unavailable|negative|never|invalid|prohibited|without|forbidden"
)
_ANSWER = re.compile(
    rf"[\s:=?|.>\"'\-–—]*(?P<answer>(?P<no>{_NEGATIVE})|(?P<yes>{_POSITIVE})"
    r"|(?P<tick>[✓✔☑☒✗✘☐])|(?P<box>\[[ xX✓]?\]))(?![\w-])",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(r"[\s:=?|]*(?:n/?a|not applicable|not stated|unknown|tbd|-+|—|\?)\s*$", re.IGNORECASE)
_OPTION = re.compile(r"\b(yes|no|true|false|ja|nein|oui|non)\b", re.IGNORECASE)
_DOUBT = frozenset({"if", "whether", "unless", "may", "might", "should", "could", "wenn", "ob", "falls"})
_SETTLED = re.compile(r"\s+(?:not(?! be\b)|no longer|keep|retain|remain|stay|continue)\b", re.IGNORECASE)
_TO_ANSWER = re.compile(r"[^.:?\n\t]{0,40}?[:?]\s*(?:(?:A|Answer|Antwort)[:.]\s*)?|\s{2,}|\t|\s*\|\s*|\s*")
_NEW_SUBJECT = (
    r"(?:\b(?:and|or|but|while|whereas|und|aber|et|mais|y)\s+|,\s+(?!(?:which|who|that|where|when|if|as|it|they)\b))"
    r"(?:[\w-]+\s+){1,3}?(?:is|are|was|were|has|have|had|does|do|did|will|shall|can|may|must|ist|sind|war|waren|hat|haben"
    r"|wird|werden|kann|darf|muss|est|sont|ont|son|sono)\b"
)
# What is denied ends at punctuation, and at a conjunction that a new statement follows ("does not smoke and has").
_CLAUSE_END = re.compile(
    r"[.;:!?]\s|,\s*(?:and|but|or|which|while|aber|und|mais)\b|\bbut\b|\bhowever\b"
    r"|\b(?:and|or|und|et|y)\s+(?:that|has|have|had|is|are|was|were|does|do|did|will|shall|can|may|must|no|not|the|a|an"
    rf"|they|he|she|it|we|you|ist|sind|hat|wird|kein|keine|nicht|die|der|das|est|sont|ne|pas|la|le|les)\b|{_NEW_SUBJECT}",
    re.IGNORECASE,
)
_ANOTHER = re.compile(_NEW_SUBJECT, re.IGNORECASE)
# "Freight is included and assembly is not": the second half leaves out what it denies.
_LEFT_OUT = re.compile(
    r"\s+(?:is|are|was|were|does|do|did|has|have|will|ist|sind)(?P<no>\s+not|n['’]t|\s+nicht)?"
    r"(?:\s+(?:too|also|as well|auch))?\s*(?=[.;,!]|$)",
    re.IGNORECASE,
)
_OF_THE_NEXT = frozenset({"no", "without", "excluding", "non", "kein", "keine", "keinen", "ohne", "sans", "neither"})
_WORDS_BEHIND = re.compile(r"\s{0,3}[^\W\d_]")
_WORDS_BEFORE = re.compile(r"[^\W\d_][ :]{0,2}$")
_ENOUGH = 0.6
_ENOUGH_DESCRIBED, _DESCRIBED = 0.7, 0.8
_SUBJECT = 12  # characters of a verb behind a subject
_ASKING = words("whether true false if so when unless otherwise")


@dataclass(frozen=True, slots=True)
class Statement:
    """A phrase that answers the field's question; `strength` says how fully it names the field."""

    start: int
    end: int
    says: bool
    strength: float


@dataclass(frozen=True, slots=True)
class _Hit:
    """A word that names the field, perhaps by its opposite."""

    start: int
    end: int
    word: str
    opposite: bool


def statements(field: Field, phrases: Phrases) -> list[Statement]:
    """Every phrase of the text that answers the field, strongest first; by its description where none has its name."""
    parts = [part.lower() for part in re.split(r"[_\W]+|(?<=[a-z])(?=[A-Z])", field.name)]
    wanted = _asked(field.own) or (list(field.own) if field.parents else [])
    if not wanted:
        return []
    deeds = frozenset(form for part in parts if part.endswith("er") for form in (part[:-1] + "s", part[:-2] + "s"))
    found = _answers(phrases, wanted, _ENOUGH, deeds)
    if field.parents and not field.record and len({statement.says for statement in found}) > 1:
        # each object says it of itself: the one is under the field's own heading
        found = [entry for entry in found if phrases.stand_under(entry.start, field.parents)] or found
    if not found:
        described = _asked(word for word in field.words if word not in field.own and word not in field.parents)
        found = _answers(phrases, described, _ENOUGH_DESCRIBED, deeds) if len(described) > 1 else []
        found = [replace(statement, strength=_DESCRIBED * statement.strength) for statement in found]
    if sum(1 for part in parts if part in NEGATIONS) % 2:
        found = [replace(statement, says=not statement.says) for statement in found]
    return sorted(found, key=lambda statement: -statement.strength)


def _asked(said: Iterable[str]) -> list[str]:
    return [word for word in said if word not in _AUXILIARY and word not in NEGATIONS and word not in _ASKING]


def _answers(phrases: Phrases, wanted: list[str], enough: float, deeds: frozenset[str]) -> list[Statement]:
    read = (_read(phrases.text, phrase, wanted, deeds) for phrase in phrases.naming(wanted, enough))
    return [statement for statement in read if statement is not None and statement.strength >= enough]


def _read(text: str, phrase: Phrase, wanted: list[str], deeds: frozenset[str]) -> Statement | None:
    hits: list[_Hit] = []
    named: set[str] = set()
    for word in phrase.words:
        hit, opposite = names(word.word, tuple(wanted))
        if hit:
            hits.append(_Hit(word.start, word.end, word.word, opposite))
            named.update(want for want in wanted if names(word.word, (want,))[0])
    strength = len(named) / len(set(wanted))
    if not hits:
        return None
    hits = _closest(text, hits, len(named))
    end = phrase.end
    if _is_of_two(text, hits):
        return _left_out(text, hits, strength, end)
    boxed = _boxed(text, phrase, hits)
    if boxed is not None:
        return Statement(boxed[0], boxed[1], boxed[2], strength + 0.2)
    last = hits[-1]
    if _UNKNOWN.match(text, last.end, end):
        return None
    answer = _answer(text, last.end, end)
    if answer is not None:
        says = answer[2] if not any(hit.opposite for hit in hits) else not answer[2]
        return Statement(answer[0], answer[1], says, strength + 0.2)
    if "?" in text[last.end : end]:
        return None  # a question says nothing by itself
    return _sentence(text, phrase, hits, strength, deeds)


def _sentence(text: str, phrase: Phrase, hits: list[_Hit], strength: float, deeds: frozenset[str]) -> Statement | None:
    first, last = hits[0], hits[-1]
    clause = [word for word in phrase.words if _same_clause(text, word, first, last)]
    places = {hit.start for hit in hits}
    if any(_is_doubt(text, word) and word.start not in places for word in clause if word.start < last.start):
        return None
    denials = [
        word
        for word in clause
        if word.denies
        and word.start not in places
        and first.start - word.end < 60
        and word.start - last.end < 40
        and not (word.word in _OF_THE_NEXT and (word.start > last.end or _is_deed(text, first, deeds)))
    ]
    says = (len(denials) + sum(1 for hit in hits if hit.opposite)) % 2 == 0
    low = min([first.start, *(word.start for word in denials)])
    high = max([last.end, *(word.end for word in denials)])
    if len(clause) <= len(hits) and len(phrase.words) <= 6:
        return None  # a label or a heading that says nothing by itself
    return Statement(low, high, says, strength)


def _is_doubt(text: str, word: Word) -> bool:
    """Whether a word leaves it open; "may not" forbids, and who may keep a thing has it."""
    return word.word in _DOUBT and not (word.word == "may" and _SETTLED.match(text, word.end))


def _is_deed(text: str, hit: _Hit, deeds: frozenset[str]) -> bool:
    """Whether a word is a verb that a noun follows up: "has no allergies and smokes" denies the allergies alone."""
    return hit.word in deeds and text.endswith(("and ", "und ", "but ", "and\n"), 0, hit.start)


def _same_clause(text: str, word: Word, first: _Hit, last: _Hit) -> bool:
    if first.start <= word.start <= last.end:
        return True
    if word.end > first.start:
        return _CLAUSE_END.search(text, last.end, word.start) is None
    ended = _CLAUSE_END.search(text, word.end, first.end + _SUBJECT)  # with the verb of a new subject
    return ended is None or ended.start() >= first.start


def _is_of_two(text: str, hits: list[_Hit]) -> bool:
    """Whether the words stand in two halves of a sentence, each with a subject of its own."""
    if len(hits) < 2:
        return False
    behind = _ANOTHER.search(text, hits[0].end, hits[-1].end + _SUBJECT)
    return behind is not None and behind.start() < hits[-1].start


def _left_out(text: str, hits: list[_Hit], strength: float, end: int) -> Statement | None:
    """What the second half says of its subject when it only says that it is so, or is not."""
    short = _LEFT_OUT.match(text, hits[-1].end, end)
    if short is None or any(hit.opposite for hit in hits):
        return None
    return Statement(hits[-1].start, short.end(), not short["no"], strength)


def _closest(text: str, hits: list[_Hit], count: int) -> list[_Hit]:
    """The shortest stretch that still names as many of the wanted words, within one half of the sentence if it can."""
    if len(hits) <= count:
        return hits
    windows = [hits[index : index + count] for index in range(len(hits) - count + 1)]
    return min(
        windows,
        key=lambda window: (
            len({token.word for token in window}) < count,
            _is_of_two(text, window),
            window[-1].end - window[0].start,
        ),
    )


def _boxed(text: str, phrase: Phrase, hits: list[_Hit]) -> tuple[int, int, bool] | None:
    """A box before the words, or a ticked one among options behind them."""
    last, end = hits[-1], phrase.end
    boxes = list(BOX.finditer(text, phrase.start, end))
    if not boxes:
        return None
    options = [
        (option.start(), option.end(), option.group().lower()) for option in _OPTION.finditer(text, last.end, end)
    ]
    if options:
        for box in boxes:
            if box["on"] and box.start() > last.start:
                after = [option for option in options if option[0] >= box.end()]
                before = [option for option in options if option[1] <= box.start()]
                box_first = boxes[0].start() < options[0][0]
                chosen = (after[:1] if box_first else before[-1:]) or after or before
                if chosen:
                    low, high, word = chosen[0]
                    return low, high, word in ("yes", "true", "ja", "oui")
        return None
    if _lead(text, phrase, boxes):
        return _leading(boxes, hits)
    behind = [box for box in boxes if box.start() >= last.end]
    if behind and not text[last.end : behind[0].start()].strip(" :\t|.-"):
        return behind[0].start(), behind[0].end(), bool(behind[0]["on"])
    return None


def _lead(text: str, phrase: Phrase, boxes: list[re.Match[str]]) -> bool:
    """Whether boxes stand before their words: each has some right behind it, and not each some right before."""
    if not all(_WORDS_BEHIND.match(text, box.end(), phrase.end) for box in boxes):
        return False
    return not all(_WORDS_BEFORE.search(text, phrase.start, box.start()) for box in boxes)


def _leading(boxes: list[re.Match[str]], hits: list[_Hit]) -> tuple[int, int, bool] | None:
    """The box that leads the words; those before the first box may be what all of them are about."""
    own = [box for box in boxes if box.end() <= hits[-1].start]
    if not own or any(boxes[0].start() < hit.start < own[-1].start() for hit in hits):
        return None
    return own[-1].start(), hits[-1].end, bool(own[-1]["on"])


def cell_answer(text: str) -> bool | None:
    """What a cell says that holds nothing but an answer; None when it is none."""
    found = _ANSWER.fullmatch(text)
    if found is None:
        return None
    return _is_yes(found)


def _is_yes(found: re.Match[str]) -> bool:
    ticked = bool(found["tick"]) and found["tick"] in "✓✔☑☒"
    return bool(found["yes"]) or ticked or (bool(found["box"]) and found["box"].strip("[] ") != "")


def _answer(text: str, position: int, end: int) -> tuple[int, int, bool] | None:
    """The answer word right behind the label, at the end of its cell or line."""
    # the label may go on a little ("Insurance coverage (optional): yes")
    colon = _TO_ANSWER.match(text, position, end)
    at = colon.end() if colon else position
    found = _ANSWER.match(text, at, end) if at > position or colon else None
    if found is None:
        return None
    separated = re.search(r"[:=?|>\t]|\s{2,}|–|—|\s-\s", text[position : found.start("answer")]) is not None
    behind = text[found.end("answer") : end]
    ends = re.match(r"[\"']?\s*(?:$|[.,;|\t)<}\]]|\s{2,}|\()|[ \t]*\n", behind) is not None
    if not separated or not ends:
        return None
    return found.start("answer"), found.end("answer"), _is_yes(found)
