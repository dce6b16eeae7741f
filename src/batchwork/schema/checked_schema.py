"""Decide whether a schema can be used at all. It may come from a stranger.

Bounds its size and depth, the number, length and compiled size of its patterns, and how far it unfolds when its
references are followed. Refuses anything that is not JSON, references that leave the document (nothing is ever
fetched), and references that go round in a circle without taking a step into the value. Patterns run on a linear-time
engine; the few that need look-around run on one whose backtracking is cut off.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any
from urllib.parse import quote, unquote

import jsonschema_rs
import msgspec

from batchwork.core.errors import SchemaError
from batchwork.schema.keywords import IN_PLACE, STORES, Node, branches, children, step
from batchwork.schema.limits import DEFAULT_LIMITS, Limits, Weight, kind_of, weigh

_URN = "urn:batchwork:schema"
_REGEX_BYTES = 1 << 21
_REGEX_MEMORY = 1 << 17  # of what the engine remembers while it reads
_BACKTRACKS = 20_000
_EXACT = 1_500  # a multiple of a fraction is worked out exactly, with as many digits as it takes
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


class CheckedSchema:
    """A JSON schema that passed `check_schema`: it can be validated against and walked without surprises."""

    def __init__(self, root: Node) -> None:
        """Not for callers: use `check_schema`."""
        self.root = root
        self.places: dict[str, Node] = {}  # every schema in the document by its JSON pointer
        self._anchors: dict[str, str] = {}
        self._inside: dict[str, list[tuple[str, str]]] = {}
        self._index("", root)
        # A place that a reference inside of it leads back to, when the schema is recursive
        self.circle: str | None = None
        self.weight = Weight(values=1)
        self._parts: dict[str, jsonschema_rs.Validator] = {}

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
                found = list(children(node, place))
                if found:
                    self._inside[place] = [(keyword, inner) for keyword, inner, _ in found]
                    waiting += [(inner, part) for _, inner, part in found]

    def follow_references(self) -> None:
        """Make sure that every reference leads somewhere inside; a SchemaError when one does not."""
        waiting = [place for place, node in self.places.items() if isinstance(node, dict) and "$ref" in node]
        while waiting:
            place = waiting.pop()
            node = self.places[place]
            target = self.target(node, place) if isinstance(node, dict) else None
            if target is not None and target not in self.places:
                known = set(self.places)
                self._index(target, self.at(target))  # a schema under a keyword of the user's own
                waiting += self.places.keys() - known

    def edges(self, place: str) -> list[tuple[str, str]]:
        """The schemas that the one at a place leads to: the keyword that does, and the place of each."""
        node, inner = self.places[place], self._inside.get(place, [])
        target = self.target(node, place) if isinstance(node, dict) else None
        return inner if target is None else [*inner, ("$ref", target)]

    def same_value(self, node: dict[str, Any], place: str) -> Sequence[str]:
        """The places of the schemas that the value must fit as well: the target of `$ref`, the parts of `allOf`."""
        if "$ref" not in node and "allOf" not in node:
            return ()
        target = self.target(node, place)
        parts = [f"{place}/allOf/{index}" for index in range(len(node.get("allOf", ())))]
        return parts if target is None else [target, *parts]

    def unions(self, node: dict[str, Any], place: str) -> Sequence[list[str]]:
        """The places of the alternatives of `anyOf` and of `oneOf`."""
        if "anyOf" not in node and "oneOf" not in node:
            return ()
        held = [keyword for keyword in ("anyOf", "oneOf") if keyword in node]
        return [[f"{place}/{keyword}/{index}" for index in range(len(node[keyword]))] for keyword in held]

    def inner_values(self, node: dict[str, Any], place: str, value: Any) -> Iterator[tuple[Any, Any, str | None]]:
        """What stands directly inside of a value: its key or index, itself, and the place of its schema, if any."""
        if isinstance(value, dict):
            properties, inner = node.get("properties", {}), step(place, "properties")
            rest = f"{place}/additionalProperties" if isinstance(node.get("additionalProperties"), dict) else None
            for name, held in value.items():
                yield name, held, step(inner, name) if name in properties else rest
        elif isinstance(value, list):
            prefix = len(node.get("prefixItems", ()))
            rest = f"{place}/items" if isinstance(node.get("items"), dict) else None
            for index, held in enumerate(value):
                yield index, held, f"{place}/prefixItems/{index}" if index < prefix else rest

    def target(self, node: dict[str, Any], place: str) -> str | None:
        """The place the schema's `$ref` leads to, None without one; a SchemaError when it leads out or nowhere."""
        ref = node.get("$ref")
        if ref is None:
            return None
        here = step(place, "$ref")
        if not isinstance(ref, str):
            raise SchemaError(here, "a reference must be text")
        if not ref.startswith("#"):
            problem = f"{ref!r} leads out of the schema; only references that start with '#' are followed"
            raise SchemaError(here, problem)
        fragment = unquote(ref[1:])
        found = fragment if fragment.startswith("/") or not fragment else self._anchors.get(fragment)
        if found is None or not isinstance(self.at(found), dict | bool):
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

    def referred(self, node: dict[str, Any], place: str) -> tuple[str, Node]:
        """The place that the schema's `$ref` leads to, and what stands there."""
        target = self.target(node, place)
        assert target is not None
        return target, self.places[target]

    def resolved(self, place: str) -> tuple[str, Node]:
        """The schema at a place or, where that is only a reference, the one it leads to, with its place."""
        node = self.places[place]
        while isinstance(node, dict) and node.keys() == {"$ref"}:
            place, node = self.referred(node, place)
        return place, node

    @cached_property
    def validator(self) -> jsonschema_rs.Validator:
        """The compiled validator of the whole schema, formats included."""
        return _compile(self.root)

    @cached_property
    def _registry(self) -> jsonschema_rs.Registry:
        return jsonschema_rs.Registry([(_URN, self.root)])

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


def check_schema(schema: object, *, limits: Limits = DEFAULT_LIMITS, copy: bool = True) -> CheckedSchema:
    """The schema, known to be usable, or a SchemaError. Without `copy` nobody changes it later."""
    if isinstance(schema, CheckedSchema):
        return schema
    if not isinstance(schema, dict | bool):
        raise SchemaError("", f"a schema is an object (or true or false), not {kind_of(schema)}")
    weight = weigh(schema, limits)
    root: Node = _decode(_encode(schema)) if copy else schema  # what the caller does with theirs is not our business
    if isinstance(root, dict) and "$id" in root:
        root = {**root}
        del root["$id"]  # references are followed inside the document alone, so its address says nothing
    checked = CheckedSchema(root)
    for place, node in checked.places.items():
        if isinstance(node, dict):
            _refuse_strange(node, place)
    checked.follow_references()
    _unfold(checked, weight, limits.max_unfolded)
    _ = checked.validator
    return checked


def _refuse_strange(node: dict[str, Any], place: str) -> None:
    if place and isinstance(node.get("$id"), str):
        raise SchemaError(step(place, "$id"), "a schema inside the schema cannot have an address of its own")
    for keyword in ("$dynamicRef", "$recursiveRef"):
        if keyword in node:
            raise SchemaError(step(place, keyword), f"{keyword} is not supported; use $ref")


def _compile(root: Node, registry: jsonschema_rs.Registry | None = None) -> jsonschema_rs.Validator:
    linear = jsonschema_rs.RegexOptions(size_limit=_REGEX_BYTES, dfa_size_limit=_REGEX_MEMORY)
    bounded = jsonschema_rs.FancyRegexOptions(_BACKTRACKS, _REGEX_BYTES, _REGEX_MEMORY)

    def compiled(patterns: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions) -> jsonschema_rs.Validator:
        return jsonschema_rs.validator_for(
            root, validate_formats=True, pattern_options=patterns, registry=registry, offline=True
        )

    try:
        return compiled(linear)
    except ValueError:
        try:
            return compiled(bounded)  # it may only be a pattern with look-around
        except jsonschema_rs.ValidationError as error:
            place = "".join(step("", key) for key in error.instance_path)
            is_type = error.instance_path[-1:] == ["type"]
            raise SchemaError(place, "this is no type of JSON" if is_type else error.message[:300]) from error
        except ValueError as error:
            raise SchemaError("", str(error)[:300]) from error


def _unfold(schema: CheckedSchema, weight: Weight, most: int) -> None:
    """Find how far a schema unfolds when its references are followed, and whether it goes round in circles.

    A short schema can stand for a huge one (each definition using the next one twice). One walk finds the size it
    unfolds to; another one, over the steps that do not move into the value, finds circles that no value would ever end.
    """
    rules = {place: _rules(node) for place, node in schema.places.items()}

    def inward(place: str) -> list[str]:
        return [there for keyword, there in schema.edges(place) if keyword not in STORES]

    def in_place(place: str) -> list[str]:
        return [there for keyword, there in schema.edges(place) if keyword == "$ref" or keyword in IN_PLACE]

    stuck, at_once = _circles(schema.places, in_place, rules)
    if stuck:
        raise SchemaError(min(stuck), "refers to itself without a step into the value")
    turned, sizes = _circles([""], inward, rules)
    if sizes[""] > most:
        raise SchemaError("", f"too complex: its references unfold to more than {most} schemas")
    schema.circle = min(turned, default=None)
    spread: float = max(at_once.values(), default=1)  # the most rules that look at one value from one place
    if any(isinstance(node, dict) and branches(node) for node in schema.places.values()):
        spread = sizes[""] if schema.circle is None else inf
    schema.weight = replace(weight, spread=spread, parts=sum(sizes.values()) / sum(rules[place] for place in sizes))


def _rules(node: Node) -> int:
    """How much one schema has to say about a value itself: long enumerations say much."""
    if isinstance(node, bool):
        return 1
    exact = _EXACT if isinstance(node.get("multipleOf"), float) else 0
    return 1 + len(node) + sum(len(held) for held in node.values() if isinstance(held, list)) + exact


def _circles(
    starts: Iterable[str], following: Callable[[str], list[str]], rules: dict[str, int]
) -> tuple[set[str], dict[str, int]]:
    """The places that a walk from the starts comes back to while it is still inside them, and the size of each place.

    Written with its own stack, because a chain of references may be longer than Python's.
    """
    sizes: dict[str, int] = {}
    inside: set[str] = set()
    turned: set[str] = set()
    for start in starts:
        stack: list[tuple[str, list[str] | None]] = [(start, None)]
        while stack:
            place, inner = stack.pop()
            if inner is not None:
                inside.discard(place)
                sizes[place] = rules[place] + sum(sizes.get(there, 1) for there in inner)
            elif place in inside:
                turned.add(place)
            elif place not in sizes:
                inside.add(place)
                inner = following(place)
                stack.append((place, inner))
                stack += [(there, None) for there in inner]
    return turned, sizes
