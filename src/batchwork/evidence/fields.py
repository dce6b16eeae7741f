"""A result's value -> its leaves, each with its path and the words by which a document may call it."""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any

from msgspec import Struct

from batchwork.evidence.words import GENERIC, concepts, words_of

_ENDS = {"from": "start", "to": "end", "von": "start", "bis": "end"}
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


def fields_of(value: Any, schema: Any = None) -> list[Field]:
    """The leaves of a result in order, each with its path (`items[0].unit_price`; "" for a bare value)."""
    if schema is None and hasattr(value, "model_json_schema"):
        schema = value
    if schema is not None and hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    root = schema if isinstance(schema, Mapping) else {}
    return list(_walk(_plain(value), root, root, _Place("", (), "", "")))


class _Place(Struct, frozen=True, gc=False):
    path: str
    names: tuple[str, ...]
    record: str
    group: str


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return value


def _walk(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], place: _Place) -> Iterator[Field]:
    value = _plain(value)
    schema = _resolved(schema, root)
    if place.path.count(".") + place.path.count("[") > _DEEPEST:
        return
    if isinstance(value, Mapping):
        properties = schema.get("properties")
        others = schema.get("additionalProperties")
        for key, child in value.items():
            name = str(key)
            part = properties.get(name) if isinstance(properties, Mapping) else None
            below = part if isinstance(part, Mapping) else others if isinstance(others, Mapping) else {}
            path = f"{place.path}.{name}" if place.path else name
            yield from _walk(child, below, root, _Place(path, (*place.names, name), place.record, place.path))
    elif isinstance(value, list | tuple | set | frozenset):
        items = schema.get("items")
        for index, child in enumerate(value):
            path = f"{place.path}[{index}]"
            record = path if isinstance(_plain(child), Mapping | list | tuple) else place.record
            below = items if isinstance(items, Mapping) else {}
            yield from _walk(child, below, root, _Place(path, (*place.names, "[]"), record, path))
    else:
        yield _leaf(value, schema, place)


def _leaf(value: Any, schema: Mapping[str, Any], place: _Place) -> Field:
    described = " ".join(str(schema[key]) for key in ("title", "description") if isinstance(schema.get(key), str))
    bound = isinstance(value, date | int | float | Decimal) or (isinstance(value, str) and value[:4].isdigit())
    name, own, parents, told = _words(place.names, described[:400], bound)
    options = schema.get("enum")
    return Field(
        path=place.path,
        value=value.value if isinstance(value, Enum) else value,
        name=name,
        own=own,
        parents=parents,
        described=told,
        record=place.record,
        group=place.group,
        options=tuple(str(option) for option in options) if isinstance(options, list) else (),
        telling=tuple(word for word in own if word not in GENERIC),
        names=parents + own if own and GENERIC.issuperset(own) and not place.record else own,
        known=own + parents + told,
        is_telling=_is_telling(value),
        scope=_INDEX.sub("[]", place.record),
    )


def _is_telling(value: Any) -> bool:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return len(str(value).strip("-0.").replace(".", "")) >= _TELLING
    return isinstance(value, date) or (isinstance(value, str) and len(value) >= _TELLING)


_Words = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]


@lru_cache(maxsize=5_000)
def _words(place: tuple[str, ...], described: str, bound: bool) -> _Words:
    """What a field is called, which is the same for all elements of a list; `[]` in its place stands for one.

    `bound` says that the value can be an end of a range, so that `valid_from` and `age_to` ask for one.
    """
    names = [name for name in place if name != "[]"]
    if not names:
        return "", (), (), tuple(dict.fromkeys(concepts(described)))
    own = (_end_of_range(names[-1]) if bound else _correspondent(names[-1])) or concepts(names[-1])
    parents = tuple(dict.fromkeys(word for name in names[:-1] for word in concepts(name)))
    told = tuple(word for word in dict.fromkeys(concepts(described)) if word not in own and word not in parents)
    return names[-1], tuple(dict.fromkeys(own)), parents, told


def _end_of_range(name: str) -> tuple[str, ...]:
    """The concepts of a name that ends in "from" or "to"; empty when it does not, or when that means somebody."""
    *words, last = words_of(name) or [""]
    rest = concepts(" ".join(words))
    if last not in _ENDS or (words and concepts(name) != rest):
        return ()
    return (*rest, _ENDS[last])


def _correspondent(name: str) -> tuple[str, ...]:
    """The concepts of a name that asks for one end of a message: `to_address`, `from_name`, `bounce_from`."""
    words = words_of(name)
    if len(words) < 2:
        return ()
    end = next((word for word in (words[0], words[-1]) if word in ("from", "to")), "")
    return (*concepts(end), *concepts(" ".join(word for word in words if word != end))) if end else ()


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow references, and take the branch of a union that is not null; keep what stands beside."""
    for _ in range(_DEEPEST):
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            target: Any = root
            for part in reference[1:].strip("/").split("/"):
                if part:
                    target = target.get(part, {}) if isinstance(target, Mapping) else {}
            rest = {key: entry for key, entry in schema.items() if key != "$ref"}
            schema = {**target, **rest} if isinstance(target, Mapping) else rest
            continue
        for union in ("anyOf", "oneOf", "allOf"):
            branches = schema.get(union)
            if isinstance(branches, list):
                branch = next((b for b in branches if isinstance(b, Mapping) and b.get("type") != "null"), {})
                rest = {key: entry for key, entry in schema.items() if key != union}
                schema = {**branch, **rest}
                break
        else:
            return schema
    return schema
