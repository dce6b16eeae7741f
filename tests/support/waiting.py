"""How a test waits for another process or thread: for a condition, never for a time; and leaves none behind."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def becomes_true(
    condition: Callable[[], bool], within_s: float = 60.0, unless: Callable[[], bool] | None = None
) -> bool:
    """Whether it becomes true; False when the time is over, or when something else came before (`unless`).

    The time is a bound for a test that hangs, not a promise: a busy machine takes its time.
    """
    end = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > end or (unless is not None and unless()):
            return condition()
        time.sleep(0.005)
    return True


def lines_of(path: Path) -> int:
    """How many lines another process has written to this file, which may not be there yet."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


@contextmanager
def killed_at_last(processes: list[subprocess.Popen[str]]) -> Iterator[None]:
    """Whatever happens, none of these processes is left, nor of those that are added meanwhile."""
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()
