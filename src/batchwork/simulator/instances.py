"""Make up an instance of a JSON schema: plain or random, always valid.

Knows what providers take: types, enum, const, anyOf/oneOf/allOf, $ref, bounds, formats and simple patterns.
"""

import random
import re
from collections.abc import Iterable
from typing import Any

from batchwork.simulator.schema_nodes import resolved

_DEEPEST = 6
_MOST_REPEATS = 3  # of a pattern
WORDS = "amber birch cedar delta ember fjord grove harbor iris juniper kelp lumen maple north ocean pine"
_FORMATS = {
    "date": "2026-0{d}-1{d}",
    "date-time": "2026-0{d}-1{d}T0{d}:00:00Z",
    "time": "0{d}:00:00Z",
    "duration": "P{d}D",
    "email": "user{d}@example.com",
    "hostname": "host{d}.example.com",
    "uri": "https://example.com/{d}",
    "ipv4": "192.0.2.{d}",
    "ipv6": "2001:db8::{d}",
    "uuid": "00000000-0000-4000-8000-00000000000{d}",
}
Schema = dict[str, Any]


def simplest(schema: Schema, text: str) -> Any:
    """The plainest valid instance, its free strings saying `text`."""
    return Maker(schema, random.Random(0), text).make(schema)


class Maker:
    """Makes instances of one schema; with `text`, plain ones that say it."""

    def __init__(self, root: Schema, dice: random.Random, text: str | None = None) -> None:
        self._root = root
        self._dice = dice
        self._text = text

    def make(self, schema: Any, depth: int = 0) -> Any:
        """One instance."""
        if not isinstance(schema, dict):
            return self._string({}) if schema else None
        if "$ref" in schema:
            return self.make(resolved(self._root, schema["$ref"]), depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0] if self._text is not None else self._dice.choice(schema["enum"])
        for word in ("anyOf", "oneOf"):
            if schema.get(word):
                return self.make(self._branch(schema[word], depth), depth + 1)
        if "allOf" in schema:
            return self.make(_merged([self._followed(part) for part in schema["allOf"]], schema), depth + 1)
        return self._typed(schema, depth)

    def _branch(self, branches: list[Any], depth: int) -> Any:
        if depth > _DEEPEST:  # a recursive schema ends where it offers something flat
            flat = [b for b in map(self._followed, branches) if b.get("type") not in ("object", "array", None)]
            return (flat or branches)[-1]
        if self._text is not None:
            return branches[0]
        return self._dice.choice(branches)

    def _typed(self, schema: Schema, depth: int) -> Any:
        kind = schema.get("type") or ("object" if "properties" in schema else "string")
        if isinstance(kind, list):
            plain = [k for k in kind if k not in ("object", "array")] if depth > _DEEPEST else kind
            kind = (plain or kind)[0] if self._text is not None else self._dice.choice(plain or kind)
        if kind == "object":
            wanted = schema.get("required", [])
            properties = schema.get("properties", {})
            names = [n for n in properties if n in wanted] + [
                n for n in properties if n not in wanted and depth <= _DEEPEST and self._dice.random() < 0.7
            ]
            return {name: self.make(properties[name], depth + 1) for name in names}
        if kind == "array":
            least = schema.get("minItems", 0)
            most = max(least, min(schema.get("maxItems", least + 3), least + 3))
            count = least if depth > _DEEPEST else self._dice.randint(least, most)
            return [self.make(schema.get("items", {"type": "string"}), depth + 1) for _ in range(count)]
        if kind in ("integer", "number"):
            return self._number(schema, whole=kind == "integer")
        if kind == "boolean":
            return self._dice.random() < 0.5
        return None if kind == "null" else self._string(schema)

    def _number(self, schema: Schema, *, whole: bool) -> int | float:
        step = schema.get("multipleOf", 1 if whole else None)
        low = schema.get("minimum", schema.get("exclusiveMinimum"))
        high = schema.get("maximum", schema.get("exclusiveMaximum"))
        if low is None:
            low = 0 if high is None or high > 0 else high - 100
        if high is None:
            high = low + 100
        if step is None:
            value = round(low + (high - low) * (0.1 + 0.8 * self._dice.random()), 2)
            return float(value if low <= value <= high else (low + high) / 2)
        first = -(-low // step)
        first += first * step == schema.get("exclusiveMinimum")
        last = high // step
        last -= last * step == schema.get("exclusiveMaximum")
        value = self._dice.randint(int(first), max(int(first), int(last))) * step
        return int(value) if whole else value

    def _string(self, schema: Schema) -> str:
        if "pattern" in schema:
            return _from_pattern(schema["pattern"], self._dice)
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]].format(d=self._dice.randint(1, 9))
        text = self._text if self._text is not None else " ".join(self._dice.choices(WORDS.split(), k=2))
        least = schema.get("minLength", 0)
        return str((text + "x" * max(0, least - len(text)))[: schema.get("maxLength")])

    def _followed(self, part: Any) -> Schema:
        for _ in range(_DEEPEST):  # a reference may lead in a circle
            if isinstance(part, dict) and "$ref" in part:
                part = resolved(self._root, part["$ref"])
        return part if isinstance(part, dict) else {}


def _merged(parts: list[Schema], outer: Schema) -> Schema:
    whole: Schema = {key: value for key, value in outer.items() if key != "allOf"}
    for part in parts:
        for key, value in part.items():
            if key == "properties":
                whole["properties"] = {**whole.get("properties", {}), **value}
            elif key == "required":
                whole["required"] = [*whole.get("required", []), *value]
            else:
                whole.setdefault(key, value)
    return whole


def _from_pattern(pattern: str, dice: random.Random) -> str:
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
