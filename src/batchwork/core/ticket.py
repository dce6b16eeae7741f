"""One provider batch: what was put in, and the number the provider gave it."""

from __future__ import annotations

import msgspec


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """A batch that was intended and not yet closed.

    `batch_id` is None between the intent and the provider's answer: after a crash there, the provider
    may or may not have it.
    """

    chunk: int  # counted from 1 within the journal
    items: tuple[int, ...]
    custom_ids: tuple[str, ...]
    reserved_nano: int
    intended_at: float  # UTC
    batch_id: str | None = None


def custom_id(run_id: str, chunk: int, index: int, key: str) -> str:
    """A request's name inside a batch: it names our run and batch, restores order, and is no position in an answer."""
    return f"{run_id}-{chunk}-{index}-{key[:8]}"


def index_of(name: str) -> int | None:
    """The input index behind a custom id of ours; None when it is not one."""
    parts = name.rsplit("-", 2)
    return int(parts[1]) if len(parts) == 3 and parts[1].isdigit() else None
