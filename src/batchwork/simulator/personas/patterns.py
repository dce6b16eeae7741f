"""Make a string that matches a simple regular expression (no look-around, no back references)."""

import random
import re
from collections.abc import Iterable
from typing import Any

_MOST_REPEATS = 3


def from_pattern(pattern: str, dice: random.Random) -> str:
    """A matching string; an exotic pattern may be missed, the providers refuse those anyway."""
    from re import _parser  # type: ignore[attr-defined]  # noqa: PLC0415 - only needed when a schema has a pattern

    made = "".join(_pieces(_parser.parse(pattern), dice))
    return made if re.search(pattern, made) else pattern


def _pieces(parsed: Iterable[tuple[Any, Any]], dice: random.Random) -> list[str]:
    made: list[str] = []
    for operation, argument in parsed:
        name = str(operation)
        if name == "LITERAL":
            made.append(chr(argument))
        elif name == "ANY":
            made.append("a")
        elif name == "IN":
            made.append(_one_of(argument, dice))
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inner = argument
            times = dice.randint(int(least), max(int(least), min(int(most), int(least) + _MOST_REPEATS)))
            for _ in range(times):
                made.extend(_pieces(inner, dice))
        elif name == "SUBPATTERN":
            made.extend(_pieces(argument[-1], dice))
        elif name == "BRANCH":
            made.extend(_pieces(dice.choice(argument[1]), dice))
    return made


def _one_of(choices: list[tuple[Any, Any]], dice: random.Random) -> str:
    if str(choices[0][0]) == "NEGATE":
        taken = "".join(_spelled(choices[1:]))
        return next(c for c in "abcxyz0189_-. ABC" if c not in taken)
    return dice.choice(_spelled(choices))


def _spelled(choices: list[tuple[Any, Any]]) -> list[str]:
    letters: list[str] = []
    for operation, argument in choices:
        name = str(operation)
        if name == "LITERAL":
            letters.append(chr(argument))
        elif name == "RANGE":
            letters.extend(chr(code) for code in range(argument[0], min(argument[1], argument[0] + 64) + 1))
        elif name == "CATEGORY":
            category = str(argument)
            letters.extend("0123456789" if "DIGIT" in category else " " if "SPACE" in category else "abcXYZ019_")
    return letters or ["a"]
