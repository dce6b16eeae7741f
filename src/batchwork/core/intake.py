"""An input row on its way in: a request, or the reason why it cannot become one."""

from __future__ import annotations

from typing import Any

from batchwork.core.request import Request, digest


class Intake:
    """One input row. Exactly one of `request` and `problem` is there."""

    __slots__ = ("columns", "fingerprint", "problem", "request")

    def __init__(
        self, *, fingerprint: bytes, request: Request | None, columns: dict[str, Any] | None, problem: str | None = None
    ) -> None:
        self.fingerprint = fingerprint
        self.request = request
        self.columns = columns
        self.problem = problem

    @classmethod
    def bad(cls, problem: str, columns: dict[str, Any] | None = None) -> Intake:
        """A row that fails by itself, without being sent."""
        told = repr((problem, columns)).encode("utf-8", "backslashreplace")
        return cls(fingerprint=digest(b"bad\0" + told), request=None, columns=columns, problem=problem)


class Work:
    """An item that is to be done: what the engine carries through its attempts."""

    __slots__ = ("attempts", "index", "item", "paid_nano", "problem", "request")

    def __init__(
        self, *, item: int, index: int, request: Request | None, problem: str | None, paid_nano: int, attempts: int
    ) -> None:
        self.item = item
        self.index = index
        self.request = request
        self.problem = problem
        self.paid_nano = paid_nano
        self.attempts = attempts
