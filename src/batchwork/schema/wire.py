"""The schema as one provider takes it.

Decides how each keyword is written in a provider's subset: kept, written otherwise (`oneOf` as `anyOf`, an optional
property as one that may be null, a root that is no object inside of one), or told in the description. The result may be
looser than the user's schema; answers are checked against that one.
"""

from typing import Any, Literal

import msgspec

from batchwork.core.errors import ConfigError, SchemaError
from batchwork.core.request import Schema
from batchwork.core.weighed import WeighedCache
from batchwork.schema.checked_schema import CheckedSchema, check_schema
from batchwork.schema.checker import checker_of
from batchwork.schema.combination import HINTS, flattened, merged
from batchwork.schema.dialects import DIALECTS, WRAP_KEY, Dialect, enforce_limits, nullable
from batchwork.schema.keywords import ANNOTATIONS, SILENT, Node, applies, guessed_types, step, types_of
from batchwork.schema.patterns import is_portable

Provider = Literal["anthropic", "gemini", "openai"]
_MOST_STEPS = 20_000
_MADE_BYTES = 32 * 2**20
_LONGEST_HINT = 200
_HANDLED = frozenset({"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf"})
_made: WeighedCache[tuple[Provider, bytes], dict[str, Any]] = WeighedCache(_MADE_BYTES)


def compile_for(provider: Provider, schema: object) -> dict[str, Any]:
    """The schema as a provider takes it, or a SchemaError; `SchemaChecker` undoes in the answer what was changed."""
    if provider not in DIALECTS:
        raise ConfigError(f"no wire schema is known for {provider!r}; known are {', '.join(DIALECTS)}")
    try:
        return _Compiler(check_schema(schema), DIALECTS[provider]).compile()
    except RecursionError:
        raise SchemaError("", "too complex: its references stand in one another too deeply") from None


def wire_schema_of(provider: Provider, schema: Schema) -> dict[str, Any]:
    """The same for a request's schema, made once while it is in use."""
    found = _made.get((provider, schema.digest))
    if found is None:
        checker = checker_of(schema)
        found = compile_for(provider, checker.schema)
        keep_wire_schema(provider, schema, found, weight=checker.schema.weight.bytes)
    return found


def keep_wire_schema(provider: Provider, schema: Schema, made: dict[str, Any], *, weight: int) -> None:
    """Remember what was made elsewhere."""
    _made.put((provider, schema.digest), made, weight)


class _Compiler:
    def __init__(self, schema: CheckedSchema, dialect: Dialect) -> None:
        self._schema = schema
        self._dialect = dialect
        self._names: dict[str, str] = {}
        self._definitions: dict[str, dict[str, Any]] = {}
        self._steps = 0

    def compile(self) -> dict[str, Any]:
        if self._schema.circle is not None and not self._dialect.recursion:
            raise SchemaError(self._schema.circle, f"the schema is recursive, which {self._dialect.name} does not take")
        root = self._node(self._schema.root, "")
        while "$ref" in root:  # a root that is only a reference becomes what it refers to
            name = root["$ref"].rpartition("/")[2]
            root = dict(self._definitions[name])
        is_object = root.get("type") == "object" and "anyOf" not in root
        if self._dialect.object_root and not is_object:
            root = _closed({WRAP_KEY: root}, [WRAP_KEY])
        if self._definitions:
            root["$defs"] = self._definitions
        enforce_limits(root, self._dialect)
        return root

    def _node(self, node: Node, place: str) -> dict[str, Any]:
        self._steps += 1
        if self._steps > _MOST_STEPS:  # unions beside unions multiply
            raise SchemaError("", f"too complex: more than {_MOST_STEPS} schemas when it is written out")
        flat = flattened(self._schema, node, place)
        if isinstance(flat, bool) or not flat.keys() - ANNOTATIONS - SILENT:
            raise SchemaError(place, f"{self._dialect.name} needs to know the type here")
        if "$ref" in flat:
            return {"$ref": f"#/$defs/{self._defined(flat, place)}"}
        for keyword in ("anyOf", "oneOf"):
            if keyword in flat:
                return self._union(flat, keyword, place)
        types = types_of(flat) or guessed_types(flat)
        if "enum" in flat or "const" in flat:
            return self._described(self._allowed(flat, place), flat, types)
        if not types:
            raise SchemaError(place, f"{self._dialect.name} needs to know the type here")
        if len(types) > 1 and {"object", "array"} & set(types):
            return self._union({**flat, "anyOf": [{"type": name} for name in types]}, "anyOf", place)
        out: dict[str, Any] = {"type": types[0] if len(types) == 1 else list(types)}
        if types == ("object",):
            out |= self._object(flat, place)
        elif types == ("array",):
            out["items"] = self._items(flat, place)
        return self._described(out, flat, types)

    def _defined(self, node: dict[str, Any], place: str) -> str:
        """The name of the definition that a reference leads to, compiled when it is met first."""
        target, there = self._schema.referred(node, place)
        if target not in self._names:
            last = target.rpartition("/")[2] or "root"
            name = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in last)
            while name in self._names.values():
                name += "_"
            self._names[target] = name
            self._definitions[name] = self._node(there, target)
        return self._names[target]

    def _union(self, flat: dict[str, Any], keyword: str, place: str) -> dict[str, Any]:
        rest = {key: held for key, held in flat.items() if key != keyword}
        base = {key: held for key, held in rest.items() if key not in ANNOTATIONS and key != HINTS}
        branches: list[dict[str, Any]] = []
        for index, branch in enumerate(flat[keyword]):
            if branch is False:
                continue
            here = f"{place}/{keyword}/{index}"
            compiled = self._node(self._joined(base, branch, here) if base else branch, here)
            inner = compiled["anyOf"] if compiled.keys() == {"anyOf"} else [compiled]
            branches += [one for one in inner if one not in branches]
        if not branches:
            raise SchemaError(place, "nothing can ever fit here")
        notes = {key: rest[key] for key in ("description", "title", HINTS) if key in rest}
        if len(branches) == 1 and not notes:
            return branches[0]
        return self._described({"anyOf": branches}, notes, ())

    def _joined(self, base: dict[str, Any], branch: Node, place: str) -> Node:
        """An alternative together with what stands beside the union."""
        flat = flattened(self._schema, branch, place)
        if isinstance(flat, bool):
            return base
        if "$ref" in flat:
            target, there = self._schema.referred(flat, place)
            flat = flattened(self._schema, there, target, frozenset({target}))
            if isinstance(flat, bool) or "$ref" in flat:
                return base
        return merged(base, flat, place)

    def _allowed(self, flat: dict[str, Any], place: str) -> dict[str, Any]:
        keyword = "enum" if "enum" in flat else "const"
        values = flat["enum"] if keyword == "enum" else [flat["const"]]
        named = types_of(flat)
        if any(isinstance(value, dict | list) for value in values):
            raise SchemaError(step(place, keyword), f"{self._dialect.name} takes only plain values here")
        fitting = [value for value in values if not named or _types_of_value(value) & set(named)]
        if not fitting:
            raise SchemaError(step(place, keyword), "no allowed value is of the type that is asked for")
        if self._dialect.enum_types is not None:
            return _branches(fitting, named, self._dialect.enum_types)
        names = list(dict.fromkeys(_stated_type(value, named) for value in fitting))
        kind = {"type": names[0] if len(names) == 1 else names}
        return kind | ({"enum": fitting} if keyword == "enum" else {"const": fitting[0]})

    def _object(self, flat: dict[str, Any], place: str) -> dict[str, Any]:
        inner = step(place, "properties")
        properties = {name: part for name, part in flat.get("properties", {}).items() if part is not False}
        required = list(flat.get("required", ()))
        strange = [name for name in required if name not in properties]
        if strange:
            raise SchemaError(step(place, "required"), f"{strange[0]!r} is required and is no property")
        if not properties and flat.get("additionalProperties", True) is not False:
            raise SchemaError(
                place,
                f"{self._dialect.name} cannot answer with an object of any keys; name its properties, "
                "or ask for a list of objects with a key and a value",
            )
        compiled = {}
        for name, part in properties.items():
            compiled[name] = self._node(part, step(inner, name))
            if self._dialect.all_required and name not in required:
                compiled[name] = nullable(compiled[name])
        return _closed(compiled, list(compiled) if self._dialect.all_required else required)

    def _items(self, flat: dict[str, Any], place: str) -> dict[str, Any]:
        if "prefixItems" in flat or isinstance(flat.get("items"), list):
            keyword = "prefixItems" if "prefixItems" in flat else "items"
            parts = [*flat[keyword], *([flat["items"]] if isinstance(flat.get("items"), dict) else [])]
            return self._union({"anyOf": parts}, "anyOf", step(place, keyword))
        if "items" not in flat:
            raise SchemaError(place, f"{self._dialect.name} needs to know what the items are: say 'items'")
        return self._node(flat["items"], step(place, "items"))

    def _described(self, out: dict[str, Any], flat: dict[str, Any], types: tuple[str, ...]) -> dict[str, Any]:
        """The compiled schema with what may stay of the other keywords, and the rest in its description."""
        rules: list[tuple[str, Any]] = []
        for keyword, held in flat.items():
            if keyword in _HANDLED or keyword in SILENT or keyword in ("title", "description", HINTS):
                continue
            if keyword in self._dialect.keeps and self._may_stay(keyword, held) and "anyOf" not in out:
                if "enum" not in out and "const" not in out and applies(keyword, types):
                    out[keyword] = held
            elif applies(keyword, types):
                rules.append((keyword, held))
        rules += flat.get(HINTS, ())
        extra = flat.get("additionalProperties")
        if isinstance(extra, dict):
            rules.append(("additionalProperties", extra))
        notes = [str(flat["description"])] if flat.get("description") else []
        if rules:
            notes.append("{" + ", ".join(f"{keyword}: {_short(held)}" for keyword, held in rules) + "}")
        if notes:
            out["description"] = "\n".join(notes)
        if isinstance(flat.get("title"), str):
            out["title"] = flat["title"]
        return out

    def _may_stay(self, keyword: str, held: Any) -> bool:
        if keyword == "format":
            return held in self._dialect.formats
        if keyword == "pattern":
            return self._dialect.look_around or is_portable(held)
        if keyword == "minItems" and self._dialect.most_min_items is not None:
            return bool(held <= self._dialect.most_min_items)
        return not isinstance(held, bool) or keyword == "default"


def _branches(values: list[Any], named: tuple[str, ...], listable: frozenset[str]) -> dict[str, Any]:
    """Plain values where an enum lists values of one type, and only of some types: a schema for each type."""
    by_type: dict[str, list[Any]] = {}
    for value in values:
        by_type.setdefault(_stated_type(value, named), []).append(value)
    branches: list[dict[str, Any]] = []
    for name, held in by_type.items():
        if name in listable:
            branches.append({"type": name, "enum": held})
        else:
            only = {"description": f"{{enum: {_short(held)}}}"} if name == "boolean" and len(set(held)) == 1 else {}
            branches.append({"type": name, **only})
    return branches[0] if len(branches) == 1 else {"anyOf": branches}


def _closed(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _types_of_value(value: Any) -> set[str]:
    """The types a plain value is of."""
    if value is None:
        return {"null"}
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, str):
        return {"string"}
    return {"integer", "number"} if isinstance(value, int) or value.is_integer() else {"number"}


def _stated_type(value: Any, named: tuple[str, ...]) -> str:
    """The one type to state for a plain value: one that was named, if any."""
    names = _types_of_value(value)
    stated = [name for name in named if name in names]
    if stated:
        return stated[0]
    return "integer" if isinstance(value, int) and not isinstance(value, bool) else min(names - {"integer"} or names)


def _short(held: Any) -> str:
    text = msgspec.json.encode(held).decode()
    return text if len(text) <= _LONGEST_HINT else text[: _LONGEST_HINT - 3] + "..."
