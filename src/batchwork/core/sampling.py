"""Which sampling parameters there are, and which values they can have anywhere. Pure.

What one model takes of them is its backend's to say; every door refuses the rest with the words from here.
"""

from collections.abc import Mapping
from typing import Any

SAMPLING_NAMES = frozenset(
    {"temperature", "top_p", "top_k", "min_p", "typical_p", "seed", "stop", "stop_sequences", "logit_bias"}
    | {"presence_penalty", "frequency_penalty", "repeat_penalty", "repetition_penalty"}
)
MAX_TEMPERATURE = 2
_HIGHEST = {"temperature": MAX_TEMPERATURE, "top_p": 1}


def sampling_problem(sampling: Mapping[Any, Any]) -> tuple[str, str] | None:
    """The name of a parameter that no model takes with this value, and what is wrong with it; None: there is none."""
    for name, highest in _HIGHEST.items():
        value = sampling.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            return name, "must be a number"
        if not 0 <= value <= highest:
            return name, f"must be at least 0 and at most {highest}, not {value:g}"
    return None
