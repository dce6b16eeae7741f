"""Says what tells the question of one request from that of another, for whoever is about to pay for both. Pure."""

from batchwork.core.request import Request

_PARTS = {
    "model": "the model",
    "system": "the system prompt",
    "output_bound": "max_tokens",
    "schema": "the schema",
    "sampling": "the sampling parameters",
    "extra_body": "the extra body",
}


def changed_parts(before: Request, now: Request, *, is_same_row: bool) -> list[str]:
    """What all rows share and is not what it was; of the `is_same_row` also the prompt, which is made of the row."""
    changed = [
        f"{words} ({was!r}, now {is_now!r})" if name in ("model", "output_bound") else words
        for name, words in _PARTS.items()
        if (was := getattr(before, name)) != (is_now := getattr(now, name))
    ]
    return [*changed, "the prompt"] if is_same_row and before.messages != now.messages else changed
