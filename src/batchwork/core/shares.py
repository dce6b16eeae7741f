"""Decide how much of something that all callers share one of them may hold: as much as it leaves free. Pure.

Alone a caller gets half, two get a third each: a newcomer always finds room. One that holds nothing is asked only
whether the whole has room, so that a request is never refused for being larger than a part.
"""

from collections.abc import Hashable


def may_hold(amount: int, *, own: int, used: int, total: int) -> bool:
    """Whether a caller that holds `own` of the `used` may hold `amount` more."""
    if used + amount > total:
        return used == 0  # alone a request may be as large as it likes
    return own == 0 or own + amount <= total - used - amount


class Shares:
    """Who holds how much of one thing."""

    def __init__(self, total: int, *, divided: bool) -> None:
        """Without `divided` there is one caller, who may have all of it."""
        self.total = total
        self.used = 0
        self._divided = divided
        self._own: dict[Hashable, int] = {}

    def take(self, caller: Hashable, amount: int) -> bool:
        """Hold so much more, if that is the caller's due."""
        own = self._own.get(caller, 0) if self._divided else 0
        if not may_hold(amount, own=own, used=self.used, total=self.total):
            return False
        self.add(caller, amount)
        return True

    def add(self, caller: Hashable, amount: int) -> None:
        """Hold so much more in any case: it is there already."""
        self.used += amount
        self._own[caller] = self._own.get(caller, 0) + amount

    def give_back(self, caller: Hashable, amount: int) -> None:
        """Hold so much less."""
        self.used -= amount
        left = self._own[caller] - amount
        if left:
            self._own[caller] = left
        else:
            del self._own[caller]
