"""How much schema is too much: its limits, and the count that comes before anything recursive or costly touches it."""

from dataclasses import dataclass
from math import inf, isfinite

from batchwork.schema.errors import SchemaError
from batchwork.schema.keywords import step
from batchwork.schema.patterns import looks_around, pattern_weight
from batchwork.schema.weight import Weight


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
    """Of all patterns together: about the microseconds that compiling them takes. `[A-Z]{2}[0-9]{6}` has 4,
    `[^c]{800}` 5,000, `\\p{L}{100}` 22,000."""
    max_unfolded: int = 1_000_000
    """Rules met when every reference is followed once."""


DEFAULT_LIMITS = Limits()


def weigh(schema: object, limits: Limits = DEFAULT_LIMITS) -> Weight:
    """What it weighs; how far it spreads is not known yet.

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
            if isinstance(value, dict):
                self._go_through(value, place, depth + 1)
            elif isinstance(value, list):
                self._values += len(value)
                self._stay_within()
                for index, held in enumerate(value):
                    self._look_at(held, place, index, depth + 1)
            self._stay_within()
        return self._weight()

    def _go_through(self, value: dict[object, object], place: str, depth: int) -> None:
        self._values += len(value)
        self._stay_within()
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
        total = heaviest = 0.0
        largest = ("", "")
        for pattern, place in self._patterns:
            if len(pattern) > self._limits.max_pattern_characters:
                raise SchemaError(place, f"longer than {self._limits.max_pattern_characters} characters")
            weight = pattern_weight(pattern)
            total += weight
            if weight > heaviest:
                heaviest, largest = weight, (pattern, place)
        if total > self._limits.max_pattern_weight:
            most = self._limits.max_pattern_weight
            told = f"the regexes of the schema are too large: they weigh {total:.0f}, at most {most} is taken"
            raise SchemaError(largest[1], f"{told}, and this one {heaviest:.0f}; repeat less: {largest[0][:80]!r}")
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
