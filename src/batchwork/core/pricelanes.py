"""Decide in which price lane a call may land, and in which one a reply was served.

Providers sell the same model at several prices: OpenAI by `service_tier` (flex, fast, which was called priority,
ultrafast), Anthropic by `speed`. What a lane costs is the price's own knowledge (`core/pricing.py`); here stands
what a request asks for, and what a response says. The default lane is None, so that it costs one comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AUTO = "auto"
_DEFAULT = "default"
_ASKED_AS_DEFAULT = frozenset({_DEFAULT, "standard", "standard_only", "on_demand"})
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
            value = AUTO if field == "service_tier" else _DEFAULT
        if not isinstance(value, str) or value not in _ASKED_AS_DEFAULT:
            asked.append(str(value)[:_LONGEST_NAME])
    return tuple(asked)


def lane_asked(extra_body: Mapping[str, Any] | None) -> str | None:
    """The lane that a body's own fields ask for; None is the default one."""
    return next(iter(lanes_asked(extra_body)), None)


def lane_served(said: object, extra_body: Mapping[str, Any] | None) -> str | None:
    """The lane that a response names, else the one that was asked for; None is the default one.

    Of a batch nothing is known to have been asked for: it has a price of its own, unless a response says otherwise.
    """
    if type(said) is str and said and said != AUTO:
        return None if said in _SERVED_AS_DEFAULT else said[:_LONGEST_NAME]
    return None if extra_body is None else lane_asked(extra_body)
