"""Decide how many input tokens a request can have at most, and how many it probably has.

The bound is a true one: no tokenizer makes more than one token of a byte, and what a provider adds
around messages, images and documents is covered by its stated maximum. The expectation is learned from
the usage that comes back, and is used for pacing and estimates only, never for the budget.
"""

from __future__ import annotations

from typing import Any

import msgspec

from batchwork.core.reply import Usage
from batchwork.core.request import Request

_PER_REQUEST = 64  # what providers wrap around a conversation
_PER_MESSAGE = 16
_PER_SCHEMA = 1024  # the instructions a provider adds for constrained output
_IMAGE = 6_000  # above every provider's stated maximum for one image
_PDF_PAGE = 10_000  # text and picture of one page
_PDF_BYTES_PER_PAGE = 400  # no page is smaller, so size bounds the number of pages
_PDF_MOST_PAGES = 600


def input_bound(request: Request) -> int:
    """The most input tokens this request can be billed for."""
    tokens = _PER_REQUEST + (_bytes(request.system) if request.system else 0)
    for message in request.messages:
        content = message.content
        tokens += _PER_MESSAGE + (_bytes(content) if isinstance(content, str) else sum(map(_block, content)))
    if request.schema is not None:
        tokens += _PER_SCHEMA + 2 * len(msgspec.json.encode(request.schema.body))
    for document in request.documents:
        if document.text is not None:
            tokens += _PER_MESSAGE + _bytes(document.text) + _bytes(document.title or "")
        else:
            tokens += _file(document.media_type, len(document.data or b""))
    if request.extra_body:
        tokens += len(msgspec.json.encode(request.extra_body))
    return tokens


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _block(block: dict[str, Any]) -> int:
    kind = block.get("type")
    if kind == "text":
        return _PER_MESSAGE + _bytes(str(block.get("text", "")))
    size = len(msgspec.json.encode(block))
    if kind in ("image", "image_url"):
        return _IMAGE
    if kind in ("document", "file"):
        return _document(block, size)
    return _PER_MESSAGE + size


def _document(block: dict[str, Any], size: int) -> int:
    """A document in the neutral form, or in a provider's own: `source` at Anthropic, `file` at OpenAI."""
    inner = block.get("source") or block.get("file")
    held = inner if isinstance(inner, dict) else block
    if held.get("url") or held.get("file_id"):
        return _PDF_PAGE * _PDF_MOST_PAGES  # nothing is known of what stands there
    if held.get("media_type") == "application/pdf" or ("media_type" not in held and "text" not in held):
        return _file("application/pdf", size)
    return _PER_MESSAGE + size


def _file(media_type: str, size: int) -> int:
    if media_type.startswith("image/"):
        return _IMAGE
    return _PDF_PAGE * max(1, min(_PDF_MOST_PAGES, size // _PDF_BYTES_PER_PAGE))


class Expectation:
    """What calls of this run really use, learned from those that have come back."""

    __slots__ = ("_calls", "_input", "_output", "_weight")

    def __init__(self) -> None:
        self._weight = self._input = self._output = self._calls = 0

    def learn(self, bound: int, usage: Usage) -> None:
        """A call whose input was bounded by `bound` used this much."""
        self._weight += _weight(bound)
        self._input += usage.input_tokens
        self._output += usage.output_tokens
        self._calls += 1

    def of(self, bound: int, max_tokens: int) -> tuple[int, int]:
        """Probable input and output tokens of the next call."""
        weight = _weight(bound)
        if not self._calls:
            return weight // 4 + 4, max(1, min(max_tokens, 256))
        return max(1, weight * self._input // self._weight), max(1, min(max_tokens, self._output // self._calls))


def _weight(bound: int) -> int:
    """The part of a bound that grows with the text: the allowance for a provider's wrapping is mostly not used."""
    return max(1, bound - _PER_REQUEST)
