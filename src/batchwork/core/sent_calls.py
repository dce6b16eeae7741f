"""Count the calls that were sent: all of them, those of the last second, and those since some moment."""

from collections import deque

SPAN_S = 1.0  # how far back calls are counted for the share at this moment
_SHORTEST_SPAN_S = 0.02  # a shorter history would make any rate look huge


class SentCalls:
    """How many calls were sent, and when, of late. One for all kinds of refusals: every call comes this way."""

    def __init__(self) -> None:
        self.count = 0
        self.times: deque[float] = deque()

    def add(self, now: float) -> None:
        """A call was sent."""
        self.count += 1
        times = self.times
        times.append(now)
        while times[0] < now - SPAN_S:
            times.popleft()

    def per_s(self, now: float) -> float:
        """How fast."""
        return len(self.times) / max(_SHORTEST_SPAN_S, now - self.times[0]) if self.times else 0.0


class Tally:
    """The calls from now on, and the refused among them; `of` calls before belong to them."""

    __slots__ = ("_from", "_log", "refused")

    def __init__(self, log: SentCalls, *, of: int = 0, refused: int = 0) -> None:
        self._log, self._from = log, log.count - of
        self.refused = refused

    @property
    def sent(self) -> int:
        """All of them."""
        return self._log.count - self._from

    @property
    def share(self) -> float:
        """The refused among them."""
        return self.refused / max(1, self.sent)
