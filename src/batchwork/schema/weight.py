"""How much work a schema is: to prepare it, and to hold an answer against it. Estimates from above. Pure.

An answer is untrusted, and so is the schema: together they can take the validator as long as they like, and it keeps
the interpreter meanwhile. What is surely little is done at once; for all else somebody decides who does it where.
"""

from __future__ import annotations

from dataclasses import dataclass

_VALUE_US = 3.0  # to check and compile one JSON value of a schema
_UNIT_US = 0.03  # to hold one value against one rule
_CHARACTER_US = 0.02  # to read a character
_STEP_US = 0.025  # of a pattern's machine, for every microsecond that it took to compile
_BACKTRACKING_US = 1_000.0  # a pattern that looks around, until its backtracking is cut off
_VALUE_BYTES = 400
_PATTERN_BYTES = 160_000  # with what the engine may remember while it reads
_MARKS = b",[{"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """What a schema weighs."""

    values: int
    """JSON values in it."""
    patterns: int = 0
    pattern_us: float = 0.0
    """Microseconds to compile all of its patterns."""
    backtracks: bool = False
    spread: float = 1.0
    """The most rules that one value of an answer can be held against; infinite where that depends on the answer."""

    @property
    def preparing_us(self) -> float:
        """Microseconds to check and compile it."""
        return self.values * _VALUE_US + self.pattern_us

    @property
    def bytes(self) -> int:
        """About what it takes of memory when it is compiled and in use."""
        return int(self.values * _VALUE_BYTES + self.patterns * _PATTERN_BYTES + self.pattern_us * 500)

    def checking_us(self, *, values: int, characters: int) -> float:
        """Microseconds to hold an answer of so many values and characters against it, at most."""
        matching = self.pattern_us * _STEP_US * characters
        if self.backtracks:
            matching += _BACKTRACKING_US * self.patterns * values
        return values * self.spread * _UNIT_US + characters * _CHARACTER_US + matching


def values_at_most(text: str | bytes) -> int:
    """A bound of the number of JSON values in a text, for the price of a look at its bytes."""
    raw = text.encode("utf-8", "replace") if isinstance(text, str) else text
    found = _marks(raw)
    if found < 1_000:
        return found
    # Marks inside of texts are none: what stands between an odd and an even quotation mark is left out.
    bare = raw.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in raw else raw
    quotes = len(bare) - len(bare.translate(None, b'"'))
    return found if quotes > 100_000 else _marks(b"".join(bare.split(b'"')[::2]))


def _marks(raw: bytes) -> int:
    return len(raw) - len(raw.translate(None, _MARKS)) + 1
