"""A probe of an event loop: how much CPU its thread takes between two looks at its sockets, which is one turn."""

from __future__ import annotations

import selectors
import time

LONGEST_TURN_MS = 50.0


class TurnProbe(selectors.DefaultSelector):
    """Stands where the loop's selector stands; one per process."""

    longest_s = 0.0
    _began: float | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self._began is not None:
            TurnProbe.longest_s = max(TurnProbe.longest_s, time.thread_time() - self._began)
        try:
            return super().select(timeout)
        finally:
            self._began = time.thread_time()

    @classmethod
    def install(cls) -> None:
        """Measure the loops that are made from now on."""
        selectors.DefaultSelector = cls  # type: ignore[misc]

    @classmethod
    def longest_ms(cls) -> float:
        """The longest turn since this was asked last."""
        longest, cls.longest_s = cls.longest_s, 0.0
        return longest * 1000
