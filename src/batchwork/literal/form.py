"""Fill a JSON schema from a text, field by field: each field's name is a label to be found.

What the text does not say is null where the schema allows it, left out where it is optional, an empty
string or list where one is required; a required number that is not there is left out, never made up.
"""

import re
from typing import Any, NamedTuple

from batchwork.literal.answer import compare, count_of, look_up, yes_or_no
from batchwork.literal.choice import choose, denied
from batchwork.literal.lookup import ENOUGH, Found, currency, find, ranked, unlabelled
from batchwork.literal.meaning import GENERIC, label_words
from batchwork.literal.question import understand
from batchwork.literal.table_rows import Field, read_rows
from batchwork.literal.values import numbers


def _words(text: str) -> list[str]:
    return text.split()


Schema = dict[str, Any]
Spans = dict[str, list[tuple[int, int]]]
_PLAIN = frozenset(_words("answer value result response output prediction final choice selected label item items"))
_ASIDE = frozenset(_words("reasoning explanation confidence thought rationale note comment justification summary"))
_MORE_NUMBERS = re.compile(r"(?:(?:,\s*|\s+and\s+|,\s*and\s+|\s*;\s*)[-+]?\d[\d.,]*\b)+")
_MISSING = object()
_DEEPEST = 12


class Place(NamedTuple):
    """A field: its path, the labels it may stand at, best first, and its own name."""

    path: str
    labels: tuple[tuple[str, ...], ...]
    name: str


def fill(schema: Schema, text: str, question: str = "") -> tuple[Any, Spans]:
    """The value the text gives for a schema, and by path where each leaf was read.

    A field that is just called `answer` (or `value`, ...) means the question.
    """
    filler = _Filler(schema, text, question)
    value = filler.fill(schema, Place("", (), ""), 0)
    return (None if value is _MISSING else value), filler.spans


class _Filler:
    def __init__(self, root: Schema, text: str, question: str) -> None:
        self._root = root
        self._text = text
        self._asked = understand(question) if question.strip() else None
        self._alone = _leaves(root) <= 1
        self.spans: Spans = {}

    def fill(self, schema: Any, place: Place, depth: int) -> Any:
        node, nullable = self._plain(schema)
        kind = _kind(node)
        if kind == "object" and depth < _DEEPEST:
            return self._object(node, place, depth)
        if kind == "array":
            listed = self._array(node, place)
            return listed if listed or not nullable or self._says_none(place) else None
        found = self._leaf(node, kind, place)
        if found is None:
            if nullable:
                return None
            return "" if kind == "string" and "enum" not in node else _MISSING
        self.spans[place.path] = [(found.start, found.end)]
        return found.value

    def _object(self, node: Schema, place: Place, depth: int) -> Any:
        value: dict[str, Any] = {}
        required = node.get("required", ())
        for name, child in node.get("properties", {}).items():
            path = f"{place.path}.{name}" if place.path else name
            got = self.fill(child, Place(path, self._labels(name, child, place), name), depth + 1)
            if got is _MISSING or (got in ("", []) and name not in required):
                continue
            value[name] = got
        return value

    def _labels(self, name: str, child: Any, parent: Place) -> tuple[tuple[str, ...], ...]:
        own = label_words(name)
        node, _ = self._plain(child)
        labels = [tuple(dict.fromkeys((*outer, *own))) for outer in parent.labels[:1]]
        if set(own) - GENERIC or not labels:
            labels.append(own)
        described = " ".join(filter(None, (_text_of(child, "description"), _text_of(node, "description"))))
        for phrase in re.split(r"[,;.()\n]|\bor\b|\be\.g\.", described):
            words = label_words(phrase)
            if 0 < len(words) <= 4:
                labels.append(words)
        return tuple(dict.fromkeys(label for label in labels if label))

    def _array(self, node: Schema, place: Place) -> Any:
        item, _ = self._plain(node.get("items", {"type": "string"}))
        if _kind(item) == "object":
            return self._rows(item, place)
        listed = self._list(_kind(item), place)
        self.spans |= {f"{place.path}[{number}]": [(one.start, one.end)] for number, one in enumerate(listed)}
        return [one.value for one in listed]

    def _rows(self, item: Schema, place: Place) -> list[Any]:
        fields = []
        for name, child in item.get("properties", {}).items():
            node, _ = self._plain(child)
            fields.append(Field(name, label_words(name), _kind(node)))
        result: list[Any] = []
        for number, row in enumerate(read_rows(fields, self._text)):
            value: dict[str, Any] = {}
            for name, child in item.get("properties", {}).items():
                node, nullable = self._plain(child)
                path = f"{place.path}[{number}].{name}"
                if name in row:
                    value[name] = _as_kind(row[name].value, node)
                    self.spans[path] = [(row[name].start, row[name].end)]
                elif nullable:
                    value[name] = None
                elif _kind(node) == "string" and name in item.get("required", ()):
                    value[name] = ""
            result.append(value)
        return result

    def _list(self, kind: str, place: Place) -> list[Found]:
        labels = list(place.labels)
        if self._means_question(place) and self._asked is not None:
            labels = [self._asked.words, *labels]
        for words in labels:
            if "position" in words and kind == "integer" and (placed := _places(self._text, words)):
                return placed
            for sure, fact in ranked(words, self._text):
                if sure < ENOUGH:
                    break
                stop = fact.end
                if fact.kind in ("phrase", "after"):  # a list begun by its first number: "at 12, 45 and 78"
                    rest = _MORE_NUMBERS.match(self._text, fact.end)
                    stop = rest.end() if rest else stop
                listed = _listed(self._text, fact.start, stop, kind)
                if listed:
                    return listed
        return []

    def _says_none(self, place: Place) -> bool:
        """Whether the text says that the list is empty; that it says nothing of it is something else."""
        asked = (self._asked.words,) if self._asked is not None and self._means_question(place) else place.labels
        for words in asked:
            none = denied(tuple(word for word in words if word != "position"), self._text)
            if none:
                self.spans[place.path] = [none]
                return True
        return False

    def _leaf(self, node: Schema, kind: str, place: Place) -> Found | None:
        if "const" in node:
            return Found(node["const"], 0, 0, 1.0)
        asked = self._asked
        if asked is not None and self._means_question(place):
            return self._answer(node, kind)
        if place.labels and set(place.labels[-1]) & _ASIDE and set(place.labels[0]) <= _ASIDE:
            return None
        found = self._labelled(node, kind, place)
        if found is None and self._alone and asked is not None:
            found = self._answer(node, kind)
        return found

    def _labelled(self, node: Schema, kind: str, place: Place) -> Found | None:
        words = place.labels[0] if place.labels else ()
        if "enum" in node:
            choices = tuple(str(choice) for choice in node["enum"])
            chosen = next((one for label in place.labels if (one := choose(label, choices, self._text))), None)
            if chosen is None and words == ("currency",) and (money := currency(self._text)):
                chosen = money if money.value in choices else None
            return chosen._replace(value=node["enum"][choices.index(chosen.value)]) if chosen else None
        if kind == "boolean":
            return next((one for label in place.labels if (one := yes_or_no(label, self._text))), None)
        found = find(place.labels, self._text, kind)
        if found is None and kind == "integer" and words:
            found = count_of(tuple(word for word in words if word != "count"), self._text)
        if found is None:
            found = unlabelled(words, self._text, kind)
        return found._replace(value=_as_kind(found.value, node)) if found else None

    def _answer(self, node: Schema, kind: str) -> Found | None:
        """The question's own answer, as the type that is wanted."""
        asked, text = self._asked, self._text
        assert asked is not None
        if "enum" in node or asked.compares:
            return self._chosen(node)
        if kind == "boolean":
            return yes_or_no(asked.words, text)
        if kind in ("number", "integer", "date"):
            found = count_of(asked.words, text) if asked.counts else find([asked.words], text, kind)
            return found._replace(value=_as_kind(found.value, node)) if found else None
        if asked.choices:
            return choose(asked.words, asked.choices, text)
        if asked.yes_no and (said := yes_or_no(asked.words, text)) is not None:
            return said._replace(value="yes" if said.value else "no")
        return look_up(asked, text)

    def _chosen(self, node: Schema) -> Found | None:
        asked, text = self._asked, self._text
        assert asked is not None
        listed = node.get("enum", asked.choices)
        choices = tuple(str(choice) for choice in listed)
        if asked.compares:
            answer = compare(asked, text)
            if answer.spans:
                last = set(label_words(answer.text))
                for index, choice in enumerate(choices):
                    if set(label_words(choice)) & last - GENERIC or choice.lower() == answer.text.lower():
                        return Found(listed[index], *answer.spans[0], 0.9)
        if {choice.lower() for choice in choices} == {"yes", "no"} and (said := yes_or_no(asked.words, text)):
            wanted = "yes" if said.value else "no"
            return said._replace(value=next(choice for choice in listed if str(choice).lower() == wanted))
        found = choose(asked.words, choices, text)
        return found._replace(value=listed[choices.index(found.value)]) if found else None

    def _means_question(self, place: Place) -> bool:
        return self._asked is not None and place.name.lower() in _PLAIN

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

    def _resolved(self, ref: str) -> Any:
        node: Any = self._root
        for step in filter(None, ref.lstrip("#").split("/")):
            node = node[step]
        return node


def _kind(node: Schema) -> str:
    kind = node.get("type") or ("object" if "properties" in node else "string")
    return "date" if kind == "string" and node.get("format") in ("date", "date-time") else str(kind)


def _as_kind(value: Any, node: Schema) -> Any:
    if node.get("format") == "date-time" and isinstance(value, str) and len(value) == 10:
        return f"{value}T00:00:00Z"
    return value


def _text_of(node: Any, word: str) -> str:
    return str(node.get(word, "")) if isinstance(node, dict) else ""


def _leaves(node: Any) -> int:
    if not isinstance(node, dict):
        return 1
    properties = node.get("properties")
    return sum(_leaves(child) for child in properties.values()) if properties else 1


def _places(text: str, words: tuple[str, ...]) -> list[Found]:
    """The positions told about something: "anomalies: at 50 ...; at 200 ..."."""
    wanted = {word for word in words if word not in GENERIC and word != "position"}
    for match in re.finditer(r"[^.\n]+(?:\.(?=\d)[^.\n]*)*", text):
        told = label_words(match.group())
        placed = re.finditer(r"\b(?:at|index|position|step)\s+#?(\d+)\b(?![.,]\d)", match.group(), re.IGNORECASE)
        places = [(one.start(1) + match.start(), one.end(1) + match.start()) for one in placed]
        if wanted and places and wanted <= set(told) and not re.search(r"\bat (?:positions|indices)\b", match.group()):
            first = min(match.group().lower().find(word[:4]) for word in wanted)
            return [Found(int(text[a:b]), a, b, 0.7) for a, b in places if a >= match.start() + max(first, 0)]
    return []


def _listed(text: str, start: int, stop: int, kind: str) -> list[Found]:
    if kind in ("number", "integer"):
        return [Found(one.value, one.start, one.end, 0.0) for one in numbers(text, start, stop)
                if kind == "number" or isinstance(one.value, int)]  # fmt: skip
    found: list[Found] = []
    for match in re.finditer(r"[^,;\[\]\"]+", text[start:stop]):
        piece = re.sub(r"^(?:and|or)\s+", "", match.group().strip()).strip(" .'")
        if piece:
            at = text.index(piece, start + match.start())
            found.append(Found(piece, at, at + len(piece), 0.0))
    return found
