"""What has happened to one item so far: the same for live calls and for provider batches."""

from __future__ import annotations

import msgspec

from batchwork.core.reply import Usage
from batchwork.core.request import Message, Request


class Life(msgspec.Struct, gc=False, eq=False):
    """One item on its way from its first call to its outcome."""

    original: Request  # what the input asks
    request: Request  # what is asked now: it may carry the turns of a re-ask
    attempts: int
    paid_nano: int
    charged_nano: int = 0  # by the last call, and not written down yet
    failures: int = 0
    refusals: int = 0
    reasks: int = 0
    latency_s: float = 0.0
    usage: Usage | None = None

    def book(self, charged_nano: int, usage: Usage | None) -> None:
        """A call has ended, and cost so much."""
        self.charged_nano = charged_nano
        self.paid_nano += charged_nano
        self.attempts += 1
        if usage is not None:
            self.usage = usage if self.usage is None else self.usage + usage

    def reask(self, turns: tuple[Message, ...]) -> None:
        """The answer will not do: the same again, with these turns behind it."""
        self.reasks += 1
        self.request = msgspec.structs.replace(self.original, messages=(*self.original.messages, *turns))
