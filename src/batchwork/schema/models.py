"""Pydantic models from a JSON schema, without generating code.

Pydantic gives the structure and the Python types (nested models, lists, dates, unions); what a schema says beyond
that is checked by the schema itself, part by part, so that a model takes exactly the JSON that its schema takes.
"""

import datetime as dt
import keyword
from collections.abc import Callable, Collection
from copy import deepcopy
from typing import Annotated, Any, ForwardRef, Literal, Union, cast
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel, create_model, model_validator

from batchwork.core.errors import SchemaError
from batchwork.schema.checked_schema import CheckedSchema, check_schema
from batchwork.schema.combination import HINTS, flattened
from batchwork.schema.explanation import Explainer
from batchwork.schema.instances import SOURCE, as_json, same_json
from batchwork.schema.keywords import ANNOTATIONS, SILENT, Node, step, types_of

_SIMPLE: dict[str, Any] = {"string": str, "integer": int, "number": int | float, "boolean": bool, "null": None}
_FORMATS: dict[str, type] = {"date": dt.date, "date-time": dt.datetime, "time": dt.time, "uuid": UUID}
_SAYS_NOTHING = ANNOTATIONS | SILENT | {HINTS}
_OBJECT = frozenset({"type", "properties", "required", "additionalProperties"})
_ARRAY = frozenset({"type", "items"})
_LONGEST_NAME = 60


def response_model_from_schema(schema: object) -> type[BaseModel]:
    """A Pydantic model that takes exactly the JSON the schema takes.

    Objects become models (a property whose name Python cannot have gets another one, with the real one as its alias),
    dates, times and UUIDs the Python types; a root that is no object becomes a `RootModel`. Optional properties that
    are absent are None.

    Raises:
        SchemaError: the schema cannot be used.
    """
    checked = check_schema(schema)
    try:
        return _Builder(checked).build()
    except RecursionError:
        raise SchemaError("", "too complex: its references stand in one another too deeply") from None


class _Builder:
    """Makes the types of one schema.

    Its methods pass on three things about the schema at hand: its `place`, None when it was put together from several;
    the `name` a model made for it gets; and `check`, the place that must be checked whole because of that.
    """

    def __init__(self, schema: CheckedSchema) -> None:
        self._schema = schema
        self._explainer = Explainer(schema)
        self._names: dict[str, str] = {}
        self._types: dict[str, Any] = {}
        self._models: dict[str, type[BaseModel]] = {}
        self._awaited: set[str] = set()

    def build(self) -> type[BaseModel]:
        kind = self._referred("")
        if not _is_model(kind):
            kind = self._root_model(_free_name("Answer", self._models), kind)
        for model in self._models.values():
            model.model_rebuild(force=True, _types_namespace=dict(self._models))
        setattr(kind, SOURCE, deepcopy(self._schema.root))
        return cast("type[BaseModel]", kind)

    def _referred(self, place: str) -> Any:
        """The type of a place that references lead to; its name while it is still being made."""
        if place not in self._names:
            node = self._schema.places[place]
            title = node.get("title") if isinstance(node, dict) else None
            wanted = title if isinstance(title, str) else place.rpartition("/")[2] or "Answer"
            self._names[place] = name = _free_name(_class_name(wanted), self._names.values())
            kind = self._type(node, place, name)
            if name in self._awaited and not (_is_model(kind) and kind.__name__ == name):
                kind = self._root_model(name, kind)
            self._types[place] = kind
        if place not in self._types:
            self._awaited.add(self._names[place])
            return ForwardRef(self._names[place])
        return self._types[place]

    def _root_model(self, name: str, kind: Any) -> type[BaseModel]:
        model: type[BaseModel] = create_model(name, __base__=RootModel, root=(kind, ...))
        self._models[name] = model
        return model

    def _type(self, node: Node, place: str | None, name: str, check: str | None = None) -> Any:
        if isinstance(node, bool):
            return self._checked(Any, check if node else (check or place))
        says = node.keys() - _SAYS_NOTHING
        if says == {"$ref"}:
            return self._checked(self._referred(self._schema.referred(node, place or "")[0]), check)
        whole = check if check is not None else place
        if "allOf" in says or "$ref" in says:
            return self._type(self._flat(node, place), None, name, whole)
        if "enum" in says or "const" in says:
            return self._allowed(node, whole)
        union = next((keyword for keyword in ("anyOf", "oneOf") if keyword in says), None)
        if union is not None and says != {union}:
            return self._type({key: held for key, held in node.items() if key != union}, None, name, whole)
        if union is not None:
            held = _inner(place, union)
            kinds = [self._type(part, _inner(held, n), f"{name}{n + 1}") for n, part in enumerate(node[union])]
            return self._checked(_any_of(kinds), check if union == "anyOf" else whole)
        types = types_of(node)
        if not types and "properties" in says:
            if place == "":  # who writes properties and no type at the root means an object
                return self._of_type("object", node, place, name, check)
            model = self._of_type("object", node, None, name, None)
            return self._checked(Annotated[model | Any, Field(union_mode="left_to_right")], whole)
        if len(types) == 1:
            return self._of_type(types[0], node, place, name, check)
        if types:
            kinds = [self._of_type(one, {**node, "type": one}, None, name, None) for one in types]
            return self._checked(_any_of(kinds), whole)
        return self._checked(Any, whole if says else check)

    def _flat(self, node: dict[str, Any], place: str | None) -> Node:
        """One schema from several; any value at all where they cannot be one, since the check is what counts."""
        try:
            return flattened(self._schema, node, place or "")
        except SchemaError:
            return True

    def _of_type(self, kind: str, node: dict[str, Any], place: str | None, name: str, check: str | None) -> Any:
        says = node.keys() - _SAYS_NOTHING
        whole = check if check is not None else place
        if kind == "object":
            properties = node.get("properties", {})
            complete = not says - _OBJECT and properties.keys() >= set(node.get("required", ()))
            if properties:
                return self._object(node, place, name, check if complete else whole)
            extra = node.get("additionalProperties", True)
            held = Any if extra is False else self._type(extra, _inner(place, "additionalProperties"), name)
            return self._checked(dict[str, held], check if complete and extra is not False else whole)  # type: ignore[valid-type]
        if kind == "array":
            items = node.get("items", True)
            plain = isinstance(items, dict | bool) and "prefixItems" not in says and items is not False
            inner = self._type(items, _inner(place, "items"), name) if plain else Any
            return self._checked(list[inner], check if plain and not says - _ARRAY else whole)  # type: ignore[valid-type]
        python = _SIMPLE[kind]
        special = _FORMATS.get(node.get("format", "")) if kind == "string" else None
        if special is not None:  # text still, for the rare one that Python cannot hold: a leap second
            python = Annotated[special | str, Field(union_mode="left_to_right")]
        return self._checked(python, whole, _whole_number if kind == "integer" else None)

    def _object(self, node: dict[str, Any], place: str | None, name: str, check: str | None) -> type[BaseModel]:
        fields: dict[str, Any] = {}
        for key, part in node["properties"].items():
            inner = _inner(_inner(place, "properties"), key)
            attribute = _field_name(key, fields)
            default = self._default(key, part, inner, node.get("required", ()))
            fields[attribute] = (self._type(part, inner, f"{name}{_class_name(key)}"), default)
        extra = node.get("additionalProperties", True)
        allowed: Literal["forbid", "allow"] = "forbid" if extra is False else "allow"
        config = ConfigDict(extra=allowed, protected_namespaces=(), serialize_by_alias=True)
        base: type[BaseModel] = type("SchemaModel", (BaseModel,), {"model_config": config, "__module__": __name__})
        if isinstance(extra, dict) and "patternProperties" not in node:
            held = self._type(extra, _inner(place, "additionalProperties"), f"{name}Extra")
            annotations = {"__pydantic_extra__": dict[str, held]}  # type: ignore[valid-type]
            base = type("SchemaModel", (base,), {"__annotations__": annotations, "__module__": __name__})
        validators: dict[str, Any] = {}
        if check is not None:
            validators["fits_its_schema"] = model_validator(mode="before")(self._check(check))
        unique = _free_name(name, self._models)
        model = create_model(unique, __base__=base, __module__=__name__, __validators__=validators, **fields)
        self._models[unique] = model
        return model

    def _default(self, key: str, part: Node, place: str | None, required: list[str]) -> Any:
        if key in required:
            return Field(alias=key)
        stated = part.get("default") if isinstance(part, dict) else None
        if stated is None or place is None or not self._schema.validator_at(place).is_valid(stated):
            return Field(default=None, alias=key)
        return Field(default_factory=lambda: deepcopy(stated), validate_default=True, alias=key)

    def _allowed(self, node: dict[str, Any], whole: str | None) -> Any:
        options = node["enum"] if "enum" in node else [node["const"]]

        def as_written(value: Any) -> Any:
            return next((option for option in options if same_json(option, value)), value)

        is_literal = options and all(option is None or isinstance(option, str | bool | int) for option in options)
        kind = Literal[tuple(options)] if is_literal else Any
        return self._checked(kind, whole, as_written)

    def _checked(self, kind: Any, place: str | None, convert: Callable[[Any], Any] | None = None) -> Any:
        """The type with a check before it that the value fits the schema at the place."""
        if place is None:
            return kind if convert is None else Annotated[kind, BeforeValidator(convert)]
        return Annotated[kind, BeforeValidator(self._check(place, convert))]

    def _check(self, place: str, convert: Callable[[Any], Any] | None = None) -> Callable[[Any], Any]:
        schema, explainer = self._schema, self._explainer

        def fits(value: Any) -> Any:
            plain = as_json(value)
            if not schema.validator_at(place).is_valid(plain):
                raise ValueError("; ".join(explainer.explain(plain, place)))
            return value if convert is None else convert(plain)

        return fits


def _inner(place: str | None, key: str | int) -> str | None:
    return None if place is None else step(place, key)


def _any_of(kinds: list[Any]) -> Any:
    return Union[tuple(kinds)]  # noqa: UP007 - made at run time


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _whole_number(value: Any) -> Any:
    return int(value) if isinstance(value, float) else value


def _class_name(wanted: str) -> str:
    """`unit price` as `UnitPrice`; `Model` when nothing of it can be kept."""
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in wanted).split()
    name = "".join(word[0].upper() + word[1:] for word in words)[:_LONGEST_NAME]
    return name if name[:1].isalpha() else f"Model{name}"


def _field_name(wanted: str, taken: Collection[str]) -> str:
    """A name that a model's field can have and no other field has."""
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in wanted)[:_LONGEST_NAME].strip("_")
    if not name.isidentifier() or keyword.iskeyword(name) or hasattr(BaseModel, name):
        name = f"field_{name}"
    return _free_name(name, taken)


def _free_name(wanted: str, taken: Collection[str]) -> str:
    """The name, or the name with the first number that makes it free."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name
