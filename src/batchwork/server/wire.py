"""From bytes to bodies: what the API takes, strictly, and the words for what it does not take. Pure."""

import re
from collections.abc import Iterator
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from batchwork.prompts import Answer, PromptItem, Summary
from batchwork.prompts.prepare import EITHER
from batchwork.schema import values_at_most
from batchwork.server.api import ApiError
from batchwork.server.config import MAX_PROMPTS

T = TypeVar("T")
_INDEX = re.compile(r"\[([0-9]+|\*)\]")
_PLACE = re.compile(r"^(.*) - at `\$?(.*)`$", re.DOTALL)
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


_one_prompt = msgspec.json.Decoder(PromptItem)
_many_prompts = msgspec.json.Decoder(PromptsBody)


def _decoded(decoder: msgspec.json.Decoder[T], body: bytes | msgspec.Raw, place: str = "") -> T:
    """The body, or an ApiError about `place`: it is not JSON (400), or not what the decoder expects (422)."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        message, where = _split(str(error))
        where = place + (where or "").rstrip("/") if place else where
        code = "prompt_count" if where == "/prompts" and "length" in message else "invalid_request"
        raise ApiError(code, message, where=where) from None
    except msgspec.DecodeError as error:
        raise ApiError("invalid_json", f"the body is not JSON: {error}") from None
    except UnicodeDecodeError as error:
        raise ApiError("invalid_json", f"the body is not UTF-8: {error.reason} at byte {error.start}") from None
    except RecursionError:
        raise ApiError("invalid_json", "the body is nested too deeply") from None


def one_decoded(body: bytes | msgspec.Raw, most_values: int, index: int | None = None) -> PromptItem:
    """One prompt: the whole body, or with `index` a part of it. Raises ApiError where it is none, or too much."""
    place = "" if index is None else f"/prompts/{index}"
    if len(raw := bytes(body)) > most_values and values_at_most(raw) > most_values:
        raise ApiError("invalid_request", f"one prompt has more than {most_values} JSON values", where=place or None)
    item = _decoded(_one_prompt, raw, place)
    if not item.is_whole:
        raise ApiError("invalid_request", EITHER, where=place or None)
    return item


def many_decoded(body: bytes) -> PromptsBody:
    """A request with many prompts, which are still to be decoded one by one. Raises ApiError where it is none."""
    return _decoded(_many_prompts, body)


def each_decoded(body: PromptsBody, most_values: int) -> Iterator[PromptItem]:
    """The prompts of a request, one by one. Raises ApiError where one is none, or has the id of another."""
    seen: dict[str, int] = {}
    for index, raw in enumerate(body.prompts):
        item = one_decoded(raw, most_values, index)
        if item.id is not None and (first := seen.setdefault(item.id, index)) != index:
            message = f"prompts {first} and {index} have the same id {item.id!r}"
            raise ApiError("duplicate_id", message, where=f"/prompts/{index}/id")
        yield item


def _split(message: str) -> tuple[str, str | None]:
    """A validation message and its place, as a JSON pointer."""
    found = _PLACE.match(message)
    if found is None:
        return message, None
    sentence, place = found.groups()
    return sentence, _INDEX.sub(r"/\1", place.replace("[...]", "[*]").replace(".", "/")) or "/"
