"""What is wrong with an answer, and where, in short sentences.

Not simply the validator's list of errors: under unions that recurse that list grows with a power of the depth (ten
levels of three alternatives took it fourteen seconds). Here every value is explained once: of a union's alternatives
only the nearest one is followed.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import jsonschema_rs

from batchwork.schema.checked_schema import CheckedSchema
from batchwork.schema.keywords import OWN, step, type_fits
from batchwork.schema.repair import recased

MOST_ERRORS = 10
_LONGEST = 240
_FOLLOWED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "properties", "additionalProperties", "items", "prefixItems"})
_Path = tuple[str | int, ...]


class Explainer:
    """Explains why values do not fit one schema."""

    def __init__(self, schema: CheckedSchema) -> None:
        self._schema = schema
        self._own: dict[str, jsonschema_rs.Validator] = {}

    def explain(self, value: Any, place: str = "") -> list[str]:
        """At most ten sentences, each with the path of the value it is about; never none for a value that is wrong."""
        sentences: list[str] = []
        for sentence in self._wrong(value, place, ()):
            if sentence not in sentences:
                sentences.append(sentence)
            if len(sentences) == MOST_ERRORS:
                break
        return sentences

    def _wrong(self, value: Any, place: str, path: _Path) -> Iterator[str]:
        """What is wrong with one value; nothing when it fits."""
        if self._schema.validator_at(place).is_valid(value):
            return
        node = self._schema.at(place)
        if not isinstance(node, dict):
            yield _sentence(path, "there must be nothing here")
            return
        explained = False
        for sentence in self._parts(node, value, place, path):
            explained = True
            yield sentence
        if not explained:
            rules = sorted(node.keys() - _FOLLOWED - set(OWN) - {"description", "title", "$defs"})
            listed = f" ({', '.join(rules)})" if rules else ""
            yield _sentence(path, f"{_shown(value)} does not fit the schema{listed}")

    def _parts(self, node: dict[str, Any], value: Any, place: str, path: _Path) -> Iterator[str]:
        for error in self._own_validator(node, place).iter_errors(value):
            yield _sentence(path, error.message)
        for there in self._schema.same_value(node, place):
            yield from self._wrong(value, there, path)
        for alternatives in self._schema.unions(node, place):
            yield from self._union(value, alternatives, path)
        others = f"{place}/additionalProperties" if "patternProperties" in node else None
        for key, held, inner in self._schema.inner_values(node, place, value):
            if inner is not None and inner != others:
                yield from self._wrong(held, inner, (*path, key))

    def _union(self, value: Any, places: list[str], path: _Path) -> Iterator[str]:
        fitting = sum(self._schema.validator_at(place).is_valid(value) for place in places)
        if fitting:  # of an anyOf one is enough; of a oneOf two are too many
            if fitting > 1 and "/oneOf/" in places[0]:
                yield _sentence(path, f"{_shown(value)} fits {fitting} of the alternatives and must fit exactly one")
            return
        nearest = max(places, key=lambda place: self._nearness(value, place))
        yield from self._wrong(value, nearest, path)

    def _nearness(self, value: Any, place: str) -> tuple[int, int]:
        """How near an alternative is: right type first, then how many of its properties look right.

        Looks only, because compiling every part of every alternative would take longer than the answer is worth.
        """
        place, node = self._schema.resolved(place)
        if isinstance(node, bool) or not type_fits(node, value):
            return (0, 0)
        if not isinstance(value, dict):
            return (1, 0)
        inner = step(place, "properties")
        good = sum(
            self._looks_right(step(inner, name), value[name]) for name in node.get("properties", {}) if name in value
        )
        return (1, good - sum(name not in value for name in node.get("required", ())))

    def _looks_right(self, place: str, value: Any) -> bool:
        _, node = self._schema.resolved(place)
        if isinstance(node, bool):
            return node
        allowed = node.get("enum", [node["const"]] if "const" in node else None)
        return type_fits(node, value) and (not isinstance(allowed, list) or recased(node, value) in allowed)

    def _own_validator(self, node: dict[str, Any], place: str) -> jsonschema_rs.Validator:
        """Checks what a schema says about its value itself, not about what is inside."""
        if place not in self._own:
            own: dict[str, Any] = {keyword: node[keyword] for keyword in OWN if keyword in node}
            if node.get("additionalProperties") is False:
                own["additionalProperties"] = False
                own["properties"] = dict.fromkeys(node.get("properties", {}), True)
                own["patternProperties"] = dict.fromkeys(node.get("patternProperties", {}), True)
            self._own[place] = self._schema.compiled(own)
        return self._own[place]


def located(path: Iterable[str | int], message: str) -> str:
    """A message about the value at a path."""
    written = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")
    return f"{written}: {message}" if written else message


def _sentence(path: _Path, message: str) -> str:
    return located(path, message if len(message) <= _LONGEST else message[: _LONGEST - 3] + "...")


def _shown(value: Any) -> str:
    kinds = {dict: "the object", list: "the list", str: "the text", type(None): "null", bool: "the boolean"}
    return kinds.get(type(value), "the number")
