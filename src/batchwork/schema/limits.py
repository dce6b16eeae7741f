"""How much schema is too much, and how much work a schema is: to prepare, and to check an answer against. Pure.

An answer is untrusted, and so is the schema: together they can take the validator as long as they like, and it keeps
the interpreter meanwhile. So a schema is counted before anything recursive or costly touches it, and its work is
estimated from above; what may be much is somebody else's to do, in another process.
"""

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from batchwork.core.errors import SchemaError
from batchwork.schema.keywords import step
from batchwork.schema.patterns import looks_around, pattern_weight

_VALUE_US = 3.0  # to check and compile one JSON value of a schema
_PATTERN_US = 30.0  # to compile the smallest pattern
_UNIT_US = 0.03  # to check one value against one rule
_CHARACTER_US = 0.02  # to read a character
_STEP_US = 0.025  # of a pattern's machine, for every microsecond that it took to compile
_BACKTRACKING_US = 1_000.0  # a pattern that looks around, until its backtracking is cut off
_VALUE_BYTES = 400
_PATTERN_BYTES = 160_000  # with what the engine may remember while it reads
_MARKS = b",[{"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much schema is too much."""

    max_nodes: int = 20_000  # JSON values in the schema, counting all of them
    max_characters: int = 512_000
    max_depth: int = 64
    max_patterns: int = 200
    max_pattern_characters: int = 2_000
    max_pattern_weight: int = 20_000
    """Of all patterns together: about the microseconds that compiling them takes. `[A-Z]{2}[0-9]{6}` has 6,
    `[^c]{800}` 5,000, `\\p{L}{100}` 22,000."""
    max_unfolded: int = 1_000_000  # rules met when every reference is followed once


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """What a schema weighs."""

    values: int  # JSON values in it
    patterns: int = 0
    pattern_us: float = 0.0  # microseconds to compile all of its patterns, beside what each of them takes at least
    backtracks: bool = False
    # The most rules that one value of an answer can be checked against; infinite where that depends on the answer
    spread: float = 1.0
    # How often all of it is compiled when each of its parts is compiled alone, as an explanation may do
    parts: float = 1.0

    @property
    def preparing_us(self) -> float:
        """Microseconds to check and compile it."""
        patterns = self.patterns * _PATTERN_US + self.pattern_us
        return self.values * _VALUE_US + patterns * (2 if self.backtracks else 1)  # then it is compiled twice

    @property
    def explaining_us(self) -> float:
        """Microseconds to compile all that explaining a wrong answer may need, at most."""
        return self.preparing_us * self.parts

    @property
    def bytes(self) -> int:
        """About what it takes of memory when it is compiled and in use."""
        return int(self.values * _VALUE_BYTES + self.patterns * _PATTERN_BYTES + self.pattern_us * 500)

    def checking_us(self, *, values: int, characters: int) -> float:
        """Microseconds to check an answer of so many values and characters against it, at most."""
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


def weigh(schema: object, limits: Limits = DEFAULT_LIMITS) -> Weight:
    """The weight of a schema, before its references are followed: its spread is infinite as yet."""
    values, characters, patterns = 1, 0, list[tuple[str, str]]()  # patterns with their places
    waiting: list[tuple[Any, str, int]] = [(schema, "", 1)] if isinstance(schema, dict | list) else []
    while waiting:  # with a stack of our own: Python's is short
        value, place, depth = waiting.pop()
        if depth > limits.max_depth:
            raise SchemaError(place[:200], f"nested more than {limits.max_depth} levels deep")
        values += len(value)
        _stay_within(limits, values, characters, len(patterns))
        for key, held in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(key, str):
                characters += _length(key, place)
                if key == "pattern" and isinstance(held, str):
                    patterns.append((held, step(place, key)))
                elif key == "patternProperties" and isinstance(held, dict):
                    patterns += [(one, step(place, key)) for one in held if isinstance(one, str)]
            elif isinstance(value, dict):
                raise SchemaError(place, f"the key {key!r} is not text")
            if isinstance(held, str):
                characters += len(held) if held.isascii() else _length(held, step(place, key))
            elif isinstance(held, dict | list):
                waiting.append((held, step(place, key), depth + 1))
            elif isinstance(held, float) and not isfinite(held):
                raise SchemaError(step(place, key), f"{held} is not JSON")
            elif not (held is None or isinstance(held, bool | int | float)):
                raise SchemaError(step(place, key), f"{kind_of(held)} is not JSON")
        _stay_within(limits, values, characters, len(patterns))
    return Weight(
        values=values,
        patterns=len(patterns),
        pattern_us=_weight_of_patterns(patterns, limits),
        backtracks=any(looks_around(pattern) for pattern, _ in patterns),
        spread=inf,
    )


def _stay_within(limits: Limits, values: int, characters: int, patterns: int) -> None:
    for count, most, what in (
        (values, limits.max_nodes, "values"),
        (characters, limits.max_characters, "characters"),
        (patterns, limits.max_patterns, "patterns"),
    ):
        if count > most:
            raise SchemaError("", f"too large: more than {most} {what}")


def _weight_of_patterns(patterns: list[tuple[str, str]], limits: Limits) -> float:
    longest, most = limits.max_pattern_characters, limits.max_pattern_weight
    weights: list[float] = []
    for pattern, place in patterns:
        if len(pattern) > longest:
            raise SchemaError(place, f"longer than {longest} characters")
        weights.append(pattern_weight(pattern))
    total = sum(weights)
    if total > most:
        heaviest = max(weights)
        pattern, place = patterns[weights.index(heaviest)]
        problem = f"the regexes of the schema are too large: they weigh {total:.0f}, at most {most} is taken"
        raise SchemaError(place, f"{problem}, and this one {heaviest:.0f}; repeat less: {pattern[:80]!r}")
    return total


def _length(text: str, place: str) -> int:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise SchemaError(place, "half of a surrogate pair is not text") from None
    return len(text)


def kind_of(value: object) -> str:
    """What something is, in words."""
    return {type(None): "null", list: "a list", str: "text"}.get(type(value), f"a {type(value).__name__}")
