"""Yes or no: find the phrase that says it, and understand when it says the opposite.

Forms: an answer beside the question ("Gift wrap: no"), a ticked or empty box, a chosen one of two options, a sentence
with or without a negation, and words that carry their own opposite ("unpaid", "inactive", "excluded").
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from batchwork.evidence.fields import Field
from batchwork.evidence.page.boxes import boxed
from batchwork.evidence.page.clauses import REACH, is_of_two, same_clause
from batchwork.evidence.page.phrases import Hit, Phrase, Phrases, Word, closeness, names, worth
from batchwork.evidence.vocabulary.lexicon import NEGATIONS, words
from batchwork.evidence.vocabulary.words import concepts

_AUXILIARY = words("is are has have was were can does do did should be been flag include enabled status yes no")
_POSITIVE = (
    "yes|y|true|ja|oui|sí|si|enabled|included|applicable|active|on|granted|accepted|required|agreed|provided|confirmed"
    "|available|present|ok|positive|valid|allowed|permitted|passed|fitted|installed|supplied|done|always"
)
_NEGATIVE = (
    r"no|n|false|nein|non|not \w+|disabled|excluded|inactive|off|none|denied|rejected|declined|waived|absent"
    "|unavailable|negative|never|invalid|prohibited|without|forbidden|missing|refused|lacking|failed|withheld|untested"
)
_ANSWER = re.compile(
    rf"[\s:=?|.>\"'\-–—]*(?P<answer>(?P<no>{_NEGATIVE})|(?P<yes>{_POSITIVE})"
    r"|(?P<tick>[✓✔☑☒✗✘☐])|(?P<box>\[[ xX✓]?\]))(?![\w-])",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(r"[\s:=?|]*(?:n/?a|not applicable|not stated|unknown|tbd|-+|—|\?)\s*$", re.IGNORECASE)
_DOUBT = frozenset({"if", "whether", "unless", "may", "might", "should", "could", "wenn", "ob", "falls"})
_SETTLED = re.compile(r"\s+(?:not(?! be\b)|no longer|keep|retain|remain|stay|continue)\b", re.IGNORECASE)
_TO_ANSWER = re.compile(r"[^.:?\n\t]{0,40}?[:?]\s*(?:(?:A|Answer|Antwort)[:.]\s*)?|\s{2,}|\t|\s*\|\s*|\s*")
_EXCEPT = re.compile(
    r"\b(?:except(?:\s+for)?|apart\s+from|other\s+than|außer|bis\s+auf|sauf|salvo|excepto|tranne)\s+(?:\w{1,3}\s+)?$",
    re.IGNORECASE,
)
# "Freight is included and assembly is not": the second half leaves out what it denies.
_LEFT_OUT = re.compile(
    r"\s+(?:is|are|was|were|does|do|did|has|have|will|ist|sind)(?P<no>\s+not|n['’]t|\s+nicht)?"
    r"(?:\s+(?:too|also|as well|auch))?\s*(?=[.;,!]|$)",
    re.IGNORECASE,
)
_OF_THE_NEXT = frozenset({"no", "without", "excluding", "non", "kein", "keine", "keinen", "ohne", "sans", "neither"})
_STATED = re.compile(r"\s*[:=|]\s*|\t+|\s{3,}")
_ENOUGH = 0.6
_ENOUGH_DESCRIBED, _DESCRIBED = 0.7, 0.8
_ASKING = words("whether true false if so when unless otherwise")


@dataclass(frozen=True, slots=True)
class Statement:
    """A phrase that answers the field's question; `strength` says how fully it names the field."""

    start: int
    end: int
    says: bool
    strength: float


def statements(field: Field, phrases: Phrases) -> list[Statement]:
    """Every phrase of the text that answers the field, strongest first; by its description where none has its name."""
    parts = [part.lower() for part in re.split(r"[_\W]+|(?<=[a-z])(?=[A-Z])", field.name)]
    wanted = _asked(field.own) or (list(field.own) if field.parents else [])
    if not wanted:
        return []
    deeds = frozenset(form for part in parts if part.endswith("er") for form in (part[:-1] + "s", part[:-2] + "s"))
    denials = frozenset(part for part in parts if part in NEGATIONS)
    found = _answers(phrases, wanted, _ENOUGH, deeds, denials)
    if field.parents and not field.record and len({statement.says for statement in found}) > 1:
        # each object says it of itself: the one is under the field's own heading
        found = [entry for entry in found if phrases.stand_under(entry.start, field.parents)] or found
    if not found:
        described = _asked(word for word in field.words if word not in field.own and word not in field.parents)
        found = _answers(phrases, described, _ENOUGH_DESCRIBED, deeds, denials) if len(described) > 1 else []
        found = [replace(statement, strength=_DESCRIBED * statement.strength) for statement in found]
    return sorted(found, key=lambda statement: -statement.strength)


def _asked(said: Iterable[str]) -> list[str]:
    return [word for word in said if word not in _AUXILIARY and word not in NEGATIONS and word not in _ASKING]


def _answers(
    phrases: Phrases, wanted: list[str], enough: float, deeds: frozenset[str], denials: frozenset[str]
) -> list[Statement]:
    """What the phrases that name the wanted words say; `denials` are those in the field's own name."""
    found = []
    asked = frozenset(wanted)
    for phrase in phrases.naming(wanted, enough):
        repeated = any(word.word in denials for word in phrase.words)  # "Disabled: no" is the name, not its opposite
        told = tuple(replace(word, denies=word.denies and word.word not in denials) for word in phrase.words)
        statement = _read(phrases.text, replace(phrase, words=told) if repeated else phrase, wanted, deeds)
        if statement is not None and statement.strength >= enough:
            turned = not repeated and sum(1 for part in denials if not asked.intersection(concepts(part))) % 2 == 1
            found.append(replace(statement, says=statement.says != turned))
    return found


def _read(text: str, phrase: Phrase, wanted: list[str], deeds: frozenset[str]) -> Statement | None:
    hits: list[Hit] = []
    named: dict[str, float] = {}
    for word in phrase.words:
        hit, opposite = names(word.word, tuple(wanted))
        if hit:
            hits.append(Hit(word.start, word.end, word.word, opposite))
            for want in wanted:
                named[want] = max(named.get(want, 0.0), closeness(word.word, want))
    strength = sum(sure * worth(want) for want, sure in named.items()) / sum(map(worth, set(wanted)))
    if not hits:
        return None
    hits = _closest(text, phrase.start, hits, sum(1 for sure in named.values() if sure))
    end = phrase.end
    if is_of_two(text, phrase.start, hits):
        return _left_out(text, hits, strength, end)
    box = boxed(text, phrase, hits)
    if box is not None:
        return Statement(box[0], box[1], box[2], strength + 0.2)
    last = hits[-1]
    if _UNKNOWN.match(text, last.end, end):
        return None
    answer = _answer(text, last.end, end)
    if answer is not None:
        says = answer[2] if not any(hit.opposite for hit in hits) else not answer[2]
        return Statement(answer[0], answer[1], says, strength + 0.2)
    if len(hits) > 1 and _STATED.fullmatch(text, hits[-2].end, last.start) and not text[last.end : end].strip(" ."):
        return Statement(last.start, last.end, not last.opposite, strength + 0.2)  # "Radio: present"
    if "?" in text[last.end : end]:
        return None  # a question says nothing by itself
    return _sentence(text, phrase, hits, strength, deeds)


def _sentence(text: str, phrase: Phrase, hits: list[Hit], strength: float, deeds: frozenset[str]) -> Statement | None:
    first, last = hits[0], hits[-1]
    near = (word for word in phrase.words if word.end > first.start - REACH and word.start < last.end + REACH)
    clause = [word for word in near if same_clause(text, phrase.start, word, first, last)]
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
    if any(word.word == "neither" for word in denials):
        denials = [word for word in denials if word.word != "nor"]  # one denial in two words
    excepted = _EXCEPT.search(text, phrase.start, first.start) is not None
    says = (len(denials) + excepted + sum(1 for hit in hits if hit.opposite)) % 2 == 0
    low = min([first.start, *(word.start for word in denials)])
    high = max([last.end, *(word.end for word in denials)])
    if len(clause) <= len(hits) and len(phrase.words) <= 6:
        return None  # a label or a heading that says nothing by itself
    return Statement(low, high, says, strength)


def _is_doubt(text: str, word: Word) -> bool:
    """Whether a word leaves it open; "may not" forbids, and who may keep a thing has it."""
    return word.word in _DOUBT and not (word.word == "may" and _SETTLED.match(text, word.end))


def _is_deed(text: str, hit: Hit, deeds: frozenset[str]) -> bool:
    """Whether a word is a verb that a noun follows up: "has no allergies and smokes" denies the allergies alone."""
    return hit.word in deeds and text.endswith(("and ", "und ", "but ", "and\n"), 0, hit.start)


def _left_out(text: str, hits: list[Hit], strength: float, end: int) -> Statement | None:
    """What the second half says of its subject when it only says that it is so, or is not."""
    short = _LEFT_OUT.match(text, hits[-1].end, end)
    if short is None or any(hit.opposite for hit in hits):
        return None
    return Statement(hits[-1].start, short.end(), not short["no"], strength)


def _closest(text: str, begin: int, hits: list[Hit], count: int) -> list[Hit]:
    """The shortest stretch that still names as many of the wanted words, within one half of the sentence if it can."""
    if len(hits) <= count:
        return hits
    windows = [hits[index : index + count] for index in range(len(hits) - count + 1)]
    return min(
        windows,
        key=lambda window: (
            len({token.word for token in window}) < count,
            is_of_two(text, begin, window),
            window[-1].end - window[0].start,
        ),
    )


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
