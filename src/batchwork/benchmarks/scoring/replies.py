"""Decide how an answer is asked for, and what a reply says: the `answer` of its JSON, else its words.

The rules, the same for every form of answer:

- one JSON object with an `answer`, anywhere in the reply, is the answer, whatever is told before it; two that differ
  are none, the last one being no better than the first: the judge does not choose for the model. One that was begun and
  not closed was cut off, and its prefix is no answer;
- without JSON the form reads the words, strictly: a sentence that says "the answer is", else every one that names a
  value. What holds more than the assertion of one value, or can be read two ways, is none;
- what is told around an answer must not speak against it: another answer, a doubt, a denial that is not of another
  value, a turn ("however", "or", "sorry", "No, ...") that does not come back to it;
- an explicit null, or words that say it cannot be told, is an answer, and a wrong one: only what came and cannot be
  read is unparsed.
"""

import json
import re
from collections.abc import Sequence
from math import isclose
from typing import Any, NamedTuple

from batchwork.benchmarks.scoring.wording import denies, doubts, opening, prepared, turns
from batchwork.benchmarks.trial import Json

_SENTENCE = re.compile(r"(?<=[.!?])(?<!\n\d\.)\s+|\n+")  # the number of a step is no sentence
_MARK = re.compile(r"\b(?:answer|result)\b(?:\s+is\b|[\s\"')]*[:=])\s*", re.IGNORECASE)
_DECLINES = re.compile(
    r"\b(?:cannot|could not|unable to|impossible to|no way to|not possible to)\s+(?:be\s+)?"
    r"(?:reliably\s+|exactly\s+)?(?:find|found|tell|told|determine|determined|say|said|answer|answered|compute|computed|"
    r"calculate|calculated|know|known|see|read|derive|derived)\b"
    r"|\b(?:not (?:stated|given|provided|available|enough|found)|unknown|insufficient|no idea|do not know)\b"
    r"|^\W*(?:null|n/?a)\W*$",
    re.IGNORECASE,
)
_CONTINUES = re.compile(r"\s*[,;]?\s*[a-z]")  # what goes on behind JSON in the same sentence: "{...} at least"
_NOUGHT: tuple[Json, ...] = (0, "none", [])  # answers that a denial agrees with: "There are not any."
_NO_NUMBER = object()  # NaN and Infinity: neither JSON nor an answer
_ROUNDING = 0.005  # of a number that is told again: three digits are enough
_LONGEST = 20_000  # characters that are looked through for JSON


class WordedForm:
    """A form of answer that stands in JSON or in words; it reads texts that come prepared."""

    __slots__ = ()
    rare = False  # whether its values hardly stand in a sentence that is about something else: options do not

    @property
    def kind(self) -> dict[str, Any]:
        """The JSON schema of its values."""
        raise NotImplementedError

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of a reply: the answer, or null, because that it cannot be told must be sayable."""
        return {
            "type": "object",
            "properties": {"answer": {"anyOf": [self.kind, {"type": "null"}]}},
            "required": ["answer"],
            "additionalProperties": False,
        }

    def parse(self, text: str) -> Json:
        """The answer of a reply, or None."""
        return read_reply(text, self)

    def right(self, parsed: Json, truth: Json) -> bool:
        """The same."""
        return parsed is not None and bool(parsed == truth)

    def accept(self, value: Json) -> Json:
        """What a JSON value says; None when it cannot be read one way."""
        return self.spoken(value) if isinstance(value, str) else self.plain(value)

    def plain(self, value: Json) -> Json:
        """The same of a value that is no string."""
        del value

    def spoken(self, text: str) -> Json:
        """The one value that a text plainly asserts, or None."""
        raise NotImplementedError

    def named(self, text: str) -> Sequence[Json]:
        """Every value that stands in a text, asserted or not."""
        raise NotImplementedError


class Told(NamedTuple):
    """The answers that the JSON of a reply holds, and the words before the first and behind the last of them."""

    answers: tuple[Json, ...]
    before: str
    after: str


def told(text: str) -> Told | None:
    """What the JSON of a prepared reply says; None when it has no `answer`."""
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=lambda _: _NO_NUMBER)
    answers: list[Json] = []
    at = last = 0
    before = ""
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
        before = before if answers else text[:at]
        answers += value["answer"] if isinstance(value["answer"], _Several) else [value["answer"]]
        at = last = end
    written = (prepared(answer) if isinstance(answer, str) else answer for answer in answers)  # "\u2019" is escaped
    return Told(tuple(written), before, text[last:]) if answers else None


class _Several(list[Json]):
    """The values of a key that an object has more than once."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    values = [value for key, value in pairs if key == "answer"]
    if len(values) > 1:
        found["answer"] = _Several(values)
    return found


def read_reply(text: str, form: WordedForm) -> Json:
    """The answer of a reply, or None."""
    text = prepared(text)
    if text.count("{") != text.count("}"):
        return None
    said = told(text)
    return _read_words(text, form) if said is None else _read_json(said, form)


def declines(text: str) -> bool:
    """Whether a reply says that the answer cannot be told: an explicit null, or words to that effect."""
    text = prepared(text)
    said = told(text)
    if said is None:
        return _DECLINES.search(text) is not None
    return all(answer is None or (isinstance(answer, str) and _DECLINES.search(answer)) for answer in said.answers)


def _read_json(said: Told, form: WordedForm) -> Json:
    answer, *others = map(form.accept, said.answers)
    if answer is None or any(other != answer for other in others):
        return None
    introduced = _SENTENCE.split(said.before)[-1]  # "It is not {...}"
    added, *others = _SENTENCE.split(said.after)
    if _CONTINUES.match(added) and _stated(added, form) is None:
        return None
    wrong = _speaks_against(introduced, answer, form) or _is_taken_back([added, *others], answer, form)
    return None if wrong else answer


def _read_words(text: str, form: WordedForm) -> Json:
    if _DECLINES.search(text) or text.count("[") != text.count("]"):
        return None
    sentences = _SENTENCE.split(_MARK.sub(lambda mark: f"{mark.group().strip()} ", text))  # "Answer:" on its own line
    marked = next((at for at, sentence in enumerate(sentences) if _MARK.search(sentence)), None)
    if marked is None:
        return _read_unmarked(text, form)
    said, *others = sentences[marked:]
    answer = _stated(said, form)
    return None if answer is None or _is_taken_back(others, answer, form) else answer


def _read_unmarked(text: str, form: WordedForm) -> Json:
    """The answer of a reply that does not say which of its sentences is the answer: each that names a value must be."""
    answer = form.spoken(text)
    if answer is not None:
        return answer
    sentences = _SENTENCE.split(text)
    read = [form.spoken(sentence) for sentence in sentences]
    answer = next((one for one in read if one is not None), None)
    unread = [sentence for sentence, one in zip(sentences, read, strict=True) if one is None]
    if answer is None or any(map(form.named, unread)) or _is_taken_back(sentences, answer, form):
        return None
    return answer


def _stated(sentence: str, form: WordedForm) -> Json:
    """The answer that a sentence gives: behind "the answer is" if it says so, else in all of its words."""
    marked = _MARK.search(sentence)
    if marked is None:
        return form.spoken(sentence)
    answer = form.spoken(sentence[marked.end() :])
    return None if answer is None or _speaks_against(sentence[: marked.start()], answer, form) else answer


def _is_taken_back(sentences: Sequence[str], answer: Json, form: WordedForm) -> bool:
    return any(_takes_back(sentence, answer, form) for sentence in sentences)


def _takes_back(sentence: str, answer: Json, form: WordedForm) -> bool:
    """Whether a sentence beside an answer gives another one, or speaks against it, or turns and does not come back."""
    opened = opening(sentence)
    again = [_stated(part, form) for part in (sentence, sentence[len(opened) :])]
    if any(one is not None for one in again):
        return not all(one is None or _same(one, answer) for one in again)
    named = form.named(sentence)
    others = [one for one in named if not _same(one, answer)]
    if _speaks_against(sentence, answer, form) or opened or (others and turns(sentence)):
        return True
    bare = re.search(r"[^\W\d_]", sentence) is None  # "-> 14"
    return len(others) == len(named) == 1 and (form.rare or bare) and not denies(sentence)


def _speaks_against(sentence: str, answer: Json, form: WordedForm) -> bool:
    """Whether a sentence that gives no answer doubts the one that was given, or denies it; of others it may do so."""
    if doubts(sentence):
        return True
    named = form.named(sentence)
    about = any(_same(one, answer) for one in named) or not (named or answer in _NOUGHT)
    return about and denies(sentence)


def _same(one: Json, other: Json) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=_ROUNDING)
    return bool(one == other)
