"""The JSON value in what a model said.

The whole answer, or the one value in a code fence, or the one object or list in the prose around it. Two values are
one too many: nobody knows which was meant. NaN and Infinity are not JSON. No regular expressions and a bounded number
of attempts, because the text is as untrusted as the schema.
"""

import json
import re
from typing import Any

import msgspec

_FENCE = "```"
_MOST_ATTEMPTS = 64
_MOST_CHARACTERS = 500_000  # read in vain, all attempts together
_BYTE = re.compile(r"(?:JSON is malformed: )?(.*) \(byte (\d+)\)", re.DOTALL)
_UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError)
_scanner = json.JSONDecoder()
_decode = msgspec.json.Decoder().decode


class NoJson(ValueError):
    """There is no JSON value in the text, or there are several."""


def json_in(text: str) -> Any:
    """The JSON value in the text; a NoJson says why there is none."""
    try:
        return _decode(text)
    except _UNREADABLE as error:
        complaint = syntax_problem(error)
    if not text.strip():
        raise NoJson("the answer is empty")
    fenced = _fenced(text)
    if len(fenced) == 1:
        return fenced[0]
    found = fenced or _in_prose(text)
    if len(found) == 1:
        return found[0]
    if found:
        raise NoJson(f"the answer has {len(found)} JSON values instead of one")
    raise NoJson(f"the answer is not JSON: {complaint}")


def syntax_problem(error: Exception) -> str:
    """Why a text is not JSON, in plain words; `error` is a decoder's."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if str(error) == "Input data was truncated":
        return "it ends too early, or half of a character is missing"
    found = _BYTE.fullmatch(str(error))
    return str(error) if found is None else f"{found[1]} at byte {found[2]}"


def whole_json_in(text: str) -> Any:
    """The object or list in a text that was cut off, where the cut has not touched it; a NoJson where it may have.

    It is the first one in the text, and nothing after it begins another. A number or a string looks whole when cut.
    """
    start = min((place for mark in "{[" if (place := text.find(mark)) >= 0), default=-1)
    if start < 0:
        raise NoJson("the answer was cut off")
    try:
        _, end = _scanner.raw_decode(text, start)
        value = _decode(text[start:end])
    except _UNREADABLE as error:
        raise NoJson("the answer was cut off") from error
    if "{" in text[end:] or "[" in text[end:]:
        raise NoJson("the answer was cut off after its first JSON value")
    return value


def whole_members(text: str) -> dict[str, Any]:
    """The whole members of the first object in a text, where that is cut off or broken; of a broken list its elements.

    Empty where there is no object, or where nothing is wrong with it.
    """
    start = text.find("{")
    members: dict[str, Any] = {}
    if start < 0 or _value_at(text, start) is not None:
        return members
    at = start + 1
    while (name := _value_at(text, at)) is not None and isinstance(name[0], str) and name[0] not in members:
        key, at = name
        if not text.startswith(":", at):
            break
        value = _value_at(text, at + 1)
        if value is None:
            at = _skipped(text, at + 1)
            if text.startswith("[", at):
                members[key] = _elements(text, at + 1)
            break
        members[key], at = value
        if not text.startswith(",", at):
            break
        at += 1
    return members


def _elements(text: str, at: int) -> list[Any]:
    """The elements of a list up to the first one that is not whole."""
    found = []
    while (element := _value_at(text, at)) is not None:
        found.append(element[0])
        if not text.startswith(",", element[1]):
            break
        at = element[1] + 1
    return found


def _value_at(text: str, at: int) -> tuple[Any, int] | None:
    """The JSON value at a place with where the text goes on behind it; None where there is none that is whole."""
    start = _skipped(text, at)
    try:
        _, end = _scanner.raw_decode(text, start)
        value = _decode(text[start:end])
    except _UNREADABLE:
        return None
    behind = _skipped(text, end)
    if behind == len(text) and isinstance(value, int | float):
        return None  # a number looks whole when it is cut
    return value, behind


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _fenced(text: str) -> list[Any]:
    """The values of the code fences whose content is JSON as a whole."""
    pieces = text.split(_FENCE, 2 * _MOST_ATTEMPTS)
    found = []
    for piece in pieces[1::2]:
        label, _, content = piece.partition("\n")
        body = content if label.strip().isalnum() or not label.strip() else piece
        try:
            found.append(_decode(body))
        except _UNREADABLE:
            continue
    return found


def _in_prose(text: str) -> list[Any]:
    """The objects and lists in the text that are not inside one another."""
    found = []
    at = in_vain = 0
    for _ in range(_MOST_ATTEMPTS):
        start = min((place for mark in "{[" if (place := text.find(mark, at)) >= 0), default=-1)
        if start < 0 or in_vain > _MOST_CHARACTERS:
            break
        try:
            _, end = _scanner.raw_decode(text, start)
            found.append(_decode(text[start:end]))  # the stricter of the two has the last word
        except _UNREADABLE as error:
            end = start + 1
            in_vain += getattr(error, "pos", end) - start
        at = end
    return found
