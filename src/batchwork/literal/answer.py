"""Answer a question from a text: find, compare two values that were read, or say that it is not there."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from batchwork.literal.choice import NEGATION, choose, denied
from batchwork.literal.lookup import ENOUGH, PERCENT, Found, find, ranked, strong_words, typed, unlabelled
from batchwork.literal.meaning import GENERIC, label_words
from batchwork.literal.page_shape import lines, sentence_around
from batchwork.literal.question import Question, split_question, understand
from batchwork.literal.values import truth

NOT_FOUND = "I cannot find it in the text I was given."
_DATED = frozenset({"date", "due", "day"})


class Answer(NamedTuple):
    """What was read and the places it was read from; no places when it was not found."""

    text: str
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def found(self) -> bool:
        """Whether the text says it."""
        return bool(self.spans)


def read(question: str, text: str) -> Answer:
    """Answer from `text` alone.

    The value at the label, the larger or smaller of two that were read, yes or no, one of the
    choices named in the question; else `NOT_FOUND` without a place.
    """
    query = understand(question)
    if query.compares:
        return compare(query, text)
    found = answered(query, text)
    return Answer(found.value, ((found.start, found.end),)) if found else Answer(NOT_FOUND)


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


def compare(query: Question, text: str) -> Answer:
    """Which of two has the larger (or smaller) value, by reading both."""
    parts = [_section(text, choice, query.choices) for choice in query.choices[:2]]
    inside = [_value_in(query.words, text, *part) for part in parts if part]
    if len(inside) < 2 or None in inside:
        inside = [_named_value(query.words, choice, text) for choice in query.choices[:2]]
    first, second = inside
    if first is None or second is None or isinstance(first.value, str) != isinstance(second.value, str):
        return Answer(NOT_FOUND)
    spans = ((first.start, first.end), (second.start, second.end))
    if first.value == second.value:
        return Answer("equal", spans)
    less = first.value < second.value
    return Answer(query.choices[0] if less == query.wants_less else query.choices[1], spans)


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
            return Found(NEGATION.search(sentence.group()) is None, sentence.start(), sentence.end(), 0.6)
    return None
