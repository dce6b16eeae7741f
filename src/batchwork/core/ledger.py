"""Decide whether there is money left: the only place where anything is compared with the ceiling.

A call's worst case is reserved before it starts and settled at what it really cost, so that spent + reserved never
passes the ceiling, whatever the order in which calls end.
"""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True, eq=False)
class Ledger:
    """Spent and reserved money of everything that shares one budget, in nano-dollars."""

    ceiling: int | None
    spent: int = 0
    reserved: int = 0

    def reserve(self, amount: int) -> bool:
        """Set `amount` aside if it fits now; say whether it did."""
        if self.ceiling is not None and self.spent + self.reserved + amount > self.ceiling:
            return False
        self.reserved += amount
        return True

    def take_over(self, amount: int) -> None:
        """Set aside what an earlier run has committed already: it is owed, whether it fits or not."""
        self.reserved += amount

    def could_ever_fit(self, amount: int) -> bool:
        """Whether `amount` fits if every reservation came back unspent: spending never shrinks, so a no is final."""
        return self.ceiling is None or self.spent + amount <= self.ceiling

    def settle(self, reserved: int, spent: int) -> None:
        """Give a reservation back and book what was really spent."""
        self.reserved -= reserved
        self.spent += spent

    @property
    def left(self) -> int | None:
        """What may still be reserved; None without a ceiling."""
        return None if self.ceiling is None else self.ceiling - self.spent - self.reserved
