"""Answer a question from a text: find, choose, compare two values that were read, or say that it is not there."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from batchwork.literal.facts import facts
from batchwork.literal.lookup import ENOUGH, PERCENT, Found, find, ranked, strong_words, typed, unlabelled
from batchwork.literal.meaning import GENERIC, label_words, tokens, vocabulary
from batchwork.literal.page_shape import lines, sentence_around
from batchwork.literal.question import Question, split_question, understand
from batchwork.literal.values import truth

NOT_FOUND = "I cannot find it in the text I was given."
_DATED = frozenset({"date", "due", "day"})
_NEGATION = re.compile(
    r"\b(?:no|not|never|neither|nor|without|isn't|aren't|wasn't|doesn't|lacks?|zero|free of)\b", re.IGNORECASE
)
_NONE = re.compile(r"(?:none|nil|absent|no|not (?:found|detected|present))\b(?!\.\d)", re.IGNORECASE)
_NEUTRAL = frozenset({"flat", "none", "no", "absent", "neither", "normal"})
_WHOLE = frozenset({"trend", "direction", "movement"})  # asked of the data as a whole


class Reading(NamedTuple):
    """What was read and the places it was read from; no places when it was not found."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()


def read(question: str, text: str) -> Reading:
    """Answer from `text` alone.

    The value at the label, the larger or smaller of two that were read, yes or no, one of the
    choices named in the question; else `NOT_FOUND` without a place.
    """
    query = understand(question)
    if query.compares:
        return compare(query, text)
    found = answered(query, text)
    return Reading(found.value, ((found.start, found.end),)) if found else Reading(NOT_FOUND)


def answered(query: Question, text: str) -> Found | None:
    """The answer in words: one of the choices, yes or no, a count, or the value as it is written."""
    if query.choices:
        return choose(query.words, query.choices, text)
    if query.yes_no:
        found = yes_or_no(query.words, text)
        return found and found._replace(value="yes" if found.value else "no")
    if query.counts:
        found = count_of(query.words, text)
        return found and found._replace(value=str(found.value))
    words = set(query.words)
    for kind in (*(["date"] if words & _DATED else []), *(["number"] if words & PERCENT else []), "string"):
        found = find([query.words], text, kind) or unlabelled(query.words, text, kind)
        if found is not None:
            return found._replace(value=text[found.start : found.end])
    return None


class CitedAnswer(NamedTuple):
    """One thing that was asked, and the sentences it was read from: document, start, end."""

    text: str
    places: tuple[tuple[int, int, int], ...] = ()


def read_each(question: str, documents: Sequence[str], text: str) -> Iterator[CitedAnswer]:
    """Answer every part of a question from the first document that has it; else from the text, without a place."""
    for part in split_question(question):
        for index, document in enumerate(documents):
            answer = read(part, document)
            if answer.spans:
                places = tuple((index, *sentence_around(document, *span)) for span in answer.spans)
                yield CitedAnswer(answer.text, places)
                break
        else:
            yield CitedAnswer(read(part, text).text)


def count_of(words: tuple[str, ...], text: str) -> Found | None:
    """How many of something: "3 anomalies", "anomalies: 3", "anomaly count 3", "no anomalies"."""
    strong = set(strong_words(words))
    none = denied(words, text)
    for label in (("count", *words), words, ("count",) if strong <= GENERIC else ()):
        for sure, fact in ranked(label, text, loose=False) if label else ():
            if sure < ENOUGH - 0.1:
                break
            if not strong & {*fact.label, *fact.row} and not strong <= GENERIC:
                continue  # "count 300 ... anomalies" counts no anomalies
            if fact.kind == "phrase" and fact.label[-1] not in label:
                continue  # "anomalies at position 12" counts nothing
            found = typed(text, fact.start, fact.end, "integer")
            if found is not None and not (none and none[0] <= fact.start < none[1]):
                return found._replace(score=sure)
    return Found(0, *none, 0.8) if none else None


def compare(query: Question, text: str) -> Reading:
    """Which of two has the larger (or smaller) value, by reading both."""
    parts = [_section(text, choice, query.choices) for choice in query.choices[:2]]
    inside = [_value_in(query.words, text, *part) for part in parts if part]
    if len(inside) < 2 or None in inside:
        inside = [_named_value(query.words, choice, text) for choice in query.choices[:2]]
    first, second = inside
    if first is None or second is None or isinstance(first.value, str) != isinstance(second.value, str):
        return Reading(NOT_FOUND)
    spans = ((first.start, first.end), (second.start, second.end))
    if first.value == second.value:
        return Reading("equal", spans)
    less = first.value < second.value
    return Reading(query.choices[0] if less == query.wants_less else query.choices[1], spans)


def _section(text: str, choice: str, choices: tuple[str, ...]) -> tuple[int, int] | None:
    """The part of a text that stands under a name, up to the line that begins with another one."""
    names = {other: label_words(other)[-1:] for other in choices}
    start: int | None = None
    for line in lines(text):
        opening = label_words(line.text[: len(choice) + 24].partition(":")[0])[:4]
        if start is None and set(names[choice]) <= set(opening):
            start = line.start
        elif start is not None and any(set(name) <= set(opening) for other, name in names.items() if other != choice):
            return start, line.start
    return None if start is None else (start, len(text))


def _value_in(words: tuple[str, ...], text: str, start: int, end: int) -> Found | None:
    """A number or a count in one part of a text."""
    part = text[start:end]
    found = find([words], part, "number") or count_of(words, part) or find([words], part, "date")
    return found._replace(start=found.start + start, end=found.end + start) if found else None


def _named_value(words: tuple[str, ...], choice: str, text: str) -> Found | None:
    name = label_words(choice)
    wanted = [tuple(dict.fromkeys((*words, *name))), *([] if set(words) - GENERIC else [name])]
    return find(wanted, text, "number") or find(wanted, text, "date")


def yes_or_no(words: tuple[str, ...], text: str) -> Found | None:
    """Whether the text says it is so: a stated yes or no, a denial, a count, or the plain statement."""
    for sure, fact in ranked(words, text):
        if sure < ENOUGH:
            break
        stated = truth(text[fact.start : fact.end]) if fact.kind in ("pair", "cell", "gap", "below") else None
        if stated is not None:
            return Found(stated, fact.start, fact.end, sure)
    none = denied(words, text)
    if none:
        return Found(False, *none, 0.7)
    counted = count_of(words, text)
    if counted is not None:
        return counted._replace(value=counted.value != 0)
    strong = {word for word in words if word not in GENERIC}
    for sentence in re.finditer(r"[^.!?\n]+", text):
        if strong and strong <= set(label_words(sentence.group())):
            return Found(_NEGATION.search(sentence.group()) is None, sentence.start(), sentence.end(), 0.6)
    return None


def choose(words: tuple[str, ...], choices: tuple[str, ...], text: str) -> Found | None:
    """The one choice that stands at the label, denied ones left out."""
    for sure, fact in ranked(words, text) if words else []:
        if sure < ENOUGH - 0.15:
            break
        named = _named(choices, text, fact.start, fact.end)
        if len(named) == 1:
            return named[0]._replace(score=sure)
        if len(named) == 2 and (both := next((choice for choice in choices if choice.lower() == "both"), None)):
            return Found(both, min(one.start for one in named), max(one.end for one in named), sure)
        quiet = None if named else _neutral(choices, text, fact.start, fact.end)
        if quiet is not None:
            return quiet._replace(score=sure)
    strong = {word for word in words if word not in GENERIC}
    return _of_the_whole(choices, text) if strong and strong <= _WHOLE else None


def _neutral(choices: tuple[str, ...], text: str, start: int, end: int) -> Found | None:
    """The one neutral choice, where the text says "none" or "flat" in its own words."""
    neutral = [choice for choice in choices if set(label_words(choice)) & _NEUTRAL]
    none = _NONE.match(text[start:end])
    flat = (token for token in tokens(text, start, end) if "flat" in label_words(token.word))
    quiet = [(start, start + none.end())] if none else []
    quiet += [(token.start, token.end) for token in flat if not _NEGATION.search(text[start : token.start])]
    return Found(neutral[0], *quiet[0], 0.0) if quiet and len(neutral) == 1 else None


def _of_the_whole(choices: tuple[str, ...], text: str) -> Found | None:
    """A statement about the data itself: "the series is rising" tells its trend without the word."""
    for fact in facts(text):
        if fact.kind == "is" and set(fact.label) <= GENERIC | {"time"}:
            named = _named(choices, text, fact.start, fact.end)
            found = named[0] if named else _neutral(choices, text, fact.start, fact.end)
            if found is not None and len(named) < 2:
                return found._replace(score=ENOUGH)
    return None


def _named(choices: tuple[str, ...], text: str, start: int, end: int) -> list[Found]:
    """The choices that stand in a stretch of text and are not denied there."""
    there = [(label_words(token.word), token) for token in tokens(text, start, end)]
    found: list[Found] = []
    for choice in choices:
        wanted = label_words(choice.replace("_", " ").replace("-", " ")) or (choice.lower(),)
        for words, token in there:
            alike = words and len(wanted[0]) > 5 and words[0][:5] == wanted[0][:5]
            whole = set(wanted[1:]) <= set(label_words(text[token.start : token.start + len(choice) + 12]))
            denied_before = _NEGATION.search(text[max(start, token.start - 16) : token.start])
            if (wanted[0] in words or alike) and whole and not denied_before:
                found.append(Found(choice, token.start, token.end, 0.0))
                break
    return found


def denied(words: tuple[str, ...], text: str) -> tuple[int, int] | None:
    """Where the text says that there is none: "no anomalies", "anomalies: none"."""
    strong = [word for word in words if word not in GENERIC]
    if not strong or not vocabulary(text).intersection(strong):
        return None
    for fact in facts(text):
        if fact.kind in ("pair", "gap", "cell", "below") and set(strong) <= {*fact.label, *fact.row}:
            none = _NONE.match(text[fact.start : fact.end])
            if none:
                return fact.start, fact.start + none.end()
    for token in tokens(text):
        if not set(strong).isdisjoint(label_words(token.word)):
            before = text[max(0, token.start - 24) : token.start]
            denials = list(_NEGATION.finditer(before))
            if denials and not re.search(r"[.;:!?\n]", before[denials[-1].end() :]):
                return token.start - len(before) + denials[-1].start(), token.end
    return None
