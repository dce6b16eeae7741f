"""Turn whatever a user hands in into a request. Pure; what cannot become one is that item's failure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.intake import Intake
from batchwork.core.policy import check_at_least
from batchwork.core.request import DEFAULT_MAX_TOKENS, Message, Request, Schema
from batchwork.core.sampling import sampling_problem

_ROLES = ("user", "assistant", "system")
_KINDS: dict[str, type] = {
    "model": str,
    "system": str,
    "max_tokens": int,
    "sampling": dict,
    "extra_body": dict,
    "label": str,
}
_A = {str: "a string", int: "a whole number", dict: "a dict"}
EMPTY = "the prompt is empty: there is nothing to ask"
CONTENT = "content must be a string or a list of blocks with a 'type'"
_PANDAS = (".tolist()", ".to_dict('records')")
_TABLES = {"to_dicts": (".to_list()", ".to_dicts()"), "to_pylist": (".to_pylist()", ".to_pylist()")}  # polars, pyarrow
_OF_ARROW = ("to_batches", "read_next_batch")  # what datasets and readers have that have no columns at hand
_KEYS = ("prompt", "messages", "model", "system", "max_tokens", "sampling", "extra_body", "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What every request of a run has unless it says otherwise."""

    model: str
    system: str | None = None
    max_tokens: int = DEFAULT_MAX_TOKENS
    schema: Schema | None = None
    sampling: dict[str, Any] | None = None
    extra_body: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        check_at_least(1, max_tokens=self.max_tokens)
        _check_own({"system": self.system, "sampling": self.sampling, "extra_body": self.extra_body})
        _check_sampling(self.sampling)


def is_table(given: object) -> bool:
    """Whether it has columns: who goes through a data frame meets their names, or batches of rows, and never a row.

    Its class is asked: a lazy frame works out its columns, with a warning, when it is asked itself.
    """
    kind = type(given)
    # Where these are methods, as in the results of a database, going through it gives rows.
    has_columns = any(not callable(getattr(kind, name, len)) for name in ("columns", "column_names"))
    return has_columns or any(hasattr(kind, name) for name in _OF_ARROW) or getattr(given, "ndim", 1) != 1


def refuse_table(name: str, given: object, *, by_rows: bool = False) -> None:
    """Refuse a table by a ConfigError; `by_rows`: the door takes one with `prompt=`."""
    if not is_table(given):
        return
    column, rows = next((words for has, words in _TABLES.items() if hasattr(given, has)), _PANDAS)
    if by_rows:
        remedy = (
            'Say what is asked about each row, with its columns in braces: prompt="Summarise: {text}". Or hand over one'
            f" of its columns, for example df['prompt']{column}"
        )
    else:
        remedy = (
            f"Hand over one of its columns, for example df['prompt']{column}, or make a prompt of every row:"
            f" [f\"Summarise: {{row['text']}}\" for row in df{rows}]"
        )
    raise ConfigError(f"{name} is a table ({type(given).__name__}), not a list. {remedy}")


def refuse_one(prompts: object, *, by_rows: bool = False) -> None:
    """Refuse, by a ConfigError, what is one prompt or a table where many prompts are asked for."""
    refuse_table("prompts", prompts, by_rows=by_rows)
    if isinstance(prompts, str | bytes | Mapping) or not isinstance(prompts, Iterable):
        raise ConfigError(
            f"prompts must be an iterable of prompts, not one {type(prompts).__name__}; wrap it in a list"
        )


def intakes(prompts: Iterable[object], defaults: Defaults) -> Iterator[Intake]:
    """One intake per prompt, lazily."""
    for prompt in prompts:
        yield intake(prompt, defaults)


def intake(prompt: object, defaults: Defaults, columns: dict[str, Any] | None = None) -> Intake:
    """A request with its fingerprint, or the reason why there is none."""
    try:
        request = prepare(prompt, defaults)
        if request.label is not None:
            request.label.encode()
        return Intake(fingerprint=request.fingerprint, request=request, columns=columns)
    except UnicodeEncodeError as error:
        return Intake.bad(surrogate_problem(error), columns)
    except (ConfigError, TypeError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        return Intake.bad(str(error), columns)


def prepare(prompt: object, defaults: Defaults) -> Request:
    """A request from a string, a list of messages, a dictionary or a request; a ConfigError for anything else."""
    request = _request_of(prompt, defaults)
    if _is_blank(request.messages[-1].content):
        raise ConfigError(EMPTY)
    _check_sampling(request.sampling)
    return request


def _check_sampling(sampling: dict[str, Any] | None) -> None:
    if sampling and (problem := sampling_problem(sampling)) is not None:
        raise ConfigError("{} {}".format(*problem))


def _request_of(prompt: object, defaults: Defaults) -> Request:
    if isinstance(prompt, str):  # one of another kind of string, as numpy has them, becomes a plain one
        return _plain((Message("user", prompt if type(prompt) is str else str.__str__(prompt)),), defaults)
    if isinstance(prompt, Request):
        return _filled_in(prompt, defaults)
    if isinstance(prompt, Mapping):
        return _from_mapping(prompt, defaults)
    if isinstance(prompt, Sequence) and not isinstance(prompt, bytes | bytearray):
        return _plain(_messages(prompt), defaults)
    raise ConfigError(f"a prompt is a string, a list of messages, a dict or a Request, not {type(prompt).__name__}")


def _is_blank(content: str | list[dict[str, Any]]) -> bool:
    """Whether a message says nothing: no text but white space, and nothing else."""
    if isinstance(content, str):
        return not content or content.isspace()
    return all(block.get("type") == "text" and not str(block.get("text") or "").strip() for block in content)


def _plain(messages: tuple[Message, ...], defaults: Defaults) -> Request:
    return Request(
        messages=messages,
        model=defaults.model,
        system=defaults.system,
        max_tokens=defaults.max_tokens,
        schema=defaults.schema,
        sampling=defaults.sampling,
        extra_body=defaults.extra_body,
    )


def _request(messages: tuple[Message, ...], defaults: Defaults, own: dict[str, Any]) -> Request:
    return Request(
        messages=messages,
        model=own.get("model") or defaults.model,
        system=own.get("system", defaults.system),
        max_tokens=defaults.max_tokens if (most := own.get("max_tokens")) is None else most,
        schema=defaults.schema,
        sampling=own.get("sampling", defaults.sampling),
        extra_body=own.get("extra_body", defaults.extra_body),
        label=own.get("label"),
    )


def _filled_in(request: Request, defaults: Defaults) -> Request:
    return msgspec.structs.replace(
        request,
        model=request.model or defaults.model,
        system=request.system if request.system is not None else defaults.system,
        max_tokens=request.max_tokens if request.max_tokens is not None else defaults.max_tokens,
        schema=request.schema if request.schema is not None else defaults.schema,
        sampling=request.sampling if request.sampling is not None else defaults.sampling,
        extra_body=request.extra_body if request.extra_body is not None else defaults.extra_body,
    )


def _check_own(own: Mapping[Any, Any]) -> None:
    for name, kind in _KINDS.items():
        if not isinstance(value := own.get(name), kind | None):
            raise ConfigError(f"{name!r} must be {_A[kind]}, not {type(value).__name__}")


def _from_mapping(prompt: Mapping[Any, Any], defaults: Defaults) -> Request:
    unknown = [str(key) for key in prompt if key not in _KEYS]
    if unknown:
        raise ConfigError(f"unknown key {unknown[0]!r} in a request; there are {', '.join(_KEYS)}")
    _check_own(prompt)
    if ("prompt" in prompt) == ("messages" in prompt):
        raise ConfigError("a request as a dict has either 'prompt' or 'messages'")
    if "messages" in prompt:
        return _request(_messages(prompt["messages"]), defaults, dict(prompt))
    if not isinstance(prompt["prompt"], str):
        raise ConfigError(f"'prompt' must be a string, not {type(prompt['prompt']).__name__}")
    return _request((Message("user", prompt["prompt"]),), defaults, dict(prompt))


def _messages(turns: object) -> tuple[Message, ...]:
    if not isinstance(turns, Sequence) or isinstance(turns, str | bytes):
        raise ConfigError(f"'messages' must be a list of messages, not {type(turns).__name__}")
    messages = []
    for number, turn in enumerate(turns):
        if isinstance(turn, Message):
            messages.append(turn)
            continue
        if not isinstance(turn, Mapping) or set(turn) != {"role", "content"}:
            raise ConfigError(f"message {number} must be a dict with 'role' and 'content'")
        if turn["role"] not in _ROLES:
            raise ConfigError(f"message {number} has the role {turn['role']!r}; there are {', '.join(_ROLES)}")
        if not is_content(turn["content"]):
            raise ConfigError(f"message {number}: {CONTENT}")
        messages.append(Message(turn["role"], turn["content"]))
    if not messages:
        raise ConfigError("a request needs at least one message")
    return tuple(messages)


def is_content(content: object) -> bool:
    """Whether a message can have this content."""
    if isinstance(content, list):
        return all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in content)
    return isinstance(content, str)


def surrogate_problem(error: UnicodeEncodeError) -> str:
    """Why a text cannot be sent to anybody."""
    return f"the text holds a lone surrogate at character {error.start}, which is not valid Unicode"
