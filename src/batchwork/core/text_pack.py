"""Packs of texts: which go into one call for embeddings, what such a call asks, and the parts of one that was refused.

A pack is an item: one request, one call, one outcome; a text is a place in it. All of it is pure, so that whoever looks
at a journal later finds the same packs and the same parts again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from batchwork.core.failure import Failure, FailureKind
from batchwork.core.request import Message, Request

_ANSWER_BYTES = 3 * 2**20  # of vectors: larger answers take more memory and CPU than the calls that they save
_USUAL_DIMENSIONS = 1536
PARTS = 16  # into so many a refused pack falls: few rounds, and few texts that are sent again
_BYTES_PER_TOKEN = 3  # a guess: where it is too low the provider refuses the pack, and its parts fit
# What may be one text's fault: the others must not suffer for it.
_OF_A_TEXT = frozenset({FailureKind.REJECTED, FailureKind.TOO_LONG, FailureKind.REFUSED, FailureKind.BAD_INPUT})
_OF_THE_CALL = frozenset({401, 402, 403, 404, 405, 415})  # the key, the address, the model


@dataclass(frozen=True, slots=True, kw_only=True)
class PackLimits:
    """What one call may hold."""

    max_texts: int
    max_tokens: int
    text_tokens: int  # the longest text; one that may be longer goes alone

    def with_vectors(self, dimensions: int | None) -> "PackLimits":
        """The same for vectors of this length, so that the answer is no larger than is good."""
        most = max(1, _ANSWER_BYTES // (4 * (dimensions or _USUAL_DIMENSIONS)))
        return replace(self, max_texts=min(self.max_texts, most))


def tokens_in(text: str) -> int:
    """About how many tokens a text has."""
    return (len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))) // _BYTES_PER_TOKEN + 1


@dataclass(frozen=True, slots=True)
class BadText:
    """Stands for a text that cannot be sent."""

    problem: str


def problem_with(text: object) -> str | None:
    """Why a text cannot be sent; None where it can."""
    if isinstance(text, BadText):
        return text.problem
    if not isinstance(text, str):
        return f"a text is a string, not {type(text).__name__}"
    if not text:
        return "the text is empty"
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return "the text holds half of a surrogate pair, which no provider takes"
    return None


def is_of_a_text(failure: Failure) -> bool:
    """Whether a pack may have failed for one of its texts."""
    return failure.kind in _OF_A_TEXT and failure.status not in _OF_THE_CALL


def pack_request(texts: Sequence[str], *, model: str, options: Mapping[str, Any] | None) -> Request:
    """What is asked for a pack."""
    return Request(
        model=model,
        messages=tuple(Message("user", text) for text in texts),
        max_tokens=1,  # there is no output
        sampling=dict(options) if options else None,
    )


def texts_of(request: Request) -> list[str]:
    """The texts of a pack."""
    return [message.content for message in request.messages if isinstance(message.content, str)]


def parts_of(texts: Sequence[str]) -> list[Sequence[str]]:
    """The parts of a refused pack, in order."""
    size = -(-len(texts) // PARTS)
    return [texts[at : at + size] for at in range(0, len(texts), size)]


def text_number(text: str) -> int:
    """The 96 bits by which a text is known again."""
    return int.from_bytes(blake2b(text.encode(), digest_size=12).digest(), "big")


class PackLoad:
    """The texts that have been put into a pack so far."""

    def __init__(self, limits: PackLimits) -> None:
        self._limits = limits
        self.texts: list[str] = []
        self._tokens = 0

    def takes(self, tokens: int) -> bool:
        """Whether a text of about so many tokens still fits."""
        if not self.texts:
            return True
        limits = self._limits
        is_long = max(tokens, self._tokens if len(self.texts) == 1 else 0) > limits.text_tokens
        return not is_long and len(self.texts) < limits.max_texts and self._tokens + tokens <= limits.max_tokens

    def add(self, text: str, tokens: int) -> None:
        """Put one in."""
        self.texts.append(text)
        self._tokens += tokens
