"""Decide the price of an OpenAI call beyond its tokens: its service tier, and what it writes to the prompt cache."""

import hashlib
import re
from typing import Any, cast

from batchwork.simulator import tokens
from batchwork.simulator.bill import Lane
from batchwork.simulator.errors import Refused
from batchwork.simulator.prompt import CacheMark, Prompt

_TIERS = ("auto", "default", "flex", "scale", "priority", "fast", "ultrafast")
_LEAST_CACHED = 1024
_WRITES_IMPLICITLY = (5, 6)
_VERSION = re.compile(r"gpt-(\d+)(?:\.(\d+))?")


def lane_of(body: dict[str, Any], default: str) -> Lane:
    """The lane a call is served in; without a tier the project's setting decides.

    Raises:
        Refused: 400, a tier that does not exist.
    """
    tier = body.get("service_tier") or "auto"
    if tier not in _TIERS:
        known = ", ".join(f"'{name}'" for name in _TIERS)
        raise Refused(400, f"Invalid value: {tier!r}. Supported values are: {known}.", param="service_tier", code="invalid_value")  # fmt: skip # noqa: E501
    tier = default if tier == "auto" else tier
    return "standard" if tier in ("default", "scale") else cast(Lane, tier)


def tier_of(lane: Lane) -> str:
    """The tier an answer says it was served in."""
    return "default" if lane == "standard" else lane


def cache_mark(prompt: Prompt, options: Any, texts: list[str], marked: int | None) -> CacheMark | None:
    """The prefix that is written to the cache: by default everything, in explicit mode up to the last breakpoint.

    `texts` are the pieces of the prompt in order; `marked` is how many of them stand before the breakpoint.
    """
    version = _VERSION.match(prompt.model)
    if version is None or (int(version[1]), int(version[2] or 0)) < _WRITES_IMPLICITLY:
        return None
    spent = prompt.input_tokens
    if isinstance(options, dict) and options.get("mode") == "explicit":
        texts = texts[: marked or 0]
        spent = sum(map(tokens.count, texts))
    if spent < _LEAST_CACHED:
        return None
    prefix = "\x00".join((prompt.model, *texts)).encode("utf-8", "surrogatepass")
    return CacheMark(hashlib.blake2b(prefix, digest_size=12).hexdigest(), spent, "30m")
