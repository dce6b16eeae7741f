"""The providers that are known by name, from `providers.toml`: where each is, and in what it differs on its wire."""

import re
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from batchwork.core.data_file import read_data_file

RESOURCE = "RESOURCE"  # in an address: what only the user knows


class Batches(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a service takes batches. The fields are explained in the data file."""

    max_requests: int = 50_000
    max_bytes: int = 200 * 1024 * 1024
    inline: bool = False
    window: str = "24h"
    upload: str = "files"
    form: dict[str, str] = msgspec.field(default_factory=lambda: {"purpose": "batch"})
    endpoints: str = "/v1"
    line: Literal["call", "body"] = "call"
    model_in: Literal["body", "job", "request_params"] = "body"
    metadata: bool = True
    serves: tuple[Literal["chat", "embeddings"], ...] = ("chat",)
    notice: str | None = None


class Embeddings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one call for embeddings may hold, and how it is put. The fields are explained in the data file."""

    path: str = "embeddings"
    max_texts: int = 128
    max_tokens: int = 100_000
    text_tokens: int = 8_192
    encoding: str | None = None
    dimensions: str = "dimensions"


class Provider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One place where a wire is spoken. The fields are explained in the data file."""

    wire: Literal["anthropic", "bedrock", "chat", "gemini"]
    base_url: str
    keys: tuple[str, ...] = ()
    address: str | None = None
    aliases: tuple[str, ...] = ()
    prices: str | None = None
    local: bool = False
    auth: str = "authorization"
    bare_ids: re.Pattern[str] | None = None
    path: str = "chat/completions"
    query: dict[str, str] = {}
    max_tokens: str = "max_tokens"
    sampling: dict[str, str] = {}
    billed: tuple[str, ...] = ()
    minute_limits: tuple[str, ...] = ("requests", "tokens")
    body: dict[str, Any] = {}
    chat: bool = True
    module: bool = False
    batch: Batches | None = None
    embeddings: Embeddings | None = None

    @property
    def host(self) -> str:
        """The host of its address, by which it is known."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def resources(self) -> tuple[str, ...]:
        """How the hosts of its users' own resources end, where they have some."""
        return (self.host.removeprefix(RESOURCE.lower()),) if RESOURCE in self.base_url else ()


@cache
def providers() -> dict[str, Provider]:
    """Every known provider by its name."""
    return read_data_file(__file__, "providers.toml", dict[str, Provider])


def provider_at(host: str, wire: str) -> str | None:
    """The name of the provider that speaks a wire at a host; None for a server that is not known, or the user's own."""
    rows = ((name, row) for name, row in providers().items() if row.wire == wire and not row.local)
    return next((name for name, row in rows if host == row.host or host.endswith(row.resources)), None)


def service_of(word: str) -> str | None:
    """The provider on OpenAI's wire that goes by a name or by another name of it; None where there is none."""
    rows = ((name, row) for name, row in providers().items() if row.wire == "chat")
    return next((name for name, row in rows if word == name or word in row.aliases), None)
