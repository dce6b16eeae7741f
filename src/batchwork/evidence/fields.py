"""A result's value -> its leaves, each with its path and the words by which a document may call it."""

import dataclasses
import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any

from msgspec import Struct

from batchwork.evidence.words import GENERIC, concepts, words_of

_ENDS = {"from": "start", "to": "end", "von": "start", "bis": "end"}
_INDIRECT = ("$ref", "anyOf", "oneOf", "allOf")
_PLAIN = frozenset({str, int, float, bool, type(None), dict, list})  # what most values are
_FIGURES, _BOUND, _LISTS = (int, float, Decimal), (int, float, Decimal, date), (list, tuple, set, frozenset)
_DEEPEST = 40
_TELLING = 4  # significant digits, or letters, from which on a value is rare
_INDEX = re.compile(r"\[\d+\]")


class Field(Struct, frozen=True, kw_only=True, gc=False):
    """One leaf. `own` are the concepts of its name, `parents` of the objects around it, `described` of its schema."""

    path: str
    value: Any
    name: str
    own: tuple[str, ...]
    parents: tuple[str, ...]
    described: tuple[str, ...]
    record: str  # the path of the innermost list element it belongs to, "" when there is none
    group: str  # the path of the object it belongs to
    options: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()  # its own words that are not generic
    names: tuple[str, ...] = ()  # the words that name it: `vendor.name` is named by its vendor too, `items[0].name` not
    known: tuple[str, ...] = ()  # all words that it knows
    is_telling: bool = False  # its value is rare enough to tell by itself where it stands
    scope: str = ""  # the list whose labels it competes for, "" for the whole document


class _Place(Struct, frozen=True, gc=False):
    path: str = ""
    names: tuple[str, ...] = ()  # of the objects down to it; `[]` stands for an element
    record: str = ""
    group: str = ""


def fields_of(value: Any, schema: Any = None) -> list[Field]:
    """The leaves of a result in order, each with its path (`items[0].unit_price`; "" for a bare value)."""
    if schema is None and hasattr(value, "model_json_schema"):
        schema = value
    if hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    leaves: list[Field] = []
    _walk(_plain(value), schema, _mapping(schema), _Place(), leaves)
    return leaves


def _plain(value: Any) -> Any:
    if type(value) in _PLAIN:
        return value
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _walk(value: Any, schema: Any, root: Mapping[str, Any], place: _Place, leaves: list[Field]) -> None:
    schema = _resolved(_mapping(schema), root)
    if len(place.names) > _DEEPEST:
        return
    if isinstance(value, Mapping):
        parts, others = _mapping(schema.get("properties")), schema.get("additionalProperties")
        for name, child in ((str(key), _plain(child)) for key, child in value.items()):
            path = f"{place.path}.{name}" if place.path else name
            below = _Place(path, (*place.names, name), place.record, place.path)
            _walk(child, parts.get(name, others), root, below, leaves)
    elif isinstance(value, _LISTS):
        for index, child in enumerate(map(_plain, value)):
            path = f"{place.path}[{index}]"
            record = path if isinstance(child, Mapping | list | tuple) else place.record
            _walk(child, schema.get("items"), root, _Place(path, (*place.names, "[]"), record, path), leaves)
    else:
        leaves.append(_leaf(value, schema, place))


def _leaf(value: Any, schema: Mapping[str, Any], place: _Place) -> Field:
    described = " ".join([said for key in ("title", "description") if isinstance(said := schema.get(key), str)])
    figure = isinstance(value, _FIGURES) and not isinstance(value, bool)
    bound = isinstance(value, _BOUND) or (isinstance(value, str) and value[:4].isdigit())
    length = len(str(value).strip("-0.").replace(".", "")) if figure else len(value) if isinstance(value, str) else 0
    options = schema.get("enum")
    return Field(
        path=place.path,
        value=value.value if isinstance(value, Enum) else value,
        record=place.record,
        group=place.group,
        options=tuple(map(str, options)) if isinstance(options, list) else (),
        is_telling=length >= _TELLING or isinstance(value, date),
        scope=_INDEX.sub("[]", place.record) if place.record else "",
        **_words(place.names, described[:400], bound, bool(place.record)),
    )


@lru_cache(maxsize=5_000)
def _words(place: tuple[str, ...], described: str, bound: bool, listed: bool) -> dict[str, Any]:
    """What a field is called, which is the same for all elements of a list."""
    *around, name = [name for name in place if name != "[]"] or [""]
    own = tuple(dict.fromkeys(_own(name, bound)))
    parents = tuple(dict.fromkeys(word for each in around for word in concepts(each)))
    told = tuple(word for word in dict.fromkeys(concepts(described)) if word not in own and word not in parents)
    return {
        "name": name,
        "own": own,
        "parents": parents,
        "described": told,
        "telling": tuple(word for word in own if word not in GENERIC),
        "names": parents + own if own and GENERIC.issuperset(own) and not listed else own,
        "known": own + parents + told,
    }


def _own(name: str, bound: bool) -> tuple[str, ...]:
    """The concepts of a name; "from" or "to" in it asks a `bound` for the end of a range: `valid_from`, `age_to`."""
    words, whole = words_of(name), concepts(name)
    for end, rest in ((words[-1:], words[:-1]), (words[:1], words[1:])):
        if bound and end and end[0] in _ENDS:
            others = concepts(" ".join(rest))
            if not rest or others == whole:  # else it is part of a phrase
                return (*others, _ENDS[end[0]])
    return whole


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow references, and take the branch of a union that is not null; keep what stands beside."""
    for _ in range(_DEEPEST):
        key = next(filter(schema.__contains__, _INDIRECT), None)
        if key is None:
            break
        target, rest = schema[key], {other: entry for other, entry in schema.items() if other != key}
        if isinstance(target, list):
            target = next((branch for branch in target if _mapping(branch).get("type") != "null"), {})
        else:
            steps, target = str(target).split("/"), root
            for step in steps[1:] if steps[0] == "#" else [""]:
                target = _mapping(target).get(step)
        schema = {**_mapping(target), **rest}
    return schema
