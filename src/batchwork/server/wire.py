"""From bytes to bodies: what the API takes, strictly, and where it refuses. Pure.

A body that is no JSON, or no request, is refused as a whole. Among many prompts, one that cannot be read is that
prompt's error, as `prompts.prepare` has it for those that cannot be asked.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from batchwork.prompts import Answer, PreparedPrompt, PromptItem, Summary
from batchwork.prompts.item import UnusableItem, explained, item_in
from batchwork.schema import syntax_problem, values_at_most
from batchwork.server.api import ApiError
from batchwork.server.config import MAX_PROMPTS

T = TypeVar("T")
_BLANKS = b" \t\r\n"
_SHORT = 1 << 16  # bytes that are read once more to say what is wrong with them
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
WholeSize = Annotated[int, Meta(ge=1, le=MAX_PROMPTS)] | Annotated[float, Meta(ge=1, le=MAX_PROMPTS, multiple_of=1)]


class PromptsBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Many prompts, each still as it came, and how many of them may be in flight at a time."""

    prompts: Annotated[list[msgspec.Raw], Meta(min_length=1, max_length=MAX_PROMPTS)]
    batch_size: WholeSize | None = None


class PromptsAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answers in request order, and their statistics."""

    results: list[Answer]
    summary: Summary


class StreamedAnswer(Answer, frozen=True, kw_only=True):
    """One line of a stream: an answer and the index of its prompt."""

    index: int


class StreamedSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The last line of a stream. Without it the stream was cut off."""

    summary: Summary


_many_prompts = msgspec.json.Decoder(PromptsBody)


def _decoded(decode: Callable[[bytes], T], body: bytes) -> T:
    """What the body holds, or an ApiError: it is not JSON."""
    try:
        return decode(body)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError("invalid_json", _why_not_json(body, error)) from None


def _why_not_json(body: bytes, error: Exception) -> str:
    """What is wrong, and at which byte: the decoder that is fast does not always know."""
    if not body.strip(_BLANKS):
        return "the body is empty: send a JSON object"
    if body.startswith(BOM_UTF8):
        return "the body is not JSON: it begins with a byte order mark; leave that out"
    try:
        text = body.decode()
    except UnicodeDecodeError as wrong:
        return f"the body is not UTF-8: {wrong.reason} at byte {wrong.start}"
    if len(body) <= _SHORT and not isinstance(error, RecursionError):
        try:
            json.loads(text)
        except json.JSONDecodeError as wrong:
            # The decoder names the end of a wrong word, not its start.
            if "invalid character" in str(error) or "trailing characters" in str(error):
                return f"the body is not JSON: invalid character at byte {len(text[: wrong.pos].encode())}"
        except RecursionError:
            pass
        else:
            lone = next((found for found in _ESCAPE.finditer(body) if found["lone"]), None)
            if lone is not None:
                return f"the body is not Unicode: half of a character ({lone[0].decode()}) at byte {lone.start()}"
    return f"the body is not JSON: {syntax_problem(error)}"


def _item(body: bytes, most_values: int) -> PromptItem:
    if len(body) > most_values and values_at_most(body) > most_values:
        raise UnusableItem(f"one prompt has more than {most_values} JSON values")
    return _decoded(item_in, body)


def one_decoded(body: bytes, most_values: int) -> PromptItem:
    """The prompt that is the whole body. Raises ApiError where it is none, or too much."""
    try:
        return _item(body, most_values)
    except UnusableItem as error:
        raise ApiError(error.problem.code, error.problem.message, where=error.problem.where or None) from None


def many_decoded(body: bytes) -> PromptsBody:
    """A request with many prompts, which are still to be decoded one by one. Raises ApiError where it is none."""
    try:
        return _decoded(_many_prompts.decode, body)
    except msgspec.ValidationError as error:
        message, where = explained(error, PromptsBody.__struct_fields__)
        if where == "/prompts" and "element" in message:
            raise ApiError("prompt_count", f"a request has 1 to {MAX_PROMPTS} prompts", where=where) from None
        raise ApiError("invalid_request", message, where=where or None) from None


def each_decoded(body: PromptsBody, most_values: int) -> Iterator[PromptItem | PreparedPrompt]:
    """The prompts of a request, one by one; one that cannot be read has its problem. ApiError: it is not JSON."""
    for index, raw in enumerate(body.prompts):
        try:
            yield _item(bytes(raw), most_values)
        except UnusableItem as error:
            yield PreparedPrompt(index=index, id=error.id, problem=error.problem)
        except ApiError as error:
            message = str(error).replace("the body", f"prompt {index}", 1)
            raise ApiError(error.code, f"{message} of it", where=f"/prompts/{index}") from None
