"""How much work a regular expression is: an estimate of what compiling it takes, before anybody compiles it. Pure.

The engine below is linear in the text it reads, but a pattern of twenty characters can stand for a machine of a
million states: repetitions multiply what they repeat, and a class of Unicode is hundreds of states. The unit is about
a microsecond of compiling, and some hundred bytes of memory.
"""

import re

_LITERAL = 0.2
_IN_CLASS = 0.1
_ALTERNATIVE = 0.8
_CLASS = 0.4
_WIDE = 6.0  # a dot, a negation: nearly every character there is
_UNICODE = 220.0  # a property of Unicode
_UNICODE_DIGIT = 40.0
_LONGEST_COUNT = 9  # digits; what is longer is beyond every limit anyway
_TOKEN = re.compile(r"\\[pP](?:\{[^}]*\}?|.)?|\\[xu]\{[^}]*\}|\\.?|\[\^?|\{[0-9]*(?:,[0-9]*)?\}|.", re.DOTALL)
_LOOKS_AROUND = re.compile(r"\(\?(?:[=!>]|<[=!])|\\[1-9k]")
_PORTABLE = re.compile(r"(?:[^\\(]|\\(?:[^1-9kbB]|$)|\((?!\?(?:[=!]|<[=!])))*+")


def looks_around(pattern: str) -> bool:
    """Whether it needs the engine that backtracks."""
    return _LOOKS_AROUND.search(pattern) is not None


def is_portable(pattern: str) -> bool:
    """Whether every provider takes it: it looks nowhere around, refers to no group, and asks for no word boundary."""
    return _PORTABLE.fullmatch(pattern) is not None


def pattern_weight(pattern: str) -> float:
    """About how many microseconds compiling it takes; what is no pattern gets some weight, too."""
    unicode = looks_around(pattern)
    outer: list[float] = []  # what stands before the groups that are open
    total = last = 0.0
    open_classes = 0
    for sign in _TOKEN.findall(pattern):
        if open_classes:
            open_classes += (sign[0] == "[") - (sign == "]")
            last += _IN_CLASS if sign in ".]" else _weight(sign, unicode=unicode, literal=_IN_CLASS)
        elif sign == "(":
            outer.append(total + last)
            total = last = 0.0
        elif sign == ")":
            total, last = (outer.pop() if outer else 0.0), total + last + _LITERAL
        elif sign in "*+?|^$":
            last += _ALTERNATIVE if sign == "|" else _LITERAL
        elif sign[0] == "{" and len(sign) > 1:
            last *= _copies(sign)
        else:
            open_classes += sign[0] == "["
            total, last = total + last, _weight(sign, unicode=unicode, literal=_LITERAL)
    return (total + last + sum(outer)) * (3.0 if "(?i" in pattern else 1.0)


def _copies(bounds: str) -> float:
    """How many copies a repetition makes."""
    counts = [count for count in bounds[1:-1].split(",") if count]
    if any(len(count) > _LONGEST_COUNT for count in counts):
        return float("inf")
    return float(max([1, *map(int, counts)]) + ("," in bounds))


def _weight(sign: str, *, unicode: bool, literal: float) -> float:
    """The weight of a character, escape or beginning of a class; `unicode`: its classes stand for all of Unicode."""
    if sign[0] == "[":
        return _CLASS + (_WIDE if sign == "[^" else 0.0)
    if sign == ".":
        return _WIDE
    if sign[0] != "\\":
        return literal if sign.isascii() else 2 * literal
    kind = sign[1:2]
    if kind in "pP" or (unicode and kind in "wW"):
        return _UNICODE
    if unicode and kind in "dD":
        return _UNICODE_DIGIT
    if kind in "SWDs":
        return _WIDE if kind != "S" else 2 * _WIDE
    return _CLASS if kind in "wdbB" else _LITERAL
