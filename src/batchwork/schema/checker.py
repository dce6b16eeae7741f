"""Is this answer what the user's schema asks for? The only place that decides it.

The answer is checked against the *user's* schema, whole, whatever a provider took of it. What providers do to answers
(wrap them, say null for absent, change the case of an allowed value) is undone first, when it stands in the way.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from batchwork.core.failure import Failure, FailureKind
from batchwork.core.ports import AnswerVerdict
from batchwork.core.reply import Reply
from batchwork.core.request import Message, Request, Schema
from batchwork.core.weighed import WeighedCache
from batchwork.schema.answer_text import NoJson, json_in, whole_json_in
from batchwork.schema.checked_schema import CheckedSchema, check_schema
from batchwork.schema.dialects import WRAP_KEY
from batchwork.schema.explanation import Explainer
from batchwork.schema.keywords import types_of
from batchwork.schema.limits import DEFAULT_LIMITS, Limits
from batchwork.schema.repair import repaired

_ACCEPTED = AnswerVerdict()


@dataclass(frozen=True, slots=True)
class Accepted:
    """The answer fits; `value` is the JSON in it, put right where that was needed."""

    value: Any


@dataclass(frozen=True, slots=True)
class Rejected:
    """The answer does not fit; `errors` say why in short sentences with paths, `message` tells the model."""

    errors: tuple[str, ...]

    @property
    def message(self) -> str:
        """The text of a re-ask."""
        return reask_message(self.errors)


class SchemaChecker:
    """Checks answers against one schema, compiled once."""

    def __init__(self, schema: object, limits: Limits = DEFAULT_LIMITS, *, copy: bool = True) -> None:
        """Compile the schema; without `copy` nobody changes it later."""
        self.schema: CheckedSchema = check_schema(schema, limits=limits, copy=copy)
        self._is_valid = self.schema.validator.is_valid
        self._explainer = Explainer(self.schema)
        _, root = self.schema.resolved("")
        # Then an error is about the object at the root, not about what is wrapped in it.
        self._takes_objects = isinstance(root, dict) and ("object" in types_of(root) or "properties" in root)

    def check(self, text: str, *, truncated: bool = False) -> Accepted | Rejected:
        """Whether the answer's text holds a JSON value that fits; one that was `truncated`, a whole one."""
        try:
            value = whole_json_in(text) if truncated else json_in(text)
        except NoJson as error:
            return Rejected((str(error),))
        return self.check_value(value)

    def check_value(self, value: Any) -> Accepted | Rejected:
        """Whether a JSON value fits."""
        if self._is_valid(value):
            return Accepted(value)
        wrapped = isinstance(value, dict) and value.keys() == {WRAP_KEY}
        try:
            value, raw = repaired(self.schema, value), value
            if wrapped and not self._is_valid(value):
                inner = repaired(self.schema, raw[WRAP_KEY])
                value = inner if self._is_valid(inner) or not self._takes_objects else value
            if self._is_valid(value):
                return Accepted(value)
            return Rejected(tuple(self._explainer.explain(value)))
        except RecursionError:
            return Rejected(("the answer is nested too deeply",))


def reask_message(errors: tuple[str, ...] | list[str]) -> str:
    """What to tell the model so that its next answer fits."""
    listed = "\n".join(f"- {error}" for error in errors)
    return (
        f"Your answer does not fit the required JSON schema:\n{listed}\n"
        "Answer again with the whole corrected JSON value and nothing else."
    )


_COMPILED_BYTES = 48 * 2**20  # of schemas in use at once; a server meets many, a run one
_compiled: WeighedCache[bytes, SchemaChecker] = WeighedCache(_COMPILED_BYTES)


def known_checker(schema: Schema) -> SchemaChecker | None:
    """The checker of a schema that is compiled already."""
    return _compiled.get(schema.digest)


def checker_of(schema: Schema, limits: Limits = DEFAULT_LIMITS, *, copy: bool = True) -> SchemaChecker:
    """The checker of a schema, compiled once while it is in use; without `copy` nobody changes the schema later."""
    found = _compiled.get(schema.digest)
    if found is None:
        found = SchemaChecker(schema.body, limits, copy=copy)
        _compiled.put(schema.digest, found, found.schema.weight.bytes)
    return found


class TextChecker(Protocol):
    """Checks the text of an answer."""

    def check(self, text: str, *, truncated: bool = False) -> Accepted | Rejected:
        """Whether the text holds an answer that fits; one that was `truncated`, a whole one."""


class AnswerChecker:
    """The checker of every run, live or in batches: an answer is accepted, or asked for again with its errors."""

    def __init__(self, own: Mapping[bytes, TextChecker] | None = None) -> None:
        """`own` has, by a schema's digest, a checker that asks for more than the schema does: a model's validators."""
        self._own = own or {}

    def check(self, request: Request, reply: Reply) -> AnswerVerdict:
        """Judge one reply."""
        if request.schema is None:
            return _ACCEPTED
        checker: TextChecker = self._own.get(request.schema.digest) or checker_of(request.schema)
        judged = checker.check(reply.text, truncated=reply.truncated)
        if reply.tool_calls and not reply.truncated and not isinstance(judged, Accepted):
            return _ACCEPTED  # the model asks for a tool of the caller's: an answer, and not yet the one with JSON
        return AnswerVerdict(value=judged.value) if isinstance(judged, Accepted) else rejected(request, reply, judged)


def rejected(request: Request, reply: Reply, judged: Rejected) -> AnswerVerdict:
    """The verdict on a reply that does not fit: it is asked for again, with what was wrong, unless it was cut off."""
    if reply.truncated:
        message = f"the answer was cut off after {request.output_bound} tokens, before its JSON ended"
        return AnswerVerdict(failure=Failure(kind=FailureKind.TRUNCATED, message=message))
    answer = (Message("assistant", reply.text),) if reply.text.strip() else ()
    return AnswerVerdict(
        failure=Failure(kind=FailureKind.SCHEMA_VIOLATION, message="; ".join(judged.errors)),
        reask=(*answer, Message("user", judged.message)),
    )
