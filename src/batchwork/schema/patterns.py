"""How much work a regular expression is: an estimate of what compiling it takes, before anybody compiles it. Pure.

The engine below is linear in the text it reads, but a pattern of twenty characters can stand for a machine of a
million states: repetitions multiply what they repeat, and a class of Unicode is hundreds of states. The unit is about
a microsecond of compiling, and some hundred bytes of memory.
"""

from __future__ import annotations

import re

_LITERAL = 0.2
_ALTERNATIVE = 0.8
_CLASS = 0.4
_WIDE = 6.0  # a dot, a negation: nearly every character there is
_UNICODE = 220.0  # a property of Unicode
_UNICODE_DIGIT = 40.0
_LONGEST_COUNT = 9  # digits; what is longer is beyond every limit anyway
_BOUNDS = re.compile(r"\{([0-9]*)(?:(,)([0-9]*))?\}")
_LOOKS_AROUND = re.compile(r"\(\?(?:[=!>]|<[=!])|\\[1-9k]")
_PORTABLE = re.compile(r"(?:[^\\(]|\\(?:[^1-9kbB]|$)|\((?!\?(?:[=!]|<[=!])))*+")


def pattern_weight(pattern: str) -> float:
    """About how many microseconds compiling it takes."""
    return _Reader(pattern).weight() * (3.0 if "(?i" in pattern else 1.0)


def looks_around(pattern: str) -> bool:
    """Whether it needs the engine that backtracks."""
    return _LOOKS_AROUND.search(pattern) is not None


def is_portable(pattern: str) -> bool:
    """Whether every provider takes it: it looks nowhere around, refers to no group, and asks for no word boundary."""
    return _PORTABLE.fullmatch(pattern) is not None


class _Reader:
    """One walk over a pattern. What is no pattern gets some weight; the compiler says what is wrong with it."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._unicode = looks_around(pattern)  # the engine for those takes `\\w` and `\\d` for all of Unicode

    def weight(self) -> float:
        outer: list[float] = []  # what stands before the groups that are open
        total = last = 0.0
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == "(":
                outer.append(total + last)
                total = last = 0.0
                self._at += 1
            elif character == ")":
                total, last = (outer.pop() if outer else 0.0), total + last + _LITERAL
                self._at += 1
            elif character in "*+?|^$":
                last += _ALTERNATIVE if character == "|" else _LITERAL
                self._at += 1
            elif character == "{" and (times := self._times()) is not None:
                last *= times
            else:
                total += last
                last = self._one()
        return total + last + sum(outer)

    def _times(self) -> float | None:
        """How many copies a repetition makes; None where the bracket is only a character."""
        found = _BOUNDS.match(self._text, self._at)
        if found is None:
            return None
        self._at = found.end()
        least, open_end, most = found.groups()
        counts = [count for count in (least, most) if count]
        if any(len(count) > _LONGEST_COUNT for count in counts):
            return float("inf")
        return float(max([1, *map(int, counts)]) + (open_end is not None))

    def _one(self) -> float:
        """The weight of a character, an escape or a class."""
        character = self._text[self._at]
        self._at += 1
        if character == "\\":
            return self._escape()
        if character == "[":
            return self._class()
        if character == ".":
            return _WIDE
        return _LITERAL if character.isascii() else 2 * _LITERAL

    def _escape(self) -> float:
        named = self._text[self._at : self._at + 1]
        self._at += 1
        if named in "pP":
            end = self._text.find("}", self._at)
            self._at = len(self._text) if end < 0 else end + 1
            return _UNICODE
        if named in "xu":
            end = self._text.find("}", self._at)
            self._at = end + 1 if self._text[self._at : self._at + 1] == "{" and end >= 0 else self._at
            return _LITERAL
        if self._unicode and named in "wWdD":
            return _UNICODE if named in "wW" else _UNICODE_DIGIT
        if named in "SWDs":
            return _WIDE if named != "S" else 2 * _WIDE
        return _CLASS if named in "wdbB" else _LITERAL

    def _class(self) -> float:
        weight = _CLASS
        if self._text[self._at : self._at + 1] == "^":
            weight += _WIDE
            self._at += 1
        depth = 1
        while self._at < len(self._text) and depth:
            character = self._text[self._at]
            self._at += 1
            if character == "\\":
                weight += self._escape()
            elif character == "[":
                depth += 1
            elif character == "]":
                depth -= 1
            else:
                weight += 0.1 if character.isascii() else _LITERAL
        return weight
