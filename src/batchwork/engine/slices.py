"""Decide which job an item belongs to, and whether one more job may be under way.

The jobs of a run are slices of its input. They share window, budget and rates; what they have of their own is that
only so many are under way at once, and that a provider batch never mixes two of them.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Slices:
    """The jobs of one run, each a slice of its input. Made once, run once."""

    width: int
    most_open: int
    on_start: Callable[[int], None] | None = None
    _open: Counter[int] = field(default_factory=Counter, init=False)

    def of(self, index: int) -> int:
        """The job of the item at this place of the input."""
        return index // self.width

    def may_start(self, index: int) -> bool:
        """Whether an item may be begun: its job is under way, or there is room for one more."""
        return self.of(index) in self._open or len(self._open) < self.most_open

    def start(self, index: int) -> None:
        """An item is begun."""
        self._open[self.of(index)] += 1
        if self.on_start is not None:
            self.on_start(index)

    def end(self, index: int) -> None:
        """An item is done with for now."""
        job = self.of(index)
        self._open[job] -= 1
        if not self._open[job]:
            del self._open[job]
