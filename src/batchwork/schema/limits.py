"""How much schema is too much, and how much work a schema is: to prepare, and to check an answer against. Pure.

An answer is untrusted, and so is the schema: together they can take the validator as long as they like, and it keeps
the interpreter meanwhile. So a schema is counted before anything recursive or costly touches it, and its work is
estimated from above; what may be much is somebody else's to do, in another process.
"""

from dataclasses import dataclass
from math import inf, isfinite

from batchwork.schema.errors import SchemaError
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

    max_nodes: int = 20_000
    """JSON values in the schema, counting all of them."""
    max_characters: int = 512_000
    max_depth: int = 64
    max_patterns: int = 200
    max_pattern_characters: int = 2_000
    max_pattern_weight: int = 20_000
    """Of all patterns together: about the microseconds that compiling them takes. `[A-Z]{2}[0-9]{6}` has 6,
    `[^c]{800}` 5,000, `\\p{L}{100}` 22,000."""
    max_unfolded: int = 1_000_000
    """Rules met when every reference is followed once."""


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """What a schema weighs."""

    values: int
    """JSON values in it."""
    patterns: int = 0
    pattern_us: float = 0.0
    """Microseconds to compile all of its patterns, beside what each of them takes at least."""
    backtracks: bool = False
    spread: float = 1.0
    """The most rules that one value of an answer can be checked against; infinite where that depends on the answer."""
    parts: float = 1.0
    """How often all of it is compiled when each of its parts is compiled alone, as an explanation may do."""

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
    """The weight of a schema, before its references are followed: its spread is infinite as yet.

    Raises:
        SchemaError: it is not JSON, or too much.
    """
    return _Count(limits).of(schema)


class _Count:
    """One walk over a schema with a stack of its own."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._values = 1
        self._characters = 0
        self._patterns: list[tuple[str, str]] = []  # with their places
        self._waiting: list[tuple[object, str, int]] = []

    def of(self, schema: object) -> Weight:
        self._look_at(schema, "", "", 1)
        while self._waiting:
            value, place, depth = self._waiting.pop()
            if depth > self._limits.max_depth:
                raise SchemaError(place[:200], f"nested more than {self._limits.max_depth} levels deep")
            assert isinstance(value, dict | list)
            self._values += len(value)
            self._stay_within()
            if isinstance(value, dict):
                self._go_through(value, place, depth + 1)
            else:
                for index, held in enumerate(value):
                    self._look_at(held, place, index, depth + 1)
            self._stay_within()
        return self._weight()

    def _go_through(self, value: dict[object, object], place: str, depth: int) -> None:
        for key, held in value.items():
            if not isinstance(key, str):
                raise SchemaError(place, f"the key {key!r} is not text")
            self._characters += _length(key, place)
            if key == "pattern" and isinstance(held, str):
                self._patterns.append((held, step(place, key)))
            elif key == "patternProperties" and isinstance(held, dict):
                self._patterns += [(one, step(place, key)) for one in held if isinstance(one, str)]
            self._look_at(held, place, key, depth)

    def _look_at(self, value: object, place: str, key: str | int, depth: int) -> None:
        if isinstance(value, str):
            self._characters += len(value) if value.isascii() else _length(value, step(place, key))
        elif isinstance(value, dict | list):
            self._waiting.append((value, step(place, key) if depth > 1 else "", depth))
        elif isinstance(value, float) and not isfinite(value):
            raise SchemaError(step(place, key), f"{value} is not JSON")
        elif not (value is None or isinstance(value, bool | int | float)):
            raise SchemaError(step(place, key), f"{kind_of(value)} is not JSON")

    def _stay_within(self) -> None:
        limits = self._limits
        for count, most, what in (
            (self._values, limits.max_nodes, "values"),
            (self._characters, limits.max_characters, "characters"),
            (len(self._patterns), limits.max_patterns, "patterns"),
        ):
            if count > most:
                raise SchemaError("", f"too large: more than {most} {what}")

    def _weight(self) -> Weight:
        longest, most = self._limits.max_pattern_characters, self._limits.max_pattern_weight
        weights: list[float] = []
        for pattern, place in self._patterns:
            if len(pattern) > longest:
                raise SchemaError(place, f"longer than {longest} characters")
            weights.append(pattern_weight(pattern))
        total = sum(weights)
        if total > most:
            heaviest = max(weights)
            pattern, place = self._patterns[weights.index(heaviest)]
            problem = f"the regexes of the schema are too large: they weigh {total:.0f}, at most {most} is taken"
            raise SchemaError(place, f"{problem}, and this one {heaviest:.0f}; repeat less: {pattern[:80]!r}")
        return Weight(
            values=self._values,
            patterns=len(self._patterns),
            pattern_us=total,
            backtracks=any(looks_around(pattern) for pattern, _ in self._patterns),
            spread=inf,
        )


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
