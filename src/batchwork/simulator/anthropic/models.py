"""What a model id says about what the model takes: prefill, sampling and thinking differ by generation.

Unknown ids are accepted and taken for lenient models, so that any id can be simulated.
"""

import re
from functools import lru_cache
from typing import Any, NamedTuple

_ID = re.compile(r"claude-(opus|sonnet|haiku|fable|mythos)-(\d{1,2})(?:-(\d{1,2}))?(?:-\d{8})?$")
_CAPABILITIES = ("batch", "citations", "structured_outputs", "pdf_input", "image_input", "code_execution")
_SUPPORTED = {"supported": True}


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


def model_of(name: str) -> dict[str, Any]:
    """One model object."""
    enabled = {"supported": generation_of(name).thinking_enabled}
    efforts = dict.fromkeys(("low", "medium", "high", "xhigh", "max"), _SUPPORTED)
    return {
        "type": "model",
        "id": name,
        "display_name": f"Simulated {name}",
        "created_at": "2026-01-01T00:00:00Z",
        "max_input_tokens": 1_000_000,
        "max_tokens": 64_000,
        "lifecycle": "active",
        "deprecated_at": None,
        "retires_at": None,
        "line": name.split("-")[1] if name.count("-") else name,
        "capabilities": dict.fromkeys(_CAPABILITIES, _SUPPORTED)
        | {
            "context_management": {"supported": False},
            "thinking": {"supported": True, "types": {"adaptive": _SUPPORTED, "enabled": enabled}},
            "effort": _SUPPORTED | efforts,
        },
    }
