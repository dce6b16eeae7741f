"""An input row on its way in: a request, or the reason why it cannot become one."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, Self

import msgspec

from batchwork.core.request import Request, digest


class InputRow(Protocol):
    """What the engine and a journal ask of an input row; `request` and `problem` may be made when asked for."""

    @property
    def fingerprint(self) -> bytes:
        """Tells the row from every other one."""

    @property
    def request(self) -> Request | None:
        """What is sent for it; None when it cannot be used."""

    @property
    def problem(self) -> str | None:
        """Why it cannot be used."""

    @property
    def columns(self) -> dict[str, Any] | None:
        """The columns of the table that it comes from."""


class Intake(msgspec.Struct, kw_only=True, gc=False, eq=False):
    """An input row that is all there. Exactly one of `request` and `problem` is."""

    fingerprint: bytes
    request: Request | None
    columns: dict[str, Any] | None
    problem: str | None = None

    @classmethod
    def bad(cls, problem: str, columns: dict[str, Any] | None = None) -> Self:
        """A row that fails by itself, without being sent."""
        content = repr((problem, columns)).encode("utf-8", "backslashreplace")
        return cls(fingerprint=digest(b"bad\0" + content), request=None, columns=columns, problem=problem)


KEY_BYTES = 10  # of a fingerprint, where a row has a key; the rest of it is the request's


class KeyedRow(Intake, gc=False, eq=False):
    """A row that is known by its key and what it asks; without a key, by what it asks alone."""

    key: str | None = None  # for people

    @property
    def alike(self) -> tuple[bytes, bytes]:
        """The first and the last fingerprint that rows of the same key can have."""
        if self.key is None:
            return self.fingerprint, self.fingerprint
        own, rest = self.fingerprint[:KEY_BYTES], len(self.fingerprint) - KEY_BYTES
        return own + b"\x00" * rest, own + b"\xff" * rest

    @classmethod
    def of(cls, row: Intake, key: object) -> Self:
        """The row under a key of its own: rows of one key stand together, whatever they ask."""
        own = digest(msgspec.msgpack.encode(key))
        fingerprint = own[:KEY_BYTES] + row.fingerprint[KEY_BYTES:]
        return cls(
            fingerprint=fingerprint, request=row.request, columns=row.columns, problem=row.problem, key=repr(key)
        )


class Rows:
    """The rows of an input that can be read again, from its start."""

    def __init__(self, read: Callable[[], Iterator[InputRow]]) -> None:
        self._read = read

    def __iter__(self) -> Iterator[InputRow]:
        return self._read()


class Work(msgspec.Struct, kw_only=True, gc=False, eq=False):
    """An item that is to be done: what the engine carries through its attempts."""

    item: int
    index: int
    request: Request | None
    problem: str | None
    paid_nano: int
    attempts: int
    deferred: bool = False  # it was deferred before, and that is what the journal says of it
