"""What a model id says about what the model takes: prefill, sampling and thinking differ by generation.

Unknown ids are accepted and taken for lenient models, so that any id can be simulated.
"""

import re
from functools import lru_cache
from typing import NamedTuple


def _words(text: str) -> list[str]:
    return text.split()


_ID = re.compile(r"claude-(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:-(\d{1,2}))?(?:-\d{8})?$")

IDS = _words(
    "claude-fable-5-2 claude-fable-5-1 claude-fable-5 claude-mythos-5-2 claude-mythos-5-1 claude-mythos-5 "
    "claude-opus-5-5 claude-opus-5 claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-opus-4-5 "
    "claude-sonnet-5-5 claude-sonnet-5 claude-sonnet-4-6 claude-sonnet-4-5 claude-haiku-5-5 claude- "
    "haiku-4-5"
)


class Generation(NamedTuple):
    """What one model refuses."""

    prefill: bool = True
    sampling: bool = True
    thinking_enabled: bool = True
    thinking_disabled: bool = True


@lru_cache(maxsize=256)
def generation_of(model: str) -> Generation:
    """What the model behind an id accepts."""
    found = _ID.match(model)
    if found is None:
        return Generation()
    line, version = found[1], (int(found[2]), int(found[3] or 0))
    fabled = line in ("fable", "mythos")
    strict = fabled or version >= ((4, 7) if line == "opus" else (5, 0))
    return Generation(
        prefill=not fabled and version < (4, 6),
        sampling=not strict,
        thinking_enabled=not strict,
        thinking_disabled=not fabled,
    )
