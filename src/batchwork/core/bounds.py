"""Decide how many input tokens a request can have at most, and how many it probably has.

The bound is a true one: no tokenizer makes more than one token of a byte, and what a provider adds
around messages, images and documents is covered by its stated maximum. What has no bound is named. The expectation
is learned from the usage that comes back, and is used for pacing and estimates only, never for the budget.
"""

from typing import Any

from batchwork.core.blocks import Measure, bounded, bytes_of, json_size
from batchwork.core.reply import Usage
from batchwork.core.request import Request

_PER_REQUEST = 64  # what providers wrap around a conversation
_PER_MESSAGE = 16
_PER_SCHEMA = 1024  # the instructions a provider adds for constrained output
_SCHEMA_GROWS = 4  # in a provider's subset of JSON Schema it is at most so many times as long
_PER_TOOL = 64
_TOOLS = 1024  # the instructions that a provider adds for the use of tools


def plain_bound(request: Request) -> int | None:
    """The bound of a request that is bare text; None for one with blocks, documents or fields of its own."""
    if request.extra_body is not None or request.documents:
        return None
    tokens = _PER_REQUEST + (bytes_of(request.system) if request.system else 0)
    for message in request.messages:
        content = message.content
        if type(content) is not str:
            return None
        tokens += _PER_MESSAGE + bytes_of(content)
    if request.schema is not None:
        tokens += _PER_SCHEMA + _SCHEMA_GROWS * json_size(request.schema.body)
    return tokens


def is_plain(request: Request) -> bool:
    """Whether it is bare text."""
    if request.extra_body is not None or request.documents:
        return False
    for message in request.messages:  # noqa: SIM110 (a generator would cost more than the question)
        if type(message.content) is not str:
            return False
    return True


def measure(request: Request, *, image_tokens: int | None) -> Measure:
    """What is known of a request's size: its tokens at most, what has no bound, what it writes into the cache.

    `image_tokens` is the most that one image has at the provider; None where that grows with the image.
    """
    found = Measure(image_tokens)
    found.tokens = _PER_REQUEST + (bytes_of(request.system) if request.system else 0)
    for message in request.messages:
        found.tokens += _PER_MESSAGE
        found.blocks(message.content, "a message")
    if request.schema is not None:
        found.tokens += _PER_SCHEMA + _SCHEMA_GROWS * json_size(request.schema.body)
    for document in request.documents:
        found.attachment(
            document.media_type,
            text=document.text,
            data=document.data or b"",
            title=document.title,
            cited=document.citations,
        )
    for name, value in (request.extra_body or {}).items():
        if value is not None:  # None takes a field out of the body
            _measure_field(found, name, value)
    return found


def _measure_field(found: Measure, name: str, value: Any) -> None:
    """One field of `extra_body`; what its lane costs is the price's to say."""
    known = bounded()
    if name in known.extra.plain:
        found.tokens += json_size(value)
    elif name in known.extra.counted:
        found.tokens += _PER_SCHEMA
        found.json(value)
    elif name == "cache_control":
        found.cache(value, "extra_body")
    elif name == "system":
        found.blocks(value, "'system' in extra_body")
    elif name == "tools":
        _measure_tools(found, value)
    elif name in known.within:
        _measure_options(found, name, value, known.within[name])
    elif name != "modalities" or value != ["text"]:
        found.cannot(f"the field {name!r} of extra_body")
        found.json(value)


def _measure_options(found: Measure, name: str, value: object, known: frozenset[str]) -> None:
    """A field that holds others."""
    fields = value if isinstance(value, dict) else {"": value}
    for field in fields:
        if field not in known:
            found.cannot(f"the field {f'{name}.{field}'.rstrip('.')!r} of extra_body")
    found.tokens += _PER_SCHEMA
    found.json(value)
    if name == "prompt_cache_options":
        if fields.get("ttl") not in (None, "30m"):
            found.cannot(f"prompt_cache_options with ttl {fields['ttl']!r}, whose price is not known")
        found.explicit = fields.get("mode") == "explicit"


def _measure_tools(found: Measure, tools: object) -> None:
    found.tokens += _TOOLS
    known = bounded().extra.tools
    for tool in tools if isinstance(tools, list | tuple) else (tools,):
        found.tokens += _PER_TOOL
        found.json(tool)
        kind = tool.get("type") if isinstance(tool, dict) else "?"
        if not isinstance(tool, dict) or not (kind is None or (isinstance(kind, str) and kind in known)):
            found.cannot(f"a tool of type {kind!r}")
        else:
            found.cache(tool.get("cache_control"), "a tool")


class Expectation:
    """What calls of this run really use, learned from those that have come back."""

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
