"""Put right in an answer what a provider may do to it without meaning it.

Two things only, each only where the answer as it is breaks the user's schema: a null for a property that is optional
and may not be null is left out (that is how a provider that requires every property says "absent"), and text that is
an allowed value in other upper and lower case is written as the schema has it. The caller validates afterwards, so a
wrong guess can never make a bad answer pass.

Unions that recurse could be tried in a power of their depth: what was tried is remembered, and a pass that has looked
at too much gives up and leaves the rest as it is.
"""

from collections.abc import Collection, Iterable
from typing import Any

from batchwork.schema.checked import Schema
from batchwork.schema.keywords import step, type_fits, types_of

_MOST_LOOKS = 200_000


def mended(schema: Schema, value: Any) -> Any:
    """The value with nulls for absent properties left out and the case of allowed values put right."""
    return _Pass(schema).mend(value, "")


class _Pass:
    """One walk over one value; what needs no change is given back as the same object."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._done: dict[tuple[int, str], tuple[Any, Any]] = {}  # keeps the values, so that no id is used twice
        self._looks_left = _MOST_LOOKS

    def mend(self, value: Any, place: str) -> Any:
        node = self._schema.at(place)
        if not isinstance(node, dict) or self._looks_left <= 0:
            return value
        self._looks_left -= 1
        key = (id(value), place)
        if key not in self._done:
            self._done[key] = (value, value)  # for a value that is met again while it is being mended
            self._done[key] = (value, self._mend(node, value, place))
        return self._done[key][1]

    def _mend(self, node: dict[str, Any], value: Any, place: str) -> Any:
        value = recased(node, value)
        if isinstance(value, dict):
            value = self._object(node, value, place)
        elif isinstance(value, list):
            value = self._list(node, value, place)
        target = self._schema.target(node, place)
        if target is not None:
            value = self.mend(value, target)
        for index, _ in enumerate(node.get("allOf", ())):
            value = self.mend(value, f"{place}/allOf/{index}")
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                value = self._alternative(value, [f"{place}/{keyword}/{n}" for n in range(len(node[keyword]))])
        return value

    def _object(self, node: dict[str, Any], value: dict[str, Any], place: str) -> dict[str, Any]:
        properties = node.get("properties", {})
        required = node.get("required", ())
        others = step(place, "additionalProperties") if isinstance(node.get("additionalProperties"), dict) else None
        new = {}
        for name, held in value.items():
            inner = step(step(place, "properties"), name) if name in properties else others
            if inner is None:
                new[name] = held
            elif held is not None or name in required or name not in properties or self._allows_null(inner):
                new[name] = self.mend(held, inner)
        return value if _same(new.values(), value.values()) else new

    def _list(self, node: dict[str, Any], value: list[Any], place: str) -> list[Any]:
        prefix = node.get("prefixItems", ())
        rest = step(place, "items") if isinstance(node.get("items"), dict) else None
        new = list(value)
        for index, held in enumerate(value):
            if index < len(prefix):
                new[index] = self.mend(held, f"{place}/prefixItems/{index}")
            elif rest is not None:
                new[index] = self.mend(held, rest)
        return value if _same(new, value) else new

    def _alternative(self, value: Any, places: list[str]) -> Any:
        """The value mended for the first alternative that takes it; as it is when none does, or it needs no mending."""
        likely = [place for place in places if self._could_be(place, value)]
        self._looks_left -= len(places) + len(likely) * _size(value)
        if self._looks_left <= 0 or any(self._schema.validator_at(place).is_valid(value) for place in likely):
            return value
        for place in likely:
            new = self.mend(value, place)
            if new is not value and self._schema.validator_at(place).is_valid(new):
                return new
        return value

    def _could_be(self, place: str, value: Any) -> bool:
        """Whether mending could make the value fit the alternative: a cheap look, so that few are really tried."""
        node = self._schema.resolved(place)[1]
        if isinstance(node, bool):
            return node
        if not type_fits(node, value):
            return False
        if not isinstance(value, dict):
            return True
        if any(name not in value for name in node.get("required", ())):
            return False
        properties = node.get("properties", {})
        for name, held in value.items():
            part = properties.get(name) if isinstance(held, str) else None
            allowed = _allowed_texts(part, held) if isinstance(part, dict) else []
            if allowed and isinstance(part, dict) and recased(part, held) not in allowed:
                return False
        return True

    def _allows_null(self, place: str) -> bool:
        place, node = self._schema.resolved(place)
        named = types_of(node) if isinstance(node, dict) else ()
        if named and "null" not in named:
            return False
        return self._schema.validator_at(place).is_valid(None)


def _allowed_texts(node: dict[str, Any], value: Any) -> list[Any]:
    """The values that are allowed where the value is text and only certain values are; else none."""
    if not isinstance(value, str):
        return []
    allowed = node.get("enum", [node["const"]] if "const" in node else [])
    return allowed if isinstance(allowed, list) else []


def _same(new: Iterable[Any], old: Collection[Any]) -> bool:
    new = list(new)
    return len(new) == len(old) and all(one is other for one, other in zip(new, old, strict=True))


def _size(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + sum(map(_size, value.values()))
    return 1 + sum(map(_size, value)) if isinstance(value, list) else 1


def recased(node: dict[str, Any], value: Any) -> Any:
    """The allowed value that differs from this one in case alone, when there is exactly one."""
    allowed = _allowed_texts(node, value)
    if not allowed or value in allowed:
        return value
    folded = value.casefold()
    same = [option for option in allowed if isinstance(option, str) and option.casefold() == folded]
    return same[0] if len(same) == 1 else value
