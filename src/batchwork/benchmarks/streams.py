"""Standard output and error that outlast whoever reads them: `| head -1` must not end a run that costs money."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast


@contextmanager
def lasting() -> Iterator[None]:
    """While this is open, what is printed after the reader has gone goes nowhere, without an error."""
    with redirect_stdout(_lasting(sys.stdout)), redirect_stderr(_lasting(sys.stderr)):
        try:
            yield
        finally:
            sys.stdout.flush()


def _lasting(stream: TextIO) -> TextIO:
    return cast("TextIO", _Lasting(stream))


class _Lasting:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._to_nowhere()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._to_nowhere()

    def _to_nowhere(self) -> None:
        """Also what is still in the stream's buffer, which would fail again at the end."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
