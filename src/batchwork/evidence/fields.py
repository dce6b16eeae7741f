"""A result -> its leaf fields: path, value, and the concepts of its name, description and surroundings.

Takes dicts, lists, Pydantic models and dataclasses; the schema, where given, adds descriptions, titles and enums.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any

from batchwork.evidence.vocabulary.lexicon import GENERIC
from batchwork.evidence.vocabulary.words import concepts, words_of

_OWN, _PARENT, _LIST, _DESCRIPTION = 1.0, 0.5, 0.1, 0.22
_ENDS = {"from": "start", "to": "end", "von": "start", "bis": "end"}
_DEEPEST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One leaf. `words` weighs each concept that may stand in its label; `own` are those of its name alone."""

    path: str
    value: Any
    name: str
    words: dict[str, float]
    own: tuple[str, ...]
    parents: tuple[str, ...]
    record: str  # the path of the innermost list element it belongs to, "" when there is none
    group: str  # the path of the object it belongs to
    options: tuple[str, ...] = ()
    form: str = ""
    initials: tuple[tuple[str, tuple[str, ...]], ...] = ()  # "ni" for national and insure


def fields_of(value: Any, schema: Any = None) -> list[Field]:
    """The leaves of a result in order, each with its path (`items[0].unit_price`; "" for a bare value)."""
    if schema is None and hasattr(value, "model_json_schema"):
        schema = value
    if schema is not None and hasattr(schema, "model_json_schema"):
        schema = schema.model_json_schema()
    root = schema if isinstance(schema, Mapping) else {}
    return list(_walk(_plain(value), root, root, _Place("", (), "", "")))


@dataclass(frozen=True, slots=True)
class _Place:
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
    asked = _asked(place.names, described[:400], bound)
    options = schema.get("enum")
    return Field(
        path=place.path,
        value=value.value if isinstance(value, Enum) else value,
        name=asked.name,
        words=asked.words,
        own=asked.own,
        parents=asked.parents,
        record=place.record,
        group=place.group,
        options=tuple(str(option) for option in options) if isinstance(options, list) else (),
        form=str(schema.get("format", "")),
        initials=asked.initials,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    name: str
    words: dict[str, float]
    own: tuple[str, ...]
    parents: tuple[str, ...]
    initials: tuple[tuple[str, tuple[str, ...]], ...]


@lru_cache(maxsize=5_000)
def _asked(place: tuple[str, ...], described: str, bound: bool) -> _Asked:
    """What a field is called, which is the same for all elements of a list; `[]` in its place stands for one.

    `bound` says that the value can be an end of a range, so that `valid_from` and `age_to` ask for one.
    """
    names = [name for name in place if name != "[]"]
    words = dict.fromkeys(concepts(described), _DESCRIPTION)
    for depth, name in enumerate(names[:-1]):
        in_list = place[place.index(name) + 1 :][:1] == ("[]",)
        for word in concepts(name):
            words[word] = max(words.get(word, 0), _LIST if in_list else _PARENT / (len(names) - 1 - depth))
    own = (_end_of_range(names[-1]) if bound else ()) or concepts(names[-1]) if names else ()
    for word in own:
        words[word] = 0.6 if word in GENERIC and len(own) > 1 else _OWN
    return _Asked(
        name=names[-1] if names else "",
        words=words,
        own=own,
        parents=tuple(word for name in names[:-1] for word in concepts(name)),
        initials=tuple(_initials(names[-1])) if names else (),
    )


def _end_of_range(name: str) -> tuple[str, ...]:
    """The concepts of a name that ends in "from" or "to"; empty when it does not, or when that means somebody."""
    *words, last = words_of(name) or [""]
    rest = concepts(" ".join(words))
    if last not in _ENDS or (words and concepts(name) != rest):
        return ()
    return (*rest, _ENDS[last])


def _initials(name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The short forms that a label may use for words of a name: NI number, VIN, P.O. date."""
    words = words_of(name)
    for first in range(len(words) - 1):
        for last in range(first + 2, min(len(words), first + 4) + 1):
            short = "".join(word[0] for word in words[first:last])
            yield short, tuple(concept for word in words[first:last] for concept in concepts(word))


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
