"""From bytes to bodies: what the API takes, strictly, and where it refuses. Pure.

A body that is no JSON, or no request, is refused as a whole. Among many prompts, one that cannot be read is that
prompt's error, as `prompts.prepare` has it for those that cannot be asked.
"""

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
    except UnicodeDecodeError as error:
        raise ApiError("invalid_json", f"the body is not UTF-8: {error.reason} at byte {error.start}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise ApiError("invalid_json", f"the body is not JSON: {syntax_problem(error)}") from None


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
