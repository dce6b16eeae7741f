"""The addresses of the API and its error codes, as `api.toml` lists them."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Route(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One address: what it takes, what it answers, which errors it knows."""

    path: str
    method: str
    summary: str
    answer: str  # what a 200 means
    content: dict[str, list[str]]  # by media type the names of the schemas, one of which the body has
    errors: list[str] = []
    body: str | None = None  # the name of the schema it takes
    needs_key: bool = True


class Api(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of it. An error code has an HTTP status, whether asking again may help, and a meaning."""

    routes: dict[str, Route]
    errors: dict[str, tuple[int, bool, str]]


API = msgspec.toml.decode(Path(__file__).with_name("api.toml").read_bytes(), type=Api)
