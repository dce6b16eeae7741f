"""The key that a call shows in its headers."""

from collections.abc import Mapping


def bearer(headers: Mapping[str, str]) -> str:
    """The bearer token; empty without one."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key if scheme.lower() == "bearer" else ""
