"""A cache that is bounded by the weight of what it keeps, not by the number. What was used longest ago goes first."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class WeighedCache(Generic[Key, Value]):
    """Keeps values up to a total weight."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self.weight = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key) -> Value | None:
        """What is kept under the key."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: Key, value: Value, weight: int) -> None:
        """Keep it, and let go what is too much then; what is too much alone is not kept."""
        self.pop(key)
        if weight > self._most:
            return
        self._kept[key] = (value, weight)
        self.weight += weight
        while self.weight > self._most:
            self.pop(next(iter(self._kept)))

    def pop(self, key: Key) -> Value | None:
        """Keep it no longer."""
        found = self._kept.pop(key, None)
        if found is None:
            return None
        self.weight -= found[1]
        return found[0]
