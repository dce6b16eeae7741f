r"""Take one field out of an answer: `customer.name`, `items[0].total`, `items[*].total`, `a\.b`, `["a.b"]`. Pure.

A path is steps: a key after a dot, an index in brackets (from the end when negative), `[*]` for every element of a
list. A backslash takes the meaning from the character after it. A number after a dot is an index where it meets a list.
Every `[*]` gives a list, so that two of them give a list of lists and nothing loses its place.
"""

from dataclasses import dataclass
from enum import Enum
from json import JSONDecodeError, JSONDecoder
from typing import Any

from batchwork.core.errors import BatchworkError, ConfigError

MAX_CHARACTERS = 1000
MAX_STEPS = 100
_SPECIAL = ".[]\\*"
_KEY = r"([^.\[\]\\]|\\[.\[\]\\*])+"
_BRACKETS = r'\[(\*|-?[0-9]{1,9}|"([^"\\\x00-\x1f]|\\(["\\/bfnrt]|u[0-9a-fA-F]{4}))*")\]'
# For those who describe paths to others; the parser below is what decides.
PATTERN = rf"^({_KEY}|{_BRACKETS})(\.{_KEY}|{_BRACKETS})*$"
_read_string = JSONDecoder(strict=True).raw_decode


class PathSyntaxError(ConfigError):
    """The path itself is wrong; the message says at which character."""


class PathNotFound(BatchworkError):
    """The answer does not have this path; `reached` is how far it goes."""

    def __init__(self, path: str, *, reached: str, reason: str) -> None:
        super().__init__(f"extract_field_path {path!r} stopped at {reached or 'the root'}: {reason}")
        self.path = path
        self.reached = reached
        self.reason = reason


class _Missing(Exception):
    """The step at which an answer ends, and the indexes of the elements that lead there, the innermost first."""

    def __init__(self, at: int, reason: str) -> None:
        self.at = at
        self.reason = reason
        self.indexes: list[int] = []


class Every(Enum):
    """The step `[*]`."""

    EVERY = "[*]"


EVERY = Every.EVERY
Step = str | int | Every


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A path that was understood."""

    text: str
    steps: tuple[Step, ...]

    def extract(self, answer: Any) -> Any:
        """The value at the path. Raises PathNotFound where there is none."""
        try:
            return self._follow(answer, 0)
        except _Missing as missing:
            raise PathNotFound(self.text, reached=self._reached(missing), reason=missing.reason) from None

    def _follow(self, value: Any, first: int) -> Any:
        """The value at the steps from `first` on."""
        for at in range(first, len(self.steps)):
            step = self.steps[at]
            if isinstance(step, Every):
                if not isinstance(value, list):
                    raise _Missing(at, f"[*] needs a list, found {kind_of(value)}")
                return self._follow_each(value, at + 1) if at + 1 < len(self.steps) else list(value)
            value = _taken(value, step, at)
        return value

    def _follow_each(self, parts: list[Any], first: int) -> list[Any]:
        found = []
        for index, part in enumerate(parts):
            try:
                found.append(self._follow(part, first))
            except _Missing as missing:
                missing.indexes.append(index)
                raise
        return found

    def _reached(self, missing: _Missing) -> str:
        """The part of the path that the answer has, with the index of the element for every `[*]`."""
        reached = ""
        for step in self.steps[: missing.at]:
            concrete = missing.indexes.pop() if isinstance(step, Every) else step
            reached += written(concrete) if isinstance(concrete, int) or not reached else f".{written(concrete)}"
        return reached


def _taken(value: Any, step: str | int, at: int) -> Any:
    if isinstance(value, list) and (index := _index(step)) is not None:
        if -len(value) <= index < len(value):
            return value[index]
        raise _Missing(at, f"no index {index} in a list of {len(value)}")
    if isinstance(step, int):
        raise _Missing(at, f"index [{step}] needs a list, found {kind_of(value)}")
    if not isinstance(value, dict):
        raise _Missing(at, f"key {step!r} needs an object, found {kind_of(value)}")
    if step not in value:
        raise _Missing(at, f"no key {step!r}; {_keys(value)}")
    return value[step]


def parse_path(text: str) -> FieldPath:
    """A path from its text. Raises PathSyntaxError where it is none."""
    if not text:
        raise PathSyntaxError("extract_field_path is empty")
    if len(text) > MAX_CHARACTERS:
        raise PathSyntaxError(f"extract_field_path has more than {MAX_CHARACTERS} characters")
    steps: list[Step] = []
    at = 0
    while at < len(text):
        if text[at] == "[":
            step, at = _in_brackets(text, at)
        else:
            if text[at] == "." and steps:
                at += 1
            elif steps:
                raise _wrong(text, at, "expected '.' or '['")
            step, at = _key(text, at)
        steps.append(step)
    if len(steps) > MAX_STEPS:
        raise PathSyntaxError(f"extract_field_path has more than {MAX_STEPS} steps")
    return FieldPath(text, tuple(steps))


def written(step: Step) -> str:
    """A step as it stands in a path; `parse_path` of it gives it back."""
    if isinstance(step, Every):
        return step.value
    if isinstance(step, int):
        return f"[{step}]"
    if not step:
        return '[""]'
    return "".join(f"\\{c}" if c in _SPECIAL else c for c in step)


def _key(text: str, at: int) -> tuple[Step, int]:
    start, key, bare = at, [], True
    while at < len(text) and text[at] not in ".[":
        if text[at] == "]":
            raise _wrong(text, at, "a ']' without its '['; write '\\]' for the character")
        if text[at] == "\\":
            at += 1
            bare = False
            if at == len(text) or text[at] not in _SPECIAL:
                raise _wrong(text, at, "a backslash stands before one of . [ ] \\ *")
        key.append(text[at])
        at += 1
    if not key:
        raise _wrong(text, start, 'a key is missing here; an empty key is written [""]')
    if bare and key == ["*"]:
        return EVERY, at
    return "".join(key), at


def _in_brackets(text: str, start: int) -> tuple[Step, int]:
    at = start + 1
    if text[at : at + 1] == '"':
        try:
            key, end = _read_string(text, at)
        except JSONDecodeError as error:
            raise _wrong(text, error.pos, "a quoted key must be a JSON string") from None
        if text[end : end + 1] != "]":
            raise _wrong(text, end, "expected ']'")
        return str(key), end + 1
    end = text.find("]", at)
    if end < 0:
        raise _wrong(text, start, "a '[' without its ']'")
    inside = text[at:end]
    if inside == "*":
        return EVERY, end + 1
    digits = inside.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 9):
        raise _wrong(text, at, 'in brackets stands an index, * or a key in "quotes"')
    return int(inside), end + 1


def _wrong(text: str, at: int, reason: str) -> PathSyntaxError:
    return PathSyntaxError(f"extract_field_path {text!r}, character {at}: {reason}")


def _index(step: str | int) -> int | None:
    if isinstance(step, int):
        return step
    return int(step) if step.isascii() and step.isdigit() and len(step) <= 9 else None


def _keys(value: dict[Any, Any]) -> str:
    if not value:
        return "the object is empty"
    shown = ", ".join(repr(str(key)[:40]) for key in list(value)[:8])
    return f"there are {shown}" + (" and more" if len(value) > 8 else "")


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    names = {type(None): "null", bool: "true or false", str: "text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")
