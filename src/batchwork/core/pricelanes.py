"""Decide in which price lane a call may land, and in which one a reply was served.

Providers sell the same model at several prices: OpenAI by `service_tier` (flex, fast, which was called priority,
ultrafast), Anthropic by `speed`. What a lane costs is the price's own knowledge (`core/pricing.py`); here stands
what a request asks for, and what a response says. The default lane is None, so that it costs one comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from batchwork.core.reply import Reply
from batchwork.core.request import Request

DEFAULT = "default"
AUTO = "auto"
_ASKED_AS_DEFAULT = frozenset({DEFAULT, "standard", "standard_only", "on_demand"})
# A batch has its own price altogether; scale is capacity that was paid for before.
_SERVED_AS_DEFAULT = _ASKED_AS_DEFAULT | {"batch", "scale"}
_LONGEST_NAME = 40


def lanes_asked(extra_body: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Every lane that a body's own fields ask for, the default one left out; a value that is no name comes as text."""
    if not extra_body:
        return ()
    asked = []
    for field in ("speed", "service_tier"):
        if field not in extra_body:
            continue
        value = extra_body[field]
        if value is None:
            # Taken out of the body, `service_tier` leaves the choice to the provider; `speed` has one default.
            value = AUTO if field == "service_tier" else DEFAULT
        if not isinstance(value, str) or value not in _ASKED_AS_DEFAULT:
            asked.append(str(value)[:_LONGEST_NAME])
    return tuple(asked)


def lane_served(said: object, extra_body: Mapping[str, Any] | None) -> str | None:
    """The lane that a response names, else the one that was asked for; None is the default one.

    The default lane is named (`DEFAULT`) where the request's own fields might ask for another one.
    """
    if said == DEFAULT and extra_body is None:
        return None
    if type(said) is str and said and said != AUTO:
        if said in _SERVED_AS_DEFAULT:
            return None if extra_body is None else DEFAULT
        return said[:_LONGEST_NAME]
    return next(iter(lanes_asked(extra_body)), None)


def lane_billed(reply: Reply | None, request: Request | None) -> str | None:
    """The lane whose price a reply costs: the one that served it, else the one that its request asked for."""
    if reply is not None and reply.lane is not None:
        return None if reply.lane == DEFAULT else reply.lane
    if request is None or request.extra_body is None:
        return None
    return next(iter(lanes_asked(request.extra_body)), None)
