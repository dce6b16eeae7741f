"""The providers that are known by name, from `providers.toml`: where each is, and by which variable its key comes."""

import re
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from batchwork.core.data_file import read_data_file


class Provider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One place where a wire is spoken. The fields are explained in the data file."""

    wire: Literal["anthropic", "chat"]
    base_url: str
    keys: tuple[str, ...]
    prices: str
    auth: str = "authorization"
    bare_ids: re.Pattern[str] | None = None
    batches: bool = False
    body: dict[str, Any] = {}

    @property
    def host(self) -> str:
        """The host of its address, by which it is known."""
        return urlsplit(self.base_url).hostname or ""


@cache
def providers() -> dict[str, Provider]:
    """Every known provider by its name."""
    return read_data_file(__file__, "providers.toml", dict[str, Provider])


def provider_at(host: str, wire: str) -> str | None:
    """The name of the provider that speaks a wire at a host; None for a server that is not known."""
    return next((name for name, row in providers().items() if (row.host, row.wire) == (host, wire)), None)
