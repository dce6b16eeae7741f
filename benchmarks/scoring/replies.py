"""Decide how an answer is asked for, and what a reply says: the `answer` of its JSON, else its words.

The rules, the same for every form of answer:

- one JSON object with an `answer`, anywhere in the reply, is the answer, whatever is told around it; two that differ
  are none, the last one being no better than the first: the judge does not choose for the model;
- words behind it that take it back ("actually", "wait", "sorry", "correction", "No, ...") make it none, unless they say
  the same again; so does another "answer is ..." that differs;
- without JSON the form reads the words, strictly: what can be read two ways is none;
- an explicit null, or words that say it cannot be told, is an answer, and a wrong one: only what came and cannot be
  read is unparsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.trial import Json

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_CORRECTS = re.compile(
    r"\b(?:actually|corrections?|corrected|wait|sorry|apologies|oops|scratch that|on second thoughts?|i mean|i meant|"
    r"or rather|(?:is|was|am) (?:wrong|incorrect|mistaken))\b|^\W*no\b(?=\s*(?:[,:;.!\u2014-]|$))",
    re.IGNORECASE,
)
_AFFIRMS = re.compile(r"\W*yes\b(?=\s*(?:[,:;.!\u2014-]|$))", re.IGNORECASE)
_DECLINES = re.compile(
    r"\b(?:can(?:not|'t| not)|could(?:n't| not)|unable to|impossible to|no way to|not possible to)\s+(?:be\s+)?"
    r"(?:reliably\s+|exactly\s+)?(?:find|found|tell|told|determine|determined|say|said|answer|answered|compute|computed|"
    r"calculate|calculated|know|known|see|read|derive|derived)\b"
    r"|\b(?:not (?:stated|given|provided|available|enough|found)|unknown|insufficient|no idea|don't know|do not know)\b"
    r"|^\W*(?:null|n/?a)\W*$",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\b(?:answer|result)\b(?:\s+is\b|\s*[:=])\s*(?P<said>[^\n]*?)(?=[.!?](?:\s|$)|\n|$)", re.IGNORECASE
)
_NOT = re.compile(
    r"\b(?:not|no|never|neither|nor|without|cannot|unlike|rather than|instead of|far from|wrong|incorrect)\b|n't\b",
    re.IGNORECASE,
)
_NO_NUMBER = object()  # NaN and Infinity: neither JSON nor an answer
_LONGEST = 20_000  # characters that are looked through for JSON


def answer_schema(kind: dict[str, Any]) -> dict[str, Any]:
    """The schema of a reply whose answer is of a kind, or null: that it cannot be told must be sayable."""
    return {
        "type": "object",
        "properties": {"answer": {"anyOf": [kind, {"type": "null"}]}},
        "required": ["answer"],
        "additionalProperties": False,
    }


class Told(NamedTuple):
    """The answers that the JSON of a reply holds, and the words behind the last of them."""

    answers: tuple[Json, ...]
    after: str


def told(text: str) -> Told | None:
    """What the JSON of a reply says; None when it has no `answer`."""
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=lambda _: _NO_NUMBER)
    answers: list[Json] = []
    at = last = 0
    while (at := text.find("{", at, _LONGEST)) >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except RecursionError:
            return None  # nobody nests an answer that deep
        except ValueError:
            at += 1
            continue
        if "answer" not in value:
            at += 1  # the answer may stand further inside
            continue
        answers += value["answer"] if isinstance(value["answer"], _Several) else [value["answer"]]
        at = last = end
    return Told(tuple(answers), text[last:]) if answers else None


class _Several(list[Json]):
    """The values of a key that an object has more than once."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    values = [value for key, value in pairs if key == "answer"]
    if len(values) > 1:
        found["answer"] = _Several(values)
    return found


def read_reply(text: str, accept: Callable[[Json], Json], spoken: Callable[[str], Json]) -> Json:
    """The answer of a reply, or None.

    `accept` reads a JSON value, `spoken` words; each gives None for what it cannot read one way.
    """
    said = told(text)
    if said is None:
        return spoken(text)
    answers = [accept(value) for value in said.answers]
    answer = answers[0]
    if answer is None or any(other != answer for other in answers):
        return None
    return None if _taken_back(said.after, answer, spoken) else answer


def _taken_back(after: str, answer: Json, spoken: Callable[[str], Json]) -> bool:
    """Whether the words behind an answer correct it, or state another one."""
    for sentence in _SENTENCE.split(after):
        stated = [match["said"] for match in _ANSWER.finditer(sentence)]
        stated += [sentence] if _AFFIRMS.match(sentence) else []
        if any(spoken(words) not in (answer, None) for words in stated):
            return True
        correction = _CORRECTS.search(sentence)
        if correction and answer not in (spoken(sentence), spoken(sentence[correction.end() :])):
            return True
    return False


def declines(text: str) -> bool:
    """Whether a reply says that the answer cannot be told: an explicit null, or words to that effect."""
    said = told(text)
    if said is None:
        return _DECLINES.search(text) is not None
    return all(answer is None or (isinstance(answer, str) and _DECLINES.search(answer)) for answer in said.answers)


def answer_clauses(text: str) -> list[str]:
    """The parts of a text that say of themselves that they are the answer; the whole of it when none does."""
    return [match["said"] for match in _ANSWER.finditer(text)] or [text]


def denies(text: str) -> bool:
    """Whether a "not" or its like stands anywhere in a text."""
    return _NOT.search(text) is not None


def is_denied(text: str, start: int, *, within: int = 24) -> bool:
    """Whether a "not" or its like stands shortly before a place, in the same clause."""
    return denies(re.split(r"[.;:!?\n,](?=\s|$)", text[max(0, start - within) : start])[-1])
