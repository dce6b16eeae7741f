"""Fill a JSON schema from a text, field by field: each field's name is a label to be found.

What the text does not say is null where the schema allows it, left out where it is optional, an empty
string or list where one is required; a required number that is not there is left out, never made up.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from batchwork.literal.answer import answered, choose, compare, count_of, denied, yes_or_no
from batchwork.literal.lookup import ENOUGH, Found, currency, find, ranked, unlabelled
from batchwork.literal.meaning import GENERIC, label_words
from batchwork.literal.question import understand
from batchwork.literal.table_rows import Field, read_rows
from batchwork.literal.values import numbers

Schema = dict[str, Any]
Spans = dict[str, list[tuple[int, int]]]
_ANSWER = frozenset({"answer", "value", "result", "response", "output", "prediction", "final", "choice", "selected", "label", "item", "items"})  # fmt: skip # noqa: E501
_MISSING = object()
_DEEPEST = 12
_FRAME = {"answer", "quotes"}  # what an answer with quotes has


class Place(NamedTuple):
    """A field: its path, and the labels it may stand at, best first."""

    path: str
    labels: tuple[tuple[str, ...], ...]


def fill(schema: Schema, text: str, question: str = "") -> tuple[Any, Spans]:
    """The value the text gives for a schema, and by path where each leaf was read.

    A field that is just called `answer` (or `value`, ...) means the question. Asked for an answer with quotes, it
    quotes for every leaf the line up to its value.
    """
    filler = _Filler(schema, text, question)
    framed = schema.get("properties", {})
    node = framed["answer"] if framed.keys() == _FRAME else schema
    value = filler.fill(node, Place("", ()), 0)
    value = None if value is _MISSING else value
    if node is schema:
        return value, filler.spans
    quotes = [{"field": path, "quote": _line(text, *spans[0])} for path, spans in filler.spans.items()]
    return {"answer": value, "quotes": quotes}, filler.spans


def _line(text: str, start: int, end: int) -> str:
    return text[text.rfind("\n", 0, start) + 1 : end].strip()


class _Filler:
    def __init__(self, root: Schema, text: str, question: str) -> None:
        self._root = root
        self._text = text
        self._query = understand(question)
        self._has_question = bool(question.strip())
        self.spans: Spans = {}

    def fill(self, schema: Any, place: Place, depth: int) -> Any:
        node, nullable = self._plain(schema)
        kind = _kind(node)
        if kind == "object" and depth < _DEEPEST:
            return self._object(node, place, depth)
        if kind == "array":
            listed = self._array(node, place)
            return listed if listed or not nullable or self._says_none(place) else None
        if "const" in node:
            return node["const"]
        found = self._answer(node, kind) if self._means_question(place) else self._labelled(node, kind, place)
        if found is None:
            empty = "" if kind == "string" and "enum" not in node else _MISSING
            return None if nullable else empty
        self.spans[place.path] = [(found.start, found.end)]
        return _as_kind(found.value, node)

    def _object(self, node: Schema, place: Place, depth: int) -> Any:
        value: dict[str, Any] = {}
        required = node.get("required", ())
        for name, child in node.get("properties", {}).items():
            path = f"{place.path}.{name}" if place.path else name
            got = self.fill(child, Place(path, self._labels(name, child, place)), depth + 1)
            if got is _MISSING or (got in ("", []) and name not in required):
                continue
            value[name] = got
        return value

    def _labels(self, name: str, child: Any, parent: Place) -> tuple[tuple[str, ...], ...]:
        own = label_words(name)
        labels = [tuple(dict.fromkeys((*outer, *own))) for outer in parent.labels[:1]]
        if set(own) - GENERIC or not labels:
            labels.append(own)
        described = str(child.get("description", "")) if isinstance(child, dict) else ""
        phrases = (label_words(phrase) for phrase in re.split(r"[,;.()\n]|\bor\b|\be\.g\.", described))
        labels += [words for words in phrases if len(words) <= 4]
        return tuple(dict.fromkeys(label for label in labels if label))

    def _array(self, node: Schema, place: Place) -> Any:
        item, _ = self._plain(node.get("items", {"type": "string"}))
        if _kind(item) == "object":
            return self._rows(item, place)
        listed = self._list(_kind(item), place)
        self.spans |= {f"{place.path}[{number}]": [(one.start, one.end)] for number, one in enumerate(listed)}
        return [one.value for one in listed]

    def _rows(self, item: Schema, place: Place) -> list[Any]:
        properties = {name: self._plain(child) for name, child in item.get("properties", {}).items()}
        fields = [Field(name, label_words(name), _kind(node)) for name, (node, _) in properties.items()]
        result: list[Any] = []
        for number, row in enumerate(read_rows(fields, self._text)):
            value: dict[str, Any] = {}
            for name, (node, nullable) in properties.items():
                if name in row:
                    value[name] = _as_kind(row[name].value, node)
                    self.spans[f"{place.path}[{number}].{name}"] = [(row[name].start, row[name].end)]
                elif nullable or (_kind(node) == "string" and name in item.get("required", ())):
                    value[name] = None if nullable else ""
            result.append(value)
        return result

    def _list(self, kind: str, place: Place) -> list[Found]:
        for words in [self._query.words] if self._means_question(place) else place.labels:
            if "position" in words and kind == "integer" and (placed := _places(self._text, words)):
                return placed
            for sure, fact in ranked(words, self._text):
                if sure < ENOUGH:
                    break
                if listed := _listed(self._text, fact.start, fact.end, kind):
                    return listed
        return []

    def _says_none(self, place: Place) -> bool:
        """Whether the text says that the list is empty; that it says nothing of it is something else."""
        for words in (self._query.words,) if self._means_question(place) else place.labels:
            none = denied(tuple(word for word in words if word != "position"), self._text)
            if none:
                self.spans[place.path] = [none]
                return True
        return False

    def _labelled(self, node: Schema, kind: str, place: Place) -> Found | None:
        words = place.labels[0] if place.labels else ()
        if "enum" in node:
            choices = tuple(map(str, node["enum"]))
            chosen = _first(place, lambda label: choose(label, choices, self._text))
            if chosen is None and words == ("currency",) and (money := currency(self._text)):
                chosen = money if money.value in choices else None
            return chosen and chosen._replace(value=node["enum"][choices.index(chosen.value)])
        if kind == "boolean":
            return _first(place, lambda label: yes_or_no(label, self._text))
        found = find(place.labels, self._text, kind)
        if found is None and kind == "integer" and words:
            found = count_of(tuple(word for word in words if word != "count"), self._text)
        return found or unlabelled(words, self._text, kind)

    def _answer(self, node: Schema, kind: str) -> Found | None:
        """The question's own answer, as the type that is wanted."""
        query, text = self._query, self._text
        if "enum" in node or query.compares:
            return self._chosen(node.get("enum", query.choices))
        if kind == "boolean":
            return yes_or_no(query.words, text)
        if kind in ("number", "integer", "date"):
            return count_of(query.words, text) if query.counts else find([query.words], text, kind)
        return answered(query, text)

    def _chosen(self, listed: Any) -> Found | None:
        query, text = self._query, self._text
        choices = tuple(map(str, listed))
        if query.compares:
            answer = compare(query, text)
            for index, choice in enumerate(choices if answer.spans else ()):
                if set(label_words(choice)) & set(label_words(answer.text)) - GENERIC or choice == answer.text:
                    return Found(listed[index], *answer.spans[0], 0.9)
        if {choice.lower() for choice in choices} == {"yes", "no"} and (found := yes_or_no(query.words, text)):
            wanted = "yes" if found.value else "no"
            return found._replace(value=next(choice for choice in listed if str(choice).lower() == wanted))
        found = choose(query.words, choices, text)
        return found and found._replace(value=listed[choices.index(found.value)])

    def _means_question(self, place: Place) -> bool:
        return self._has_question and place.path.rpartition(".")[2].lower() in _ANSWER

    def _plain(self, schema: Any) -> tuple[Schema, bool]:
        """A schema without references and unions, and whether it may be null."""
        nullable = False
        for _ in range(_DEEPEST):
            if not isinstance(schema, dict):
                return {"type": "string"}, nullable
            if "$ref" in schema:
                schema = self._resolved(schema["$ref"])
            elif branches := schema.get("anyOf") or schema.get("oneOf"):
                solid = [branch for branch in branches if isinstance(branch, dict) and branch.get("type") != "null"]
                nullable = nullable or len(solid) < len(branches)
                schema = next((b for b in solid if b.get("type") in ("number", "integer")), solid[0] if solid else {})
            elif schema.get("allOf"):
                schema = {**schema["allOf"][0], **{key: value for key, value in schema.items() if key != "allOf"}}
            else:
                break
        kind = schema.get("type")
        if isinstance(kind, list):
            nullable = nullable or "null" in kind
            schema = {**schema, "type": next((one for one in kind if one != "null"), "string")}
        return schema, nullable or None in schema.get("enum", ())

    def _resolved(self, ref: Any) -> Any:
        node: Any = self._root
        for step in filter(None, str(ref).lstrip("#").split("/")):
            node = node.get(step) if isinstance(node, dict) else None
        return node


def _first(place: Place, read: Callable[[tuple[str, ...]], Found | None]) -> Found | None:
    return next((found for label in place.labels if (found := read(label))), None)


def _kind(node: Schema) -> str:
    kind = node.get("type") or ("object" if "properties" in node else "string")
    return "date" if kind == "string" and node.get("format") in ("date", "date-time") else str(kind)


def _as_kind(value: Any, node: Schema) -> Any:
    timed = node.get("format") == "date-time" and isinstance(value, str) and len(value) == 10
    return f"{value}T00:00:00Z" if timed else value


def _places(text: str, words: tuple[str, ...]) -> list[Found]:
    """The positions of something: "anomalies: at 50 ...; at 200 ..."."""
    wanted = {word for word in words if word not in GENERIC and word != "position"}
    for match in re.finditer(r"[^.\n]+(?:\.(?=\d)[^.\n]*)*", text):
        if wanted and wanted <= set(label_words(match.group())):
            first = match.start() + max(0, min(match.group().lower().find(word[:4]) for word in wanted))
            placed = re.compile(r"\b(?:at|index|position|step)\s+#?(\d+)\b(?![.,]\d)", re.IGNORECASE)
            places = [Found(int(one[1]), *one.span(1), 0.7) for one in placed.finditer(text, first, match.end())]
            if places:
                return places
    return []


def _listed(text: str, start: int, stop: int, kind: str) -> list[Found]:
    if kind in ("number", "integer"):
        there = [one for one in numbers(text, start, stop) if kind == "number" or isinstance(one.value, int)]
        return [Found(one.value, one.start, one.end, 0.0) for one in there]
    found: list[Found] = []
    for match in re.finditer(r"[^,;\[\]\"]+", text[start:stop]):
        piece = re.sub(r"^(?:and|or)\s+", "", match.group().strip()).strip(" .'")
        if piece:
            at = text.index(piece, start + match.start())
            found.append(Found(piece, at, at + len(piece), 0.0))
    return found
