"""Every number that bounds what a stranger can make us do, as the code has it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from batchwork.backends import _transport
from batchwork.backends._transport import session
from batchwork.backends.claude_code import command
from batchwork.core.policy import Policy
from batchwork.documents import DocumentLimits
from batchwork.schema import DEFAULT_LIMITS
from batchwork.server import config, keys
from batchwork.tables import delimited

_NO_LIMITS = ("port", "schemas")


def rows() -> Iterator[tuple[str, str, str]]:
    """What is bounded, the name of the bound, and its default."""
    for what, limits in (
        ("a document (`DocumentLimits`)", DocumentLimits()),
        ("a schema (`schema.Limits`)", DEFAULT_LIMITS),
        ("the service (`ServerConfig`)", config.ServerConfig(model="mock:echo")),
        ("a run (`Policy`)", Policy()),
    ):
        for name, value in _numbers(limits):
            yield what, f"`{name}`", f"{value:,}"
    fixed = {
        "prompts of one request": config.MAX_PROMPTS,
        "characters of an API key of the service, at least": keys._SHORTEST,
        "seconds to connect to a provider": _transport.CONNECT_S,
        "bytes of the headers of an answer": _transport.LONGEST_HEAD,
        "bytes of an answer to a call, unpacked": _transport.LARGEST_BODY,
        "seconds of silence in a download": session._SILENCE_S,
        "bytes of the schema of a `claude-code` call": command._LONGEST_ARGUMENT,
        "characters of one field of a CSV file": delimited._LONGEST_FIELD,
    }
    for name, number in fixed.items():
        yield "fixed", name, f"{number:,}"


def _numbers(limits: Any, prefix: str = "") -> Iterator[tuple[str, float]]:
    for field in dataclasses.fields(limits):
        value = getattr(limits, field.name)
        if field.name in _NO_LIMITS or isinstance(value, bool):
            continue
        if dataclasses.is_dataclass(value):
            yield from _numbers(value, f"{prefix}{field.name}.")
        elif isinstance(value, int | float):
            yield f"{prefix}{field.name}", value
