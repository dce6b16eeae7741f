"""An answer with quotes: the user's schema inside of one that also asks where the document says each value.

The model sees `{"answer": <the user's schema>, "quotes": [{"field": ..., "quote": ...}]}`, the answer first, so that an
answer that is cut off loses quotes before values. What is judged is the answer alone: no quote, a bad one or half of
one is no reason to ask again.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from batchwork.core.request import Schema
from batchwork.schema.answer_text import NoJson, json_in, whole_members
from batchwork.schema.checked_schema import check_schema
from batchwork.schema.checker import Accepted, Rejected, SchemaChecker
from batchwork.schema.keywords import Node

INSTRUCTIONS = (
    "Answer with one JSON object of two parts. `answer` is the answer itself. `quotes` shows where the document states "
    "each value of it, one entry per value: `field` is the path of the value inside `answer`, such as "
    "items[0].amount, and `quote` the shortest words of the document that state the value together with the label "
    "that tells it from others, copied character by character. Quote nothing for a value that the document does not "
    "state."
)
_ANSWER, _QUOTES = "answer", "quotes"
_NAME = "answer_with_quotes"  # tells such a schema from a user's own
_INSIDE = f"/properties/{_ANSWER}"
_AT_ROOT = ("$schema", "$defs", "definitions")  # they move to the root, where references lead to them as before
_QUOTE = {
    "type": "object",
    "properties": {
        "field": {"type": "string", "description": "The path of a value inside of `answer`, such as items[0].amount"},
        "quote": {"type": "string", "description": "The shortest words of the document that state this value"},
    },
    "required": ["field", "quote"],
    "additionalProperties": False,
}


def quoted_schema(schema: Schema) -> Schema:
    """The schema of an answer with quotes, for a user's schema; a SchemaError where that cannot be used."""
    inner = _referring(schema.body, _inwards)
    outer = {name: inner.pop(name) for name in _AT_ROOT if name in inner} if isinstance(inner, dict) else {}
    body = {
        **outer,
        "type": "object",
        "properties": {_ANSWER: inner, _QUOTES: {"type": "array", "items": _QUOTE}},
        "required": [_ANSWER, _QUOTES],
        "additionalProperties": False,
    }
    return Schema.of(body, name=_NAME)


def is_quoted(schema: Schema) -> bool:
    """Whether a schema is that of an answer with quotes."""
    return schema.name == _NAME


def answer_schema(schema: Schema) -> Schema:
    """The user's schema inside of one that `quoted_schema` has made."""
    body: Any = _referring(schema.body, _outwards)
    inner = body["properties"][_ANSWER]
    if isinstance(inner, dict):
        inner = {name: body[name] for name in _AT_ROOT if name in body} | inner
    return Schema.of(inner)


def quotes_in(text: str) -> list[tuple[str, str]]:
    """The field and the words of every quote in what a model said; none when there are none, or nobody can tell."""
    listed = _members(text).get(_QUOTES)
    found = listed if isinstance(listed, list) else []
    pairs = [(one.get("field"), one.get("quote")) for one in found if isinstance(one, dict)]
    return [(field, quote) for field, quote in pairs if isinstance(field, str) and isinstance(quote, str)]


class QuotedChecker:
    """Checks an answer with quotes: its answer by the checker of the user's schema, its quotes not at all."""

    def __init__(self, checker: SchemaChecker) -> None:
        self._checker = checker

    def check(self, text: str, *, truncated: bool = False) -> Accepted | Rejected:
        """Whether the text has an answer that fits; `Accepted.value` is the answer alone.

        An answer that stands there without its frame is one without quotes.
        """
        members = _members(text)
        if _ANSWER not in members or not members.keys() <= {_ANSWER, _QUOTES}:
            return self._checker.check(text, truncated=truncated)
        judged = self._checker.check_value(members[_ANSWER])
        if isinstance(judged, Rejected) and _QUOTES not in members:
            bare = self._checker.check(text, truncated=truncated)
            return bare if isinstance(bare, Accepted) else judged
        return judged


def _members(text: str) -> dict[str, Any]:
    """The members of the object in a text; of one that is cut off or broken, those that are whole."""
    if members := whole_members(text):
        return members
    try:
        value = json_in(text)
    except NoJson:
        return {}
    return value if isinstance(value, dict) else {}


def _referring(body: Any, change: Callable[[str], str]) -> Node:
    """A copy of a schema whose references lead elsewhere."""
    checked = check_schema(body)
    for node in checked.places.values():
        if isinstance(node, dict) and "$ref" in node:
            node["$ref"] = change(node["$ref"])
    return checked.root


def _inwards(reference: str) -> str:
    fragment = unquote(reference[1:])
    stays = fragment.startswith(tuple(f"/{name}/" for name in _AT_ROOT)) or (fragment and fragment[0] != "/")
    return reference if stays else f"#{_INSIDE}{reference[1:]}"


def _outwards(reference: str) -> str:
    return f"#{reference.removeprefix(f'#{_INSIDE}')}" if reference.startswith(f"#{_INSIDE}") else reference
