"""One prompt as a caller writes it, and the words for what is wrong with it. Pure.

A dict of Python and the JSON of an HTTP body are read by the same types, strictly, and get the same words.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from batchwork.core.sampling import MAX_TEMPERATURE, SAMPLING_NAMES
from batchwork.core.words import counted, or_list
from batchwork.prompts.field_path import MAX_CHARACTERS

_MOST_TOKENS = 1_000_000
_INDEX = re.compile(r"\[([0-9]+|\*)\]")
_PLACE = re.compile(r"^(.*) - at (`key` in )?`\$?(.*)`$", re.DOTALL)
SchemaBody = dict[str, Any] | bool
Role = Literal["user", "assistant", "system"]
EITHER = "a prompt has either 'prompt' or 'messages'"


class NamedSchema(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A JSON schema with a name."""

    schema: SchemaBody
    name: Annotated[str, Meta(min_length=1, max_length=64, pattern="^[A-Za-z0-9_-]+$")] = "answer"
    description: str | None = None
    strict: bool | None = None


class ResponseFormat(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the answer must be."""

    type: Literal["json_schema"]
    json_schema: NamedSchema


class Turn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One message of a conversation."""

    role: Role
    content: str | list[dict[str, Any]]


# JSON has one kind of number: 100.0 is as whole as 100.
WholeTokens = Annotated[int, Meta(ge=1, le=_MOST_TOKENS)] | Annotated[float, Meta(ge=1, le=_MOST_TOKENS, multiple_of=1)]


class PromptItem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One prompt: either `prompt` or `messages`, and what the answer should be."""

    prompt: str | None = None
    messages: Annotated[list[Turn], Meta(min_length=1)] | None = None
    response_format: ResponseFormat | None = None
    extract_field_path: Annotated[str, Meta(min_length=1, max_length=MAX_CHARACTERS)] | None = None
    system: str | None = None
    model: str | None = None
    max_tokens: WholeTokens | None = None
    temperature: Annotated[float, Meta(ge=0, le=MAX_TEMPERATURE)] | None = None  # short for the same one in `sampling`
    sampling: dict[str, Any] | None = None  # those that the model takes: top_p, seed, stop ...
    id: Annotated[str, Meta(min_length=1, max_length=200)] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether it has one of the two."""
        return (self.prompt is None) != (self.messages is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why a prompt cannot be asked, or has no answer: a code for programs, a sentence for people, and the place."""

    code: str
    message: str
    where: str = ""  # below the prompt, for example /response_format/json_schema/schema/properties/a
    retryable: bool = False


class UnusableItem(Exception):
    """Ends the preparation of one prompt. `id` is the prompt's own, where it can be read all the same."""

    def __init__(
        self, message: str, where: str = "", *, code: str = "invalid_request", own_id: str | None = None
    ) -> None:
        self.problem = Problem(code=code, message=message, where=where)
        self.id = own_id


class _Named(msgspec.Struct, frozen=True, kw_only=True):
    id: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


_json_item = msgspec.json.Decoder(PromptItem)
_json_name = msgspec.json.Decoder(_Named)


def item_of(given: object) -> PromptItem:
    """The prompt that a text, a dict or an item means. Raises UnusableItem where it is none."""
    if isinstance(given, PromptItem):
        return _whole(given)
    if isinstance(given, str):
        return PromptItem(prompt=given)
    if not isinstance(given, Mapping):
        raise UnusableItem(f"a prompt is text or a dict, not {type(given).__name__}")
    try:
        return _whole(msgspec.convert(dict(given), PromptItem))
    except msgspec.ValidationError as error:
        raise UnusableItem(*explained(error), own_id=_id_of(given)) from None


def item_in(body: bytes) -> PromptItem:
    """The prompt in a JSON text. Raises UnusableItem where it is none, a DecodeError where it is not even JSON."""
    try:
        return _whole(_json_item.decode(body))
    except msgspec.ValidationError as error:
        try:
            own_id = _json_name.decode(body).id
        except msgspec.ValidationError:
            own_id = None
        raise UnusableItem(*explained(error), own_id=own_id) from None


def _whole(item: PromptItem) -> PromptItem:
    if not item.is_whole:
        raise UnusableItem(EITHER, own_id=item.id)
    return item


def _id_of(given: Mapping[Any, Any]) -> str | None:
    try:
        return msgspec.convert({"id": given.get("id")}, _Named).id
    except msgspec.ValidationError:
        return None


_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}
_CHOICES = {"role": get_args(Role), "type": ("json_schema",)}
_FIELDS = {
    "messages": Turn.__struct_fields__,
    "response_format": ResponseFormat.__struct_fields__,
    "json_schema": NamedSchema.__struct_fields__,
    "": PromptItem.__struct_fields__,
}
_BEYOND = frozenset({"tools", "tool_choice", "functions", "extra_body", "n", "stream"})
_NOT_HERE = {
    "stream": "the answers of /api/v1/prompts come as a stream with the header Accept: application/x-ndjson",
    "n": "to get several answers, ask the prompt several times",
}
_TOO_FREE = (
    "the prompts API has no tools and no fields of the provider's own, because its budget must know what a call can"
    " cost; batchwork.run takes them in extra_body"
)
_EXPECTED = re.compile(r"Expected `([^`]+)`(?:, got `([^`]+)`| (.+))?", re.DOTALL)
_NAMED = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_BOUNDS = {">=": "at least", "<=": "at most"}


def explained(error: msgspec.ValidationError, fields: tuple[str, ...] | None = None) -> tuple[str, str]:
    """What is wrong in plain words, and where as a JSON pointer. `fields` are those at the root, if not an item's."""
    message, where = str(error), ""
    if (found := _PLACE.match(message)) is not None:
        message, of_key, place = found.groups()
        where = _INDEX.sub(r"/\1", place.replace("[...]", "[*]").replace(".", "/")).rstrip("/")
        if of_key is not None:  # from Python alone: in JSON every key is one
            return "a key must be a text", where
    return _in_words(message, where, fields), where


def _in_words(message: str, where: str, fields: tuple[str, ...] | None) -> str:
    names = [part for part in where.split("/") if part and not part.isdigit() and part != "*"]
    last = names[-1] if names else ""
    if (named := _NAMED.fullmatch(message)) is not None:
        how, field = named.groups()
        if how == "missing required":
            return f"the field {field!r} is missing"
        return _unknown(field[:100], fields if fields is not None and not names else _FIELDS.get(last, ()))
    if message.startswith("Invalid enum value") and last in _CHOICES:
        return f"must be {or_list([repr(choice) for choice in _CHOICES[last]])}, not {message[19:119]}"
    if (expected := _EXPECTED.fullmatch(message)) is None:
        return message
    kinds, got, rule = expected.groups()
    wanted = or_list(_kinds(kinds))
    if not names:  # there is no place that would say what is meant
        subject, like = ("a prompt", ' like {"prompt": "..."}') if fields is None else ("the body", "")
        return f"{subject} must be {wanted}{like}, not {' or '.join(_kinds(got or ''))}"
    if got is not None:
        return f"must be {wanted}, not {' or '.join(_kinds(got))}"
    return f"must be {wanted}" if rule is None else _ruled(rule, wanted)


def _kinds(kinds: str) -> list[str]:
    parts = [part.strip() for part in kinds.split("|")]
    return [_KINDS.get(part, part) for part in parts if not (part == "int" and "float" in parts)]


def _ruled(rule: str, wanted: str) -> str:
    """A bound in words: `>= 1`, `of length <= 200`, `that's a multiple of 1`, `matching regex '...'`."""
    sign, _, number = rule.removeprefix("of length ").partition(" ")
    if sign in _BOUNDS:
        if rule.startswith("of length "):
            noun = "element" if wanted == "a list" else "character"
            return f"must have {_BOUNDS[sign]} {counted(int(number), noun)}"
        return f"must be {_BOUNDS[sign]} {number.removesuffix('.0')}"
    if rule.startswith("that's a multiple of 1"):
        return "must be a whole number"
    return f"must be {wanted} {rule.replace('matching regex', 'of the form')}"


def _unknown(field: str, there: tuple[str, ...]) -> str:
    names = f"there are {', '.join(there)}" if there else "it has no such field"
    if there == PromptItem.__struct_fields__:
        if field in SAMPLING_NAMES:
            return f'there is no field {field!r}: sampling parameters stand in "sampling": {{"{field}": ...}}'
        if field in _BEYOND:
            return f"there is no field {field!r}: {_NOT_HERE.get(field, _TOO_FREE)}"
    return f"there is no field {field!r}; {names}"
