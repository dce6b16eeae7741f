"""The first phase: what a caller asks becomes a request, or the reason why it cannot.

Pure. Every prompt of a request goes through it before the first call is sent. A schema is checked once.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.prompt import CONTENT, Defaults, is_content, prepare, surrogate_problem
from batchwork.core.request import DEFAULT_MAX_TOKENS, Message, Request, Schema
from batchwork.core.sampling import sampling_problem
from batchwork.core.weighed import WeighedCache
from batchwork.core.words import or_list
from batchwork.prompts.field_path import FieldPath, PathSyntaxError, parse_path
from batchwork.prompts.item import Problem, PromptItem, ResponseFormat, SchemaBody, Turn, UnusableItem, item_of
from batchwork.schema import DEFAULT_LIMITS, Limits, SchemaError, checker_of, keep_wire_schema, weigh, wire_schema_of
from batchwork.schema.dialects import ANY_SERVER, DIALECTS
from batchwork.schema.wire import Provider

_MAX_DEPTH = 64
_KNOWN_BYTES = 4 * 2**20
_LARGE_US = 4_000.0  # to check and compile; what takes longer is better done by another process
_known: WeighedCache[tuple[bytes, str, str | None], Schema | SchemaError] = WeighedCache(_KNOWN_BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedPrompt:
    """A prompt after the first phase. Exactly one of `request` and `problem` is there."""

    index: int
    id: str | None = None
    request: Request | None = None
    path: FieldPath | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptDefaults:
    """What a prompt has unless it says otherwise; `models` are those it may name, with the provider behind each."""

    model: str
    models: Mapping[str, str] = field(default_factory=dict)
    system: str | None = None
    max_tokens: int = DEFAULT_MAX_TOKENS
    limits: Limits = DEFAULT_LIMITS  # of the schemas

    def __post_init__(self) -> None:
        Defaults(model=self.model, max_tokens=self.max_tokens)


def prepare_prompt_request(item: object, defaults: PromptDefaults, *, index: int = 0) -> PreparedPrompt:
    """One prompt, ready to be sent, or the reason why not.

    `item` is a `PromptItem`, a dict of the same fields, or the prompt's text.
    """
    own_id = None
    try:
        prompt = item_of(item)
        own_id = prompt.id
        path = None if prompt.extract_field_path is None else parse_path(prompt.extract_field_path)
        return PreparedPrompt(index=index, id=own_id, request=_request_of(prompt, defaults), path=path)
    except UnusableItem as unusable:
        problem, own_id = unusable.problem, unusable.id or own_id
    except PathSyntaxError as error:
        problem = Problem(code="invalid_path", message=str(error), where="/extract_field_path")
    except UnicodeEncodeError as error:
        problem = Problem(code="invalid_request", message=surrogate_problem(error))
    except ConfigError as error:
        problem = Problem(code="invalid_request", message=str(error))
    return PreparedPrompt(index=index, id=own_id, problem=problem)


def prepare_all(items: Sequence[object], defaults: PromptDefaults) -> list[PreparedPrompt]:
    """Every prompt, one after the other, in order."""
    ids = RequestIds()
    return [ids.checked(prepare_prompt_request(item, defaults, index=index)) for index, item in enumerate(items)]


class RequestIds:
    """The ids of one request's prompts: one that stands there already is the problem of the prompt that repeats it."""

    def __init__(self) -> None:
        self._first: dict[str, int] = {}

    def checked(self, prompt: PreparedPrompt) -> PreparedPrompt:
        """The prompt, or its problem."""
        if prompt.id is None or (first := self._first.setdefault(prompt.id, prompt.index)) == prompt.index:
            return prompt
        message = f"prompts {first} and {prompt.index} have the same id {prompt.id!r}; this one was not asked"
        problem = Problem(code="duplicate_id", message=message, where="/id")
        return PreparedPrompt(index=prompt.index, id=prompt.id, problem=problem)


def _request_of(prompt: PromptItem, defaults: PromptDefaults) -> Request:
    model = prompt.model or defaults.model
    if model != defaults.model and model not in defaults.models:
        raise UnusableItem(_not_served(model, {defaults.model, *defaults.models}), "/model", code="unknown_model")
    own = Defaults(
        model=model,
        system=prompt.system if prompt.system is not None else defaults.system,
        max_tokens=int(prompt.max_tokens or defaults.max_tokens),
        schema=_schema_of(prompt.response_format, defaults.models.get(model), defaults.limits),
        sampling=_sampling_of(prompt),
    )
    request = prepare(prompt.prompt if prompt.messages is None else _messages(prompt.messages), own)
    _refuse_foreign(request)
    return request


def _not_served(model: str, served: set[str]) -> str:
    """Names what is served; with the provider, where that is all that is missing or too much."""
    bare = model.rpartition(":")[2]
    meant = sorted(name for name in served if name.rpartition(":")[2] == bare)
    if meant:
        return f"the model {model!r} is not served here; did you mean {or_list(meant)}?"
    return f"the model {model!r} is not served here; there is {', '.join(sorted(served))}"


def _sampling_of(prompt: PromptItem) -> dict[str, Any] | None:
    if prompt.temperature is None:
        sampling = prompt.sampling
    elif "temperature" in (prompt.sampling or ()):
        raise UnusableItem("temperature is given twice", "/sampling/temperature")
    else:
        sampling = {"temperature": prompt.temperature, **(prompt.sampling or {})}
    if sampling and too_deep(sampling):
        raise UnusableItem(f"nested more than {_MAX_DEPTH} levels deep", "/sampling")
    if sampling and (problem := sampling_problem(sampling)) is not None:
        name, message = problem
        raise UnusableItem(f"{name} {message}", f"/sampling/{name}")
    return sampling or None


def _schema_of(response_format: ResponseFormat | None, provider: str | None, limits: Limits) -> Schema | None:
    if response_format is None:
        return None
    named = response_format.json_schema
    try:
        return usable_schema(named.schema, named.name, provider, limits)
    except SchemaError as error:
        place = f"/response_format/json_schema/schema{error.place}"
        raise UnusableItem(str(error), place, code="invalid_schema") from None


def _messages(turns: list[Turn]) -> list[Message]:
    for number, turn in enumerate(turns):
        if not is_content(turn.content):
            raise UnusableItem(CONTENT, f"/messages/{number}/content")
        if not isinstance(turn.content, str) and too_deep(turn.content):
            raise UnusableItem(f"nested more than {_MAX_DEPTH} levels deep", f"/messages/{number}/content")
    return [Message(turn.role, turn.content) for turn in turns]


def _refuse_foreign(request: Request) -> None:
    """No provider takes half a character, or what is no JSON; from JSON neither can come, from Python both can."""
    if request.sampling:
        try:
            msgspec.json.encode(request.sampling)
        except TypeError as error:
            raise UnusableItem(f"not JSON: {error}", "/sampling") from None
    for content in (request.system, *(message.content for message in request.messages)):
        if isinstance(content, list):
            msgspec.json.encode(content)
        elif content is not None and not content.isascii():
            content.encode()


def too_deep(value: object, most: int = _MAX_DEPTH) -> bool:
    """Whether lists and objects stand in each other more than `most` times."""
    level: list[object] = [value]
    for _ in range(most + 1):
        inner: list[object] = []
        for held in level:
            if isinstance(held, dict):
                inner += held.values()
            elif isinstance(held, list):
                inner += held
        if not inner:
            return False
        level = inner
    return True


def usable_schema(body: SchemaBody, name: str, provider: str | None = None, limits: Limits = DEFAULT_LIMITS) -> Schema:
    """The schema, known to be usable and sendable to the provider. Raises SchemaError where it is not."""
    encoded = _encoded(body, limits)
    found = _known.get((encoded, name, provider))
    if found is None:
        found = Schema.of(msgspec.msgpack.decode(encoded), name=name)
        try:
            compiled_schema(found, provider, limits)
        except SchemaError as error:
            found = error
        _known.put((encoded, name, provider), found, len(encoded))
    if isinstance(found, SchemaError):
        raise SchemaError(found.place, found.problem)
    return found


def compiled_schema(schema: Schema, provider: str | None, limits: Limits) -> dict[str, Any] | None:
    """The schema as the provider takes it; None where that is all of JSON Schema. Raises SchemaError."""
    checker_of(schema, limits, copy=False)
    if provider == ANY_SERVER:
        with suppress(SchemaError):  # it goes out as it is
            return wire_schema_of("openai", schema)
    return wire_schema_of(cast("Provider", provider), schema) if provider in DIALECTS else None


def is_large(body: SchemaBody, name: str, provider: str | None, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether the schema is not known yet, and so large that another process should check it first."""
    return is_long_work(body, limits) and _known.get((_encoded(body, limits), name, provider)) is None


def is_long_work(body: SchemaBody, limits: Limits = DEFAULT_LIMITS) -> bool:
    """Whether checking it takes longer than a turn of an event loop should. SchemaError: it is too large at all."""
    return weigh(body, limits).preparing_us > _LARGE_US


def keep_schema(
    body: SchemaBody,
    name: str,
    provider: str | None,
    *,
    compiled: dict[str, Any] | None = None,
    problem: SchemaError | None = None,
) -> None:
    """Remember what another process has found out: the schema as the provider takes it, or its problem."""
    encoded = _encoded(body, DEFAULT_LIMITS)
    schema = Schema.of(msgspec.msgpack.decode(encoded), name=name)
    if compiled is not None:
        dialect = "openai" if provider == ANY_SERVER else provider
        keep_wire_schema(cast("Provider", dialect), schema, compiled, weight=4 * len(encoded))
    _known.put((encoded, name, provider), problem or schema, len(encoded))


def _encoded(body: SchemaBody, limits: Limits) -> bytes:
    try:
        return msgspec.msgpack.encode(body)
    except (RecursionError, OverflowError, UnicodeEncodeError, TypeError, ValueError) as error:
        weigh(body, limits)  # its own words for what is wrong, when it has any
        raise SchemaError("", f"cannot be read: {error}") from None
