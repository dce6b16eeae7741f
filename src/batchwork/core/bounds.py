"""Decide what a call can cost at most: how many input tokens it can have, how many it probably has, and at which price.

`WorstCase` is the one place behind reservations, batches, estimates and refusals. The bound is a true one: no tokenizer
makes more than one token of a byte, and what a provider adds around messages, images and documents is covered by its
stated maximum. What has no bound is named. The expectation is learned from the usage that comes back, and is used for
pacing and estimates only, never for the budget.
"""

import math
from typing import Any

from batchwork.core.blocks import Measure, bounded, bytes_of, json_size
from batchwork.core.ports import Traits
from batchwork.core.pricing import Price, Writes, lanes_asked
from batchwork.core.reply import Usage
from batchwork.core.request import Request

_PER_REQUEST = 64  # what providers wrap around a conversation
_WRAPPING = 8  # what that mostly is
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
    """What is known of a request's size: its tokens at most, what has no bound, what it writes into the cache."""
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
    known = bounded().extra
    for tool in tools if isinstance(tools, list | tuple) else (tools,):
        found.tokens += _PER_TOOL
        found.json(tool)
        kind = tool.get("type") if isinstance(tool, dict) else "?"
        if not isinstance(tool, dict) or not (kind is None or (isinstance(kind, str) and kind in known.tools)):
            found.cannot(f"a tool of type {kind!r}")
        elif kind is None and (strange := sorted(set(map(str, tool)) - known.tool_fields)):
            found.cannot(f"the tool {strange[0]!r}")
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
            return weight // 4 + _WRAPPING, max(1, min(max_tokens, 256))
        return max(1, weight * self._input // self._weight), max(1, min(max_tokens, self._output // self._calls))


def _weight(bound: int) -> int:
    """The part of a bound that grows with the text: the allowance for a provider's wrapping is mostly not used."""
    return max(1, bound - _PER_REQUEST)


class WorstCase:
    """The worst case of a backend's calls at one price, with what it adds around every request."""

    def __init__(self, price: Price | None, traits: Traits, *, count_margin: float = 0.0) -> None:
        self._price = None if price is None or price.is_free else price
        self._overhead = traits.overhead_tokens
        self._image_tokens = traits.image_tokens
        self._writes = Writes.HOUR if traits.cache_writes else Writes.NONE
        self._margin = count_margin  # on top of what a provider counts
        self._last: tuple[Request, Measure] | None = None

    def input_tokens(self, request: Request) -> int:
        """The most input tokens a call can be billed for; of one without a bound, a guess for pacing."""
        tokens = plain_bound(request)
        return (self._measured(request).tokens if tokens is None else tokens) + self._overhead

    def counted(self, tokens: int) -> int:
        """The most input tokens of a call for which the provider has counted so many: its count is an estimate."""
        return math.ceil(tokens * (1.0 + self._margin)) + self._overhead

    def unbounded(self, request: Request) -> str | None:
        """Why the cost of a request has no bound, naming what is in the way; None when it has one, or costs nothing."""
        if self._price is None or is_plain(request):
            return None
        unknown = self._measured(request).unknown
        for lane in lanes_asked(request.extra_body):
            if lane not in self._price.lanes:
                unknown = unknown or f"the lane {lane!r} (service_tier or speed), whose price is not known"
        if unknown is None:
            return None
        return f"cannot be bounded under max_cost: {unknown}; leave it out, or run without max_cost"

    def nano(self, request: Request, *, input_tokens: int | None = None) -> int:
        """The most a call can cost; 0 when that is nothing, or nobody knows. `input_tokens` is a bound known before."""
        price = self._price
        if price is None:
            return 0
        tokens = self.input_tokens(request) if input_tokens is None else input_tokens
        if self._writes == 0 and is_plain(request):
            return price.worst(input_tokens=tokens, output_tokens=request.output_bound)
        writes = max(self._writes, _writes_of(self._measured(request), price, tokens))
        # A lane that cannot serve may fall back to the default one, which costs more than flex.
        lanes = (price, *(price.in_lane(lane) for lane in lanes_asked(request.extra_body)))
        most = (lane.worst(input_tokens=tokens, output_tokens=request.output_bound, writes=writes) for lane in lanes)
        return max(most)

    def _measured(self, request: Request) -> Measure:
        if self._last is None or self._last[0] is not request:
            self._last = (request, measure(request, image_tokens=self._image_tokens))
        return self._last[1]


def _writes_of(found: Measure, price: Price, tokens: int) -> Writes:
    """What a request may write into the prompt cache: where it asks for it, and where the model does so unasked."""
    if found.marked:
        return max(found.writes, Writes.SHORT)
    return max(found.writes, Writes.NONE if found.explicit else price.writes_unasked(tokens))
