"""Is this answer what the user's schema asks for? The only place that says so.

The answer is held against the *user's* schema, whole, whatever a provider took of it. What providers do to answers
(wrap them, say null for absent, change the case of an allowed value) is undone first, when it stands in the way.
"""

from dataclasses import dataclass
from typing import Any

from batchwork.schema.answer import NoJson, json_in
from batchwork.schema.checked import Schema, check_schema
from batchwork.schema.dialects import WRAP_KEY
from batchwork.schema.explaining import Explainer
from batchwork.schema.keywords import types_of
from batchwork.schema.limits import DEFAULT_LIMITS, Limits
from batchwork.schema.mending import mended


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
        """Compile the schema; without `copy` nobody changes it later.

        Raises:
            SchemaError: it cannot be used.
        """
        self.schema: Schema = check_schema(schema, limits=limits, copy=copy)
        self._is_valid = self.schema.validator.is_valid
        self._takes_objects = _takes_objects(self.schema)
        self._explainer = Explainer(self.schema)

    def check(self, text: str) -> Accepted | Rejected:
        """Whether the answer's text holds a JSON value that fits."""
        try:
            value = json_in(text)
        except NoJson as error:
            return Rejected((str(error),))
        return self.check_value(value)

    def check_value(self, value: Any) -> Accepted | Rejected:
        """Whether a JSON value fits."""
        if self._is_valid(value):
            return Accepted(value)
        wrapped = isinstance(value, dict) and value.keys() == {WRAP_KEY}
        try:
            value, raw = mended(self.schema, value), value
            if wrapped and not self._is_valid(value):
                inner = mended(self.schema, raw[WRAP_KEY])
                value = inner if self._is_valid(inner) or not self._takes_objects else value
            if self._is_valid(value):
                return Accepted(value)
            return Rejected(tuple(self._explainer.explain(value)))
        except RecursionError:
            return Rejected(("the answer is nested too deeply",))


def _takes_objects(schema: Schema) -> bool:
    """Whether the schema speaks of objects at its root; then an error is about the object, not about what is in it."""
    _, node = schema.resolved("")
    return isinstance(node, dict) and ("object" in types_of(node) or "properties" in node)


def reask_message(errors: tuple[str, ...] | list[str]) -> str:
    """What to tell the model so that its next answer fits."""
    listed = "\n".join(f"- {error}" for error in errors)
    return (
        f"Your answer does not fit the required JSON schema:\n{listed}\n"
        "Answer again with the whole corrected JSON value and nothing else."
    )
