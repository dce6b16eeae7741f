"""What tells one question from another."""

from __future__ import annotations

from batchwork.core.difference import changed_parts
from batchwork.core.request import Request


def test_what_all_rows_share_is_named_and_the_prompt_only_where_the_row_is_the_same() -> None:
    before = Request.ask("Say a", model="m", system="s")
    assert changed_parts(before, Request.ask("Say b", model="m", system="s"), is_same_row=False) == []
    assert changed_parts(before, Request.ask("Tell a", model="m", system="s"), is_same_row=True) == ["the prompt"]
    now = Request.ask("Say b", model="n", max_tokens=7)
    assert changed_parts(before, now, is_same_row=False) == [
        "the model ('m', now 'n')",
        "the system prompt",
        "max_tokens (1024, now 7)",
    ]
