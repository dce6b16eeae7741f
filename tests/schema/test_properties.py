"""What must hold for every schema, tried on random ones."""

import json
from typing import Any

import jsonschema_rs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from batchwork.schema import Accepted, SchemaChecker, SchemaError, compile_for, response_model_from_schema

_NAMES = st.sampled_from(["a", "b", "unit price", "class", "json", "model_x", "_p", "schema", "x/~y%", "\u00fcber"])
_TEXT = st.sampled_from(["", "a", "Red", "GREEN", "2026-01-02", "12:30:00Z", "R-17", "long enough text", "\u00fc"])
_PLAIN = st.none() | st.booleans() | st.integers(-3, 12) | st.sampled_from([0.5, 2.0, -1.25]) | _TEXT
_DEFINITIONS: dict[str, Any] = {
    "Colour": {"enum": ["Red", "GREEN", "blue"]},
    "Tree": {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}},
        "required": ["v"],
        "additionalProperties": False,
    },
    "Json": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"$ref": "#/$defs/Json"}}]},
}


def _with(schema: dict[str, Any], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    extras = st.fixed_dictionaries({}, optional=optional)
    return extras.map(lambda more: schema | more)


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[Any], *, lossless: bool) -> dict[str, Any]:
    properties = draw(st.dictionaries(_NAMES, inner, min_size=1, max_size=4))
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    required = draw(st.lists(st.sampled_from(sorted(properties)), unique=True))
    if required or draw(st.booleans()):
        schema["required"] = required
    extra = draw(st.sampled_from([None, False, True]))
    if extra is not None:
        schema["additionalProperties"] = extra
    if not lossless:
        schema |= draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "additionalProperties": inner,
                    "minProperties": st.integers(0, 2),
                    "patternProperties": st.just({"^z": {"type": "integer"}}),
                    "dependentRequired": st.just({"a": ["b"]}),
                },
            )
        )
    return schema


def _schemas(*, lossless: bool) -> st.SearchStrategy[Any]:
    """Random schemas; the lossless ones say only what every provider can be told."""
    leaves: list[st.SearchStrategy[Any]] = [
        st.sampled_from([{"type": name} for name in ("string", "integer", "number", "boolean", "null")]),
        st.lists(_TEXT, min_size=1, max_size=3, unique=True).map(lambda words: {"enum": words}),
        st.just({"type": ["string", "null"], "description": "may be null"}),
        st.just({"$ref": "#/$defs/Colour"}),
        st.just({"$ref": "#/$defs/Colour", "description": "which one"}),
        st.just({"allOf": [{"$ref": "#/$defs/Colour"}], "title": "C"}),
    ]
    if not lossless:
        leaves += [
            _with({"type": "string"}, minLength=st.integers(0, 3), pattern=st.just("^[A-Z]"), default=_TEXT),
            _with({"type": "integer"}, minimum=st.integers(-2, 3), maximum=st.integers(4, 9), multipleOf=st.just(2)),
            _with({"type": "number"}, exclusiveMinimum=st.just(0), default=st.just(1)),
            st.sampled_from(["date", "time", "date-time", "uuid", "email", "made-up"]).map(
                lambda name: {"type": "string", "format": name}
            ),
            _PLAIN.map(lambda value: {"const": value}),
            st.lists(_PLAIN | st.just([1]) | st.just({"a": 1}), min_size=1, max_size=3).map(
                lambda held: {"enum": held}
            ),
            st.sampled_from([True, {}, {"$ref": "#/$defs/Tree"}, {"$ref": "#/$defs/Json"}, {"type": "object"}]),
            st.sampled_from([{"minimum": 3}, {"not": {"type": "string"}}, {"type": ["integer", "object", "null"]}]),
        ]
    return st.recursive(
        st.one_of(leaves),
        lambda inner: st.one_of(
            _objects(inner, lossless=lossless),
            inner.map(lambda part: {"type": "array", "items": part}),
            *(
                []
                if lossless
                else [
                    st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"anyOf": parts}),
                    st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"oneOf": parts, "title": "U"}),
                    st.lists(_objects(inner, lossless=False), min_size=1, max_size=2).map(lambda p: {"allOf": p}),
                    _with({"type": "array"}, minItems=st.integers(0, 2), uniqueItems=st.booleans(), items=inner),
                    inner.map(lambda part: {"type": "array", "prefixItems": [part], "items": {"type": "integer"}}),
                    inner.map(lambda part: {"properties": {"a": part}}),
                ]
            ),
        ),
        max_leaves=6,
    )


def _rooted(schema: Any) -> Any:
    return {**schema, "$defs": _DEFINITIONS} if isinstance(schema, dict) else schema


@st.composite
def _values(draw: st.DrawFn, schema: Any, root: Any, depth: int = 0) -> Any:
    """A value that fits, or nearly."""
    if not isinstance(schema, dict) or depth > 6:
        return draw(_PLAIN)
    if "$ref" in schema:
        return draw(_values(root["$defs"][schema["$ref"].rpartition("/")[2]], root, depth + 1))
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema:
            return draw(_values(draw(st.sampled_from(schema[keyword])), root, depth + 1))
    if "enum" in schema or "const" in schema:
        return draw(st.sampled_from(schema["enum"] if "enum" in schema else [schema["const"]]))
    kind = schema.get("type", "object" if "properties" in schema else None)
    kind = draw(st.sampled_from(kind)) if isinstance(kind, list) else kind
    if kind == "object":
        value = {}
        for name, part in schema.get("properties", {}).items():
            if name in schema.get("required", ()) or draw(st.booleans()):
                value[name] = draw(_values(part, root, depth + 1))
        extra = schema.get("additionalProperties", True)
        if extra is not False and draw(st.integers(0, 3)) == 0:
            value[draw(st.sampled_from(["zoo", "other"]))] = draw(_values(extra, root, depth + 1))
        return value
    if kind == "array":
        items = schema.get("items", True)
        first = [draw(_values(part, root, depth + 1)) for part in schema.get("prefixItems", ())]
        return first + draw(st.lists(_values(items, root, depth + 1), max_size=2 if depth < 3 else 0))
    leaf = {"string": _TEXT, "integer": st.integers(-3, 12), "number": st.sampled_from([0.5, 3, -1.25, 2.0])}
    return draw(leaf.get(str(kind), st.booleans() if kind == "boolean" else st.none() if kind == "null" else _PLAIN))


_SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@_SETTINGS
@given(st.data(), st.sampled_from(["anthropic", "openai"]))
def test_what_is_sent_is_always_in_the_providers_subset(data: st.DataObject, provider: Any) -> None:
    schema = _rooted(data.draw(_schemas(lossless=False)))
    try:
        wire = compile_for(provider, schema)
    except SchemaError:
        return
    json.dumps(wire)
    jsonschema_rs.validator_for(wire)
    assert (_broken_at_anthropic if provider == "anthropic" else _broken_at_openai)(wire) == []


@_SETTINGS
@given(st.data(), st.sampled_from(["anthropic", "openai"]))
def test_whatever_a_provider_answers_to_a_lossless_schema_is_accepted(data: st.DataObject, provider: Any) -> None:
    schema = _rooted(data.draw(_schemas(lossless=True)))
    wire = compile_for(provider, schema)
    answer = data.draw(_values(wire, wire))
    assert jsonschema_rs.is_valid(wire, answer)
    verdict = SchemaChecker(schema).check(_shouted(json.dumps(answer), data))
    assert isinstance(verdict, Accepted)
    assert jsonschema_rs.is_valid(schema, verdict.value)


def _shouted(text: str, data: st.DataObject) -> str:
    """The answer with the case of an allowed value changed, as some providers do."""
    return text.replace('"GREEN"', '"green"') if data.draw(st.booleans()) and '"green"' not in text else text


@_SETTINGS
@given(st.data())
def test_what_is_accepted_fits_the_users_schema_and_what_is_rejected_is_explained(data: st.DataObject) -> None:
    schema = _rooted(data.draw(_schemas(lossless=False)))
    value = data.draw(_values(schema, schema) | _PLAIN)
    verdict = SchemaChecker(schema).check(json.dumps(value))
    if jsonschema_rs.is_valid(schema, value, validate_formats=True):
        assert verdict == Accepted(value)
    elif isinstance(verdict, Accepted):
        assert jsonschema_rs.is_valid(schema, verdict.value, validate_formats=True)
    else:
        assert 1 <= len(verdict.errors) <= 10
        assert all(error in verdict.message for error in verdict.errors)


@_SETTINGS
@given(st.data())
def test_a_model_takes_exactly_what_its_schema_takes(data: st.DataObject) -> None:
    schema = _rooted(data.draw(_schemas(lossless=False)))
    value = data.draw(_values(schema, schema) | _PLAIN)
    if isinstance(schema, dict) and "type" not in schema and "properties" in schema and not isinstance(value, dict):
        return  # at the root, properties mean an object
    model = response_model_from_schema(schema)
    try:
        instance = model.model_validate(value)
    except ValidationError:
        assert not jsonschema_rs.is_valid(schema, value, validate_formats=True)
        return
    assert jsonschema_rs.is_valid(schema, value, validate_formats=True)
    again = instance.model_dump(mode="json", exclude_unset=True)
    assert jsonschema_rs.is_valid(schema, again, validate_formats=True)


_NOT_AT_ANTHROPIC = frozenset(
    {"oneOf", "allOf", "not", "if", "minimum", "maximum", "multipleOf"}
    | {"exclusiveMinimum", "minLength", "maxLength", "maxItems", "uniqueItems", "patternProperties", "prefixItems"}
    | {"dependentRequired", "minProperties", "contains"}
)
_NOT_AT_OPENAI = frozenset(
    {"oneOf", "allOf", "not", "if", "minLength", "maxLength", "uniqueItems"}
    | {"default", "patternProperties", "prefixItems", "contains", "dependentRequired", "minProperties"}
)


def _broken_at_anthropic(wire: dict[str, Any]) -> list[Any]:
    """What of a compiled schema Anthropic would refuse."""
    nodes = _all(wire)
    objects = [node for node in nodes if node.get("type") == "object"]
    broken: list[Any] = [node for node in nodes if node.keys() & _NOT_AT_ANTHROPIC]
    broken += [node for node in nodes if not node.keys() & {"type", "anyOf", "$ref", "enum", "const"}]
    broken += [node for node in nodes if node.get("minItems", 0) not in (0, 1)]
    broken += [node for node in nodes if any(isinstance(value, dict | list) for value in node.get("enum", ()))]
    broken += [node for node in objects if node["additionalProperties"] is not False]
    optional = sum(len(node["properties"].keys() - set(node["required"])) for node in objects)
    parts = [part for node in objects for part in node["properties"].values()]
    unions = sum("anyOf" in part or isinstance(part.get("type"), list) for part in parts)
    broken += [f"{optional} optional"] * (optional > 24) + [f"{unions} unions"] * (unions > 16)
    return broken + ["recursive"] * _is_recursive(wire)


def _broken_at_openai(wire: dict[str, Any]) -> list[Any]:
    """What of a compiled schema OpenAI would refuse."""
    nodes = _all(wire)
    objects = [node for node in nodes if node.get("type") == "object"]
    references = [node for node in nodes if "$ref" in node]
    broken = [] if wire["type"] == "object" and "anyOf" not in wire else [wire]
    broken += [node for node in nodes if node.keys() & _NOT_AT_OPENAI]
    broken += [node for node in nodes if not node.keys() & {"type", "anyOf", "$ref"}]
    broken += [node for node in references if node.keys() != {"$ref"}]
    broken += [node for node in references if node["$ref"].rpartition("/")[2] not in wire["$defs"]]
    broken += [node for node in objects if node["additionalProperties"] is not False]
    return broken + [node for node in objects if set(node["required"]) != node["properties"].keys()]


def _all(node: dict[str, Any]) -> list[dict[str, Any]]:
    inner = [*node.get("properties", {}).values(), *node.get("$defs", {}).values(), *node.get("anyOf", ())]
    inner += [node["items"]] if "items" in node else []
    return [node, *(deep for part in inner for deep in _all(part))]


def _is_recursive(wire: dict[str, Any]) -> bool:
    def reaches(node: dict[str, Any], inside: frozenset[str]) -> bool:
        for part in _all({key: held for key, held in node.items() if key != "$defs"}):
            name = part.get("$ref", "").rpartition("/")[2]
            if name and (name in inside or reaches(wire["$defs"][name], inside | {name})):
                return True
        return False

    return reaches(wire, frozenset())
