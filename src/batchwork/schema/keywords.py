"""The keywords of JSON Schema, as a table (`keywords.json`), and the questions that it answers.

Knows draft 2020-12 and the older spellings of the same things (`definitions`, `items` as a list, `dependencies`).
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

Node = dict[str, Any] | bool


class Keyword(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Facts about one keyword."""

    schemas: str = ""  # how it holds schemas: `one`, a `list`, a `map` of them
    in_place: bool = False  # its schemas look at the same value as the schema they stand in
    branches: bool = False  # a value, or one inside of it, may be checked against more than one schema
    own: bool = False  # it restricts the value itself, not what is inside
    about: str = ""  # the only type that it restricts
    annotation: bool = False
    silent: bool = False  # it is nothing that a model should be told
    stores: bool = False  # it keeps schemas for references and restricts nothing


_TABLE = msgspec.json.decode(Path(__file__).with_name("keywords.json").read_bytes(), type=dict[str, Keyword])


def _named(fits: Callable[[Keyword], bool]) -> frozenset[str]:
    return frozenset(name for name, keyword in _TABLE.items() if fits(keyword))


OWN = tuple(name for name, keyword in _TABLE.items() if keyword.own)
ANNOTATIONS = _named(lambda keyword: keyword.annotation)
SILENT = _named(lambda keyword: keyword.silent)
STORES = _named(lambda keyword: keyword.stores)
IN_PLACE = _named(lambda keyword: keyword.in_place)
_BRANCHING = _named(lambda keyword: keyword.branches)
_ONE, _LIST, _MAP = (_named(lambda keyword, how=how: how in keyword.schemas) for how in ("one", "list", "map"))  # type: ignore[misc]
_PYTHON: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "null": type(None),
    "integer": int | float,
    "number": int | float,
}
_SIGNS = {
    "object": ["properties"],
    "array": ["items", "prefixItems"],
    **{kind: _named(lambda keyword, kind=kind: keyword.about == kind) for kind in ("string", "number")},  # type: ignore[misc]
}


def branches(node: dict[str, Any]) -> bool:
    """Whether a value, or one inside of it, may be checked against more than one schema because of this one."""
    return not _BRANCHING.isdisjoint(node) or node.get("format") == "regex"


def children(node: Node, place: str) -> Iterator[tuple[str, str, Node]]:
    """The schemas directly inside a schema: the keyword that holds each, its place, and the schema."""
    if isinstance(node, bool):
        return
    for keyword, held in node.items():
        if isinstance(held, dict | bool) and keyword in _ONE:
            yield keyword, f"{place}/{keyword}", held
        elif isinstance(held, list) and keyword in _LIST:
            for index, part in enumerate(held):
                if isinstance(part, dict | bool):
                    yield keyword, f"{place}/{keyword}/{index}", part
        elif isinstance(held, dict) and keyword in _MAP:
            here = f"{place}/{keyword}"
            for name, part in held.items():
                if isinstance(part, dict | bool):
                    yield keyword, step(here, name), part


def step(place: str, key: str | int) -> str:
    """The JSON pointer one step further in."""
    if isinstance(key, str) and ("/" in key or "~" in key):
        key = key.replace("~", "~0").replace("/", "~1")
    return f"{place}/{key}"


def types_of(node: dict[str, Any]) -> tuple[str, ...]:
    """The types the schema names, none when it names none."""
    named = node.get("type")
    if isinstance(named, str):
        return (named,)
    return tuple(named) if isinstance(named, list) else ()


def type_fits(node: dict[str, Any], value: Any) -> bool:
    """Whether the value is of a type that the schema names; anything is when it names none."""
    named = types_of(node)
    if not named:
        return True
    if isinstance(value, bool):
        return "boolean" in named
    return any(isinstance(value, _PYTHON.get(name, object)) for name in named if name != "boolean")


def guessed_types(node: dict[str, Any]) -> tuple[str, ...]:
    """The type of a schema that names none, from its keywords; none when that could be several."""
    found = [kind for kind, signs in _SIGNS.items() if any(sign in node for sign in signs)]
    return (found[0],) if len(found) == 1 else ()


def applies(name: str, types: tuple[str, ...]) -> bool:
    """Whether the keyword restricts values of these types; an unknown one may."""
    about = _TABLE[name].about if name in _TABLE else ""
    return not about or about in types or (about == "number" and "integer" in types)
