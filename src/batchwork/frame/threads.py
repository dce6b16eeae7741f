"""Decide that linear algebra runs on one thread inside a description, and leave the process as it was.

The limit belongs to the whole process: of descriptions in several threads the first sets it and the last lifts it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = Lock()
_inside: list[Any] = []  # one limit for each description under way; only the first one is not None


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    """Finds the libraries once; it takes as long as a short description."""
    return ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for linear algebra while any description is under way."""
    with _lock:
        limit = None if _inside else _controller().limit(limits=1, user_api="blas")
        _inside.append(limit)
    try:
        yield
    finally:
        with _lock:
            if len(_inside) == 1:
                _inside[0].restore_original_limits()
            _inside.pop()
