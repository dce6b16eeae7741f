"""Decide whether a schema can be used at all. It may come from a stranger.

What is bounded: its size and depth, the number and length of its patterns, and how far it unfolds when its references
are followed. What is refused: anything that is not JSON, references that leave the document (nothing is ever
fetched), references that go round in a circle without taking a step into the value. Patterns run on a linear-time
engine; the few that need look-around run on one whose backtracking is cut off.
"""

from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any
from urllib.parse import quote, unquote

import jsonschema_rs

from batchwork.schema.errors import SchemaError
from batchwork.schema.keywords import Node, children, is_schema, step
from batchwork.schema.unfolding import look_for_circles

_URN = "urn:batchwork:schema"
_REGEX_BYTES = 1 << 22
_BACKTRACKS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much schema is too much."""

    max_nodes: int = 20_000
    """JSON values in the schema, counting all of them."""
    max_characters: int = 512_000
    max_depth: int = 64
    max_patterns: int = 200
    max_pattern_characters: int = 2_000
    max_unfolded: int = 1_000_000
    """Schemas met when every reference is followed once."""


DEFAULT_LIMITS = Limits()
_ABROAD = ("$dynamicRef", "$recursiveRef")


class Schema:
    """A JSON schema that passed `check_schema`: it can be validated against and walked without surprises."""

    def __init__(self, root: Node) -> None:
        """Not for callers: use `check_schema`."""
        self.root = root
        self.places: dict[str, Node] = {}
        """Every schema in the document by its JSON pointer."""
        self._anchors: dict[str, str] = {}
        self._index("", root)
        self.circle: str | None = None
        """A place that a reference inside of it leads back to, when the schema is recursive."""

    def _index(self, place: str, node: Node) -> None:
        waiting = [(place, node)]
        while waiting:
            place, node = waiting.pop()
            if place in self.places:
                continue
            self.places[place] = node
            if isinstance(node, dict):
                if isinstance(node.get("$anchor"), str):
                    self._anchors[node["$anchor"]] = place
                waiting += [(inner, part) for _, inner, part in children(node, place)]

    def follow_references(self) -> None:
        """Make sure that every reference leads somewhere inside.

        Raises:
            SchemaError: one does not.
        """
        for place in list(self.places):
            waiting = [place]
            while waiting:
                here = waiting.pop()
                node = self.places[here]
                target = self.target(node, here) if isinstance(node, dict) else None
                if target is not None and target not in self.places:
                    known = set(self.places)
                    self._index(target, self.at(target))  # a schema under a keyword of the user's own
                    waiting += self.places.keys() - known

    def target(self, node: dict[str, Any], place: str) -> str | None:
        """The place the schema's `$ref` leads to, None without one.

        Raises:
            SchemaError: it leads out of the document or nowhere.
        """
        ref = node.get("$ref")
        if ref is None:
            return None
        here = step(place, "$ref")
        if not isinstance(ref, str):
            raise SchemaError(here, "a reference must be text")
        if not ref.startswith("#"):
            raise SchemaError(
                here, f"{ref!r} leads out of the schema; only references that start with '#' are followed"
            )
        fragment = unquote(ref[1:])
        found = fragment if fragment.startswith("/") or not fragment else self._anchors.get(fragment)
        if found is None or not is_schema(self.at(found)):
            raise SchemaError(here, f"{ref!r} leads nowhere")
        return found

    def at(self, place: str) -> Any:
        """What stands at a place, also where schemas usually do not; None when nothing does."""
        if place in self.places:
            return self.places[place]
        found: Any = self.root
        for raw in place.split("/")[1:]:
            key = raw.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and key in found:
                found = found[key]
            elif isinstance(found, list) and key.isascii() and key.isdigit() and int(key) < len(found):
                found = found[int(key)]
            else:
                return None
        return found

    def resolved(self, place: str) -> tuple[str, Node]:
        """The schema at a place or, where that is only a reference, the one it leads to, with its place."""
        node = self.places[place]
        while isinstance(node, dict) and node.keys() == {"$ref"}:
            target = self.target(node, place)
            assert target is not None
            place, node = target, self.places[target]
        return place, node

    @cached_property
    def validator(self) -> jsonschema_rs.Validator:
        """The compiled validator of the whole schema, formats included."""
        return _compile(self.root)

    @cached_property
    def _registry(self) -> jsonschema_rs.Registry:
        return jsonschema_rs.Registry([(_URN, self.root)])

    @cached_property
    def _parts(self) -> dict[str, jsonschema_rs.Validator]:
        return {}

    def validator_at(self, place: str) -> jsonschema_rs.Validator:
        """The compiled validator of one part of the schema."""
        if not place:
            return self.validator
        if place not in self._parts:
            self._parts[place] = self.compiled({"$ref": f"{_URN}#{quote(place, safe='/$~')}"}, self._registry)
        return self._parts[place]

    def compiled(self, part: dict[str, Any], registry: jsonschema_rs.Registry | None = None) -> jsonschema_rs.Validator:
        """A validator of another schema in the same draft."""
        if isinstance(self.root, dict) and "$schema" in self.root:
            part = {"$schema": self.root["$schema"], **part}
        return _compile(part, registry)


def check_schema(schema: object, *, limits: Limits = DEFAULT_LIMITS) -> Schema:
    """The schema, known to be usable; a `Schema` passes as it is.

    Raises:
        SchemaError: it is no JSON schema, too large or too deep, refers to something outside, or has patterns or
            references that could take for ever.
    """
    if isinstance(schema, Schema):
        return schema
    if not isinstance(schema, dict | bool):
        raise SchemaError("", f"a schema is an object (or true or false), not {_kind(schema)}")
    _measure(schema, limits)
    root: Node = deepcopy(schema)  # what the caller does with theirs later is not our business
    if isinstance(root, dict):
        root.pop("$id", None)  # references are followed inside the document alone, so its address says nothing
    checked = Schema(root)
    for place, node in checked.places.items():
        if isinstance(node, dict):
            _refuse_strange(node, place)
    checked.follow_references()
    checked.circle = look_for_circles(checked, limits.max_unfolded)
    _ = checked.validator
    return checked


def _measure(schema: object, limits: Limits) -> None:
    """Count before anything recursive touches it."""
    nodes = characters = patterns = 0
    waiting: list[tuple[object, str, int]] = [(schema, "", 1)]
    while waiting:
        value, place, depth = waiting.pop()
        nodes += 1
        if depth > limits.max_depth:
            raise SchemaError(place[:200], f"nested more than {limits.max_depth} levels deep")
        if isinstance(value, dict):
            for key, held in value.items():
                if not isinstance(key, str):
                    raise SchemaError(place, f"the key {key!r} is not text")
                characters += _length(key, place)
                is_pattern = key == "pattern" and isinstance(held, str)
                patterns += is_pattern + (len(held) if key == "patternProperties" and isinstance(held, dict) else 0)
                if is_pattern and len(held) > limits.max_pattern_characters:
                    raise SchemaError(step(place, key), f"longer than {limits.max_pattern_characters} characters")
                waiting.append((held, step(place, key), depth + 1))
        elif isinstance(value, list):
            waiting += [(held, step(place, index), depth + 1) for index, held in enumerate(value)]
        elif isinstance(value, str):
            characters += _length(value, place)
        elif isinstance(value, float) and not isfinite(value):
            raise SchemaError(place, f"{value} is not JSON")
        elif not (value is None or isinstance(value, bool | int | float)):
            raise SchemaError(place, f"{_kind(value)} is not JSON")
        for count, most, what in (
            (nodes + len(waiting), limits.max_nodes, "values"),
            (characters, limits.max_characters, "characters"),
            (patterns, limits.max_patterns, "patterns"),
        ):
            if count > most:
                raise SchemaError("", f"too large: more than {most} {what}")


def _length(text: str, place: str) -> int:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise SchemaError(place, "half of a surrogate pair is not text") from None
    return len(text)


def _refuse_strange(node: dict[str, Any], place: str) -> None:
    if place and isinstance(node.get("$id"), str):
        raise SchemaError(step(place, "$id"), "a schema inside the schema cannot have an address of its own")
    for keyword in _ABROAD:
        if keyword in node:
            raise SchemaError(step(place, keyword), f"{keyword} is not supported; use $ref")


def _compile(root: Node, registry: jsonschema_rs.Registry | None = None) -> jsonschema_rs.Validator:
    linear = jsonschema_rs.RegexOptions(size_limit=_REGEX_BYTES, dfa_size_limit=_REGEX_BYTES)
    bounded = jsonschema_rs.FancyRegexOptions(_BACKTRACKS, _REGEX_BYTES, _REGEX_BYTES)
    try:
        return _validator(root, registry, linear)
    except ValueError:
        try:
            return _validator(root, registry, bounded)  # it may only be a pattern with look-around
        except jsonschema_rs.ValidationError as error:
            place = "".join(step("", key) for key in error.instance_path)
            said = "this is no type of JSON" if error.instance_path[-1:] == ["type"] else error.message[:300]
            raise SchemaError(place, said) from error
        except ValueError as error:
            raise SchemaError("", str(error)[:300]) from error


def _validator(
    root: Node,
    registry: jsonschema_rs.Registry | None,
    patterns: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions,
) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(
        root, validate_formats=True, pattern_options=patterns, registry=registry, offline=True
    )


def _kind(value: object) -> str:
    return {type(None): "null", list: "a list", str: "text"}.get(type(value), f"a {type(value).__name__}")
