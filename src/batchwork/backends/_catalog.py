"""What is known about models by their names: the ids, whose they are, and how thinking is switched off.

The one table of model names. Providers add models faster than we release, so nothing here forbids a name behind its
backend's prefix: an id that is not listed is sent as it is, without a word about thinking. A bare id is another matter:
one that is not known may be a slip of the pen, and is asked back about with what comes near.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

CLAUDE = (
    *("claude-haiku-5-5", "claude-haiku-4-5", "claude-haiku-4-5-20251001"),
    *("claude-sonnet-5-5", "claude-sonnet-5", "claude-sonnet-4-6", "claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
    *("claude-opus-5-5", "claude-opus-5", "claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6"),
    *("claude-opus-4-5", "claude-opus-4-5-20251101", "claude-fable-5-2", "claude-fable-5-1", "claude-fable-5"),
    *("claude-mythos-5-2", "claude-mythos-5-1", "claude-mythos-5", "claude-mythos-preview"),
)
GPT = (
    *("gpt-6-luna", "gpt-6.1-terra", "gpt-6.1-sol", "gpt-6-sol", "gpt-6-astra"),
    *("gpt-5.6-luna", "gpt-5.6-terra", "gpt-5.6-sol", "gpt-5.5", "gpt-5.5-2026-04-23", "gpt-5.4", "gpt-5.4-mini"),
    *("gpt-5.4-nano", "gpt-5.2", "gpt-5.1", "gpt-5", "gpt-5-mini", "gpt-5-nano", "o3"),
    *("gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini"),
)
ALIASES = ("haiku", "sonnet", "opus")  # what the claude program calls its models

# A bare id belongs to the first whose pattern it matches.
_OWNERS = (
    ("anthropic", re.compile(r"claude-\S+")),
    ("openai", re.compile(r"(?:gpt|chatgpt)-\S+|o\d\S*")),
)
_RESPONSES_ONLY = re.compile(r"gpt-5(?:\.[25])?-pro.*|o3-pro.*|.*-deep-research.*|gpt-.*-cyber.*|gpt-6-rosalind.*")

# The first pattern that matches says what switches thinking off, or that the model does not let it be.
_ANTHROPIC_OFF: tuple[tuple[re.Pattern[str], dict[str, Any]], ...] = (
    (re.compile(r"claude-(?:haiku|sonnet|opus)-[5-9].*"), {"thinking": {"type": "disabled"}}),
    # Fable and Mythos refuse `disabled`; the 4.x models think only when asked to.
)
_OPENAI_OFF: tuple[tuple[re.Pattern[str], dict[str, Any]], ...] = (
    (re.compile(r".*-(?:pro|chat-latest)(?:-.*)?"), {}),
    (re.compile(r"gpt-5(?:\.[1-9]\S*)|gpt-[6-9]\S*"), {"reasoning_effort": "none"}),
    (re.compile(r"gpt-5(?:-mini|-nano)?(?:-\d{4}-.*)?"), {"reasoning_effort": "minimal"}),
    (re.compile(r"o\d\S*"), {"reasoning_effort": "low"}),
)
# The most input tokens of one image, where a model scales larger ones down; those from GPT-5.4 on do not.
_OPENAI_IMAGES: tuple[tuple[re.Pattern[str], int], ...] = (
    (re.compile(r"gpt-4o-mini.*"), 50_000),
    (re.compile(r"gpt-4(?:o|\.1).*|gpt-5(?:\.[12])?(?:-(?:mini|nano))?(?:-\d{4}-.*)?|o\d.*"), 6_000),
)
# These think always, and then take no sampling parameters.
_NO_SAMPLING = re.compile(r"o\d\S*|gpt-5(?:-mini|-nano)?(?:-\d{4}-.*)?")


def owner_of(model: str) -> str | None:
    """The backend a bare model id belongs to; None when that cannot be told from the id."""
    return next((backend for backend, pattern in _OWNERS if pattern.fullmatch(model)), None)


def is_known(model: str) -> bool:
    """Whether an id is listed, or is a dated snapshot of a family that is."""
    dated = _DATED.fullmatch(model)
    return model in _ALL or (dated is not None and _words(dated[1]) <= _FAMILIES)


def near(model: str, known: tuple[str, ...]) -> list[str]:
    """Up to three current ids that come near: those that begin so, then those of the same family."""
    words = _words(model.lower()) - {"claude", "gpt", "latest"}
    family = [name for name in known if words & _words(name)]
    close = get_close_matches(model.lower(), known, n=3, cutoff=0.6)
    longer = [name for name in known if name.startswith(f"{model.lower()}-")]
    ranked = dict.fromkeys([*longer, *(name for name in close if name in family), *family, *close])
    return [name for name in ranked if name != model][:3]


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z]+", name)) - {""}


_ALL = frozenset({*CLAUDE, *GPT})
_FAMILIES = frozenset().union(*map(_words, _ALL))
_DATED = re.compile(r"(.+)-(?:\d{8}|\d{4}-\d{2}-\d{2})")


def or_list(names: list[str]) -> str:
    """`a, b or c`."""
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def anthropic_thinking_off(model: str) -> dict[str, Any]:
    """The body fields that keep a Claude model from thinking before it answers."""
    return _first(_ANTHROPIC_OFF, model)


def openai_thinking_off(model: str) -> dict[str, Any]:
    """The body fields that keep an OpenAI model from reasoning, as far as it lets itself be kept."""
    return _first(_OPENAI_OFF, model)


def takes_no_sampling(model: str) -> bool:
    """Whether an OpenAI model refuses temperature and its kin."""
    return _NO_SAMPLING.fullmatch(model) is not None


def openai_image_tokens(model: str) -> int | None:
    """The most input tokens that one image has at an OpenAI model; None where they grow with the image."""
    return next((most for pattern, most in _OPENAI_IMAGES if pattern.fullmatch(model)), None)


def needs_responses(model: str) -> bool:
    """Whether OpenAI serves a model by its Responses API alone, which batchwork does not speak."""
    return _RESPONSES_ONLY.fullmatch(model) is not None


def _first(table: tuple[tuple[re.Pattern[str], dict[str, Any]], ...], model: str) -> dict[str, Any]:
    return next((dict(fields) for pattern, fields in table if pattern.fullmatch(model)), {})
