"""Undoes in an answer what a provider may do to it without meaning it.

Two things only, each only where the answer as it is breaks the user's schema: a null for a property that is optional
and may not be null is left out, and text that is an allowed value in other upper and lower case is written as the
schema has it. The caller validates afterwards. Unions that recurse could be tried in a power of their depth: what was
tried is remembered, and a pass that has looked at too much leaves the rest as it is.
"""

from typing import Any

from batchwork.schema.checked_schema import CheckedSchema
from batchwork.schema.keywords import type_fits, types_of

_MOST_LOOKS = 200_000


def repaired(schema: CheckedSchema, value: Any) -> Any:
    """The value with nulls for absent properties left out and the case of allowed values put right."""
    return _Pass(schema).repair(value, "")


class _Pass:
    """One walk over one value; what needs no change is given back as the same object."""

    def __init__(self, schema: CheckedSchema) -> None:
        self._schema = schema
        self._done: dict[tuple[int, str], tuple[Any, Any]] = {}  # keeps the values, so that no id is used twice
        self._looks_left = _MOST_LOOKS

    def repair(self, value: Any, place: str) -> Any:
        node = self._schema.at(place)
        if not isinstance(node, dict) or self._looks_left <= 0:
            return value
        self._looks_left -= 1
        key = (id(value), place)
        if key not in self._done:
            self._done[key] = (value, value)  # for a value that is met again while it is being repaired
            self._done[key] = (value, self._repaired(node, value, place))
        return self._done[key][1]

    def _repaired(self, node: dict[str, Any], value: Any, place: str) -> Any:
        value = recased(node, value)
        if isinstance(value, dict | list):
            value = self._inside(node, value, place)
        for there in self._schema.same_value(node, place):
            value = self.repair(value, there)
        for alternatives in self._schema.unions(node, place):
            value = self._alternative(value, alternatives)
        return value

    def _inside(self, node: dict[str, Any], value: Any, place: str) -> Any:
        properties, required = node.get("properties", {}), node.get("required", ())
        new, changed = {}, False
        for key, held, inner in self._schema.inner_values(node, place, value):
            if inner is None:
                new[key] = held
            elif held is not None or key not in properties or key in required or self._allows_null(inner):
                new[key] = self.repair(held, inner)
                changed = changed or new[key] is not held
            else:
                changed = True
        if not changed:
            return value
        return new if isinstance(value, dict) else list(new.values())

    def _alternative(self, value: Any, places: list[str]) -> Any:
        """The value repaired for the first alternative that takes it; as it is when none does, or it needs none."""
        likely = [place for place in places if self._could_be(place, value)]
        self._looks_left -= len(places) + len(likely) * _size(value)
        if self._looks_left <= 0 or any(self._schema.validator_at(place).is_valid(value) for place in likely):
            return value
        for place in likely:
            new = self.repair(value, place)
            if new is not value and self._schema.validator_at(place).is_valid(new):
                return new
        return value

    def _could_be(self, place: str, value: Any) -> bool:
        """Whether repair could make the value fit the alternative: a cheap look, so that few are really tried."""
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
            if isinstance(part, dict) and ("enum" in part or "const" in part):
                allowed = _allowed_texts(part, held)
                if allowed and recased(part, held) not in allowed:
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
