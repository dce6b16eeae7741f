"""Answers that are numbers: one with a stated tolerance, a count, a set of positions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import Any

from benchmarks.scoring.numerals import numerals
from benchmarks.scoring.replies import answer_clauses, answer_schema, declines, is_denied, read_reply
from benchmarks.trial import Json

_COUNTED = {"no": 0, "none": 0, "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_COUNT_WORD = re.compile(rf"\b(?:{'|'.join(_COUNTED)})\b", re.IGNORECASE)
_LIST = re.compile(
    r"(?:\b(?:the|anomal(?:y|ies)|outliers?|are|is|lie|at|positions?|ind(?:ex|ices|exes))\b|[\s:\[(])*"
    r"(?P<items>\d+(?:(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+)\d+)*)[\s\])]*\.?\s*",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"\W*(?:(?:there (?:are|is)|the series (?:has|contains|shows)|it (?:has|contains|shows)|i (?:see|find|found))\s+)?"
    r"(?:none|\[\s*\]|no (?:anomal(?:y|ies)|outliers?))(?: at all)?(?: (?:in|of) (?:the|this) (?:series|data))?"
    r"(?: (?:are|were) (?:there|found|present|detected))?\W*",
    re.IGNORECASE,
)
_LARGEST = 10**15


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number, right within a share of the truth or an absolute distance, whichever is wider."""

    relative: float = 0.01
    absolute: float = 0.0
    percent: bool = False  # the answer is in percent, so a percent sign says nothing new

    @property
    def schema(self) -> dict[str, Any]:
        """A number or null."""
        return answer_schema({"type": "number"})

    @property
    def example(self) -> str:
        """What stands for the answer in the instruction."""
        return "<number>"

    @property
    def tolerance(self) -> str:
        """What counts as right, in words."""
        near = f"within {self.relative * 100:g}% of the true value"
        return f"{near} or within {self.absolute:g} of it, whichever is wider" if self.absolute else near

    def parse(self, text: str) -> Json:
        """The number of a reply."""
        return read_reply(text, self._accept, self._spoken)

    def right(self, parsed: Json, truth: Json) -> bool:
        """Within the tolerance."""
        return parsed is not None and abs(parsed - truth) <= max(self.relative * abs(truth), self.absolute)

    def _accept(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._spoken(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
            return None
        return float(value)

    def _spoken(self, text: str) -> Json:
        found = _only_number(text)
        return None if found is None or (found.percent and not self.percent) else found.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A whole number, exact."""

    @property
    def schema(self) -> dict[str, Any]:
        """A whole number or null."""
        return answer_schema({"type": "integer"})

    @property
    def example(self) -> str:
        """What stands for the answer in the instruction."""
        return "<whole number>"

    @property
    def tolerance(self) -> str:
        """What counts as right, in words."""
        return "exactly the true number"

    def parse(self, text: str) -> Json:
        """The count of a reply."""
        return read_reply(text, self._accept, self._spoken)

    def right(self, parsed: Json, truth: Json) -> bool:
        """The same."""
        return parsed is not None and bool(parsed == truth)

    def _accept(self, value: Json) -> Json:
        return self._spoken(value) if isinstance(value, str) else _whole(value)

    def _spoken(self, text: str) -> Json:
        if numerals(text):
            found = _only_number(text)
            return None if found is None or found.percent else _whole(found.value)
        if declines(text):
            return None
        words = {_COUNTED[match.group().lower()] for match in _COUNT_WORD.finditer(text)}
        return words.pop() if len(words) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Positions:
    """A set of positions: as many as there are, each within `slack` of one of them, none used twice."""

    slack: int = 1

    @property
    def schema(self) -> dict[str, Any]:
        """A list of whole numbers or null."""
        return answer_schema({"type": "array", "items": {"type": "integer"}})

    @property
    def example(self) -> str:
        """What stands for the answer in the instruction."""
        return "[<position>, ...]"

    @property
    def tolerance(self) -> str:
        """What counts as right, in words."""
        return f"as many positions as there are, each at most {self.slack} off its own"

    def parse(self, text: str) -> Json:
        """The positions of a reply, sorted; an empty list when it says that there are none."""
        return read_reply(text, self._accept, self._spoken)

    def right(self, parsed: Json, truth: Json) -> bool:
        """One to one, within the slack: sorted lists match pairwise if they match at all."""
        if parsed is None or len(parsed) != len(truth):
            return False
        return all(abs(a - b) <= self.slack for a, b in zip(sorted(parsed), sorted(truth), strict=True))

    def _accept(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._spoken(value)
        if not isinstance(value, list):
            return None
        places = [_whole(one) for one in value]
        return sorted(place for place in places if place is not None) if None not in places else None

    def _spoken(self, text: str) -> Json:
        clauses = answer_clauses(text)
        if len(clauses) > 1:
            return None
        if _EMPTY.fullmatch(clauses[0]):
            return []
        listed = _LIST.fullmatch(clauses[0])
        return sorted(int(item) for item in re.findall(r"\d{1,15}", listed["items"])) if listed else None


def _only_number(text: str) -> Any:
    """The one number that a text gives for its answer, or None: two different ones, or a denied one, are none."""
    if declines(text):
        return None
    found = [(clause, number) for clause in answer_clauses(text) for number in numerals(clause)]
    if len({(number.value, number.percent) for _, number in found}) != 1:
        return None
    return None if any(is_denied(clause, number.start) for clause, number in found) else found[0][1]


def _whole(value: Json) -> int | None:
    """A JSON number without a fraction; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
        return None
    return int(value) if isfinite(value) and value == int(value) else None
