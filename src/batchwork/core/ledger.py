"""Decide whether there is money left: the only place where anything is compared with the ceiling.

A call's worst case is reserved before it starts and settled at what it really cost, so that spent + reserved never
passes the ceiling, whatever the order in which calls end. A ledger may have others beside it, whose ceilings hold too:
a run's own budget, and the accounts that it shares with other processes (`core/leased_ledger.py`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True, eq=False)
class Ledger:
    """Spent and reserved money of everything that shares one budget, in nano-dollars."""

    ceiling: int | None
    spent: int = 0
    reserved: int = 0
    also: tuple[Ledger, ...] = ()  # everything is reserved in these as well, or in none

    def reserve(self, amount: int) -> bool:
        """Set `amount` aside if it fits now; say whether it did."""
        if self.ceiling is not None and self.spent + self.reserved + amount > self.ceiling:
            return False
        for at, other in enumerate(self.also):
            if not other.reserve(amount):
                for each in self.also[:at]:
                    each.settle(amount, 0)
                return False
        self.reserved += amount
        return True

    def take_over(self, amount: int) -> None:
        """Set aside what an earlier run has committed already: it is owed, whether it fits or not."""
        self.reserved += amount
        for other in self.also:
            other.take_over(amount)

    def could_ever_fit(self, amount: int) -> bool:
        """Whether `amount` fits if every reservation came back unspent: spending never shrinks, so a no is final."""
        return self.lacking(amount) is None

    def lacking(self, amount: int) -> Ledger | None:
        """The ledger, this one or one beside it, into which `amount` can never fit; None: there is none."""
        if self.ceiling is not None and self.spent + amount > self.ceiling:
            return self
        for other in self.also:
            if other.lacking(amount) is not None:
                return other
        return None

    def settle(self, reserved: int, spent: int) -> None:
        """Give a reservation back and book what was really spent."""
        self.reserved -= reserved
        self.spent += spent
        for other in self.also:
            other.settle(reserved, spent)

    @property
    def left(self) -> int | None:
        """What may still be reserved; None without a ceiling."""
        own = None if self.ceiling is None else self.ceiling - self.spent - self.reserved
        for other in self.also:
            if (left := other.left) is not None and (own is None or left < own):
                own = left
        return own

    @property
    def is_limited(self) -> bool:
        """Whether anything is compared with a ceiling at all."""
        return self.ceiling is not None or bool(self.also)

    @property
    def budget(self) -> int | None:
        """All the money there is, spent or not; None without a ceiling."""
        return self.ceiling

    @property
    def may_grow(self) -> bool:
        """Whether room may come from others than the calls of this process."""
        return any(other.may_grow for other in self.also)

    @property
    def is_asking(self) -> bool:
        """Whether others were asked for room and have not answered yet."""
        return any(other.is_asking for other in self.also)

    def foresee(self, amount: int) -> None:
        """So much is about to be reserved bit by bit: whoever is asked for room is asked for all of it."""
        for other in self.also:
            other.foresee(amount)
