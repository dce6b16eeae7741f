"""What a backend says back: no pricing, no parsing, only what was said and what it used."""

from typing import Any

import msgspec


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Tokens of one or more calls. `input_tokens` is the total; the cache fields are parts of it."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0  # kept for five minutes
    cache_write_1h_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            cache_write_1h_tokens=self.cache_write_1h_tokens + other.cache_write_1h_tokens,
        )

    def counts(self) -> dict[str, int]:
        """As JSON: input and output always, the parts of the cache where there are any."""
        counts: dict[str, int] = msgspec.to_builtins(self)
        return {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens} | counts


def usage_beside(
    fed: int | None, made: int | None, *, read: int | None, written: int | None, for_an_hour: int | None
) -> Usage | None:
    """What was used, where the cached input is told beside the rest; None when a part is missing, or cannot be."""
    read, hour = read or 0, for_an_hour or 0
    written = max(written or 0, hour)
    if fed is None or made is None or min(fed, made, read, written, hour) < 0:
        return None
    return Usage(
        input_tokens=fed + read + written,
        output_tokens=made,
        cache_read_tokens=read,
        cache_write_tokens=written - hour,
        cache_write_1h_tokens=hour,
    )


class Limit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One rate limit as a response's headers tell it: per minute, what is left, when it is full again."""

    per_minute: float | None = None
    remaining: float | None = None
    reset_s: float | None = None


class ReportedLimits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a response's headers said about the provider's rate limits."""

    requests: Limit | None = None
    input_tokens: Limit | None = None
    output_tokens: Limit | None = None
    tokens: Limit | None = None  # input and output together, where that is how the provider counts

    def rates(self) -> tuple[float | None, ...]:
        """The rates that it tells, in the order of its fields; written out, because every reply is asked."""
        calls, tokens_in, tokens_out, tokens = self.requests, self.input_tokens, self.output_tokens, self.tokens
        return (
            None if calls is None else calls.per_minute,
            None if tokens_in is None else tokens_in.per_minute,
            None if tokens_out is None else tokens_out.per_minute,
            None if tokens is None else tokens.per_minute,
        )

    def per_minute(self) -> dict[str, float]:
        """The rates that it tells, by name."""
        return {name: rate for name, rate in zip(self.__struct_fields__, self.rates(), strict=True) if rate}


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A call of one of the caller's own tools, which the model asks for."""

    name: str
    arguments: Any = None  # as JSON; the text where the model wrote none
    id: str | None = None


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One answer as the backend gave it."""

    text: str
    usage: Usage | None = None  # None: it did not say
    model: str = ""
    stop_reason: str | None = None
    truncated: bool = False  # cut off by max_tokens
    blocks: tuple[dict[str, Any], ...] = ()  # the raw content blocks, when there is more to them than the text
    tool_calls: tuple[ToolCall, ...] = ()
    limits: ReportedLimits | None = None
    provider_id: str | None = None
    reported_cost_nano: int | None = None  # when the backend itself knows what the call cost
    body: bytes | None = None  # the JSON as it came; recorded only where raw results are wanted
    lane: str | None = None  # the price lane that served it, where it is not the default one
    vectors: bytes | None = None  # the embeddings of a pack of texts: float32, little-endian, one after the other
    dimensions: int = 0  # of each vector
