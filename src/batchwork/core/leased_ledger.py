"""Decide from a leased chunk of an account's money whether a call may start, and what is asked of the account next.

The chunk's ceiling holds without asking anybody. A no is final only against what all processes have *spent*: until
then somebody's reservation may come back. Whoever starves gives its own rest back with the same question, so that no
two rests block each other.
"""

from __future__ import annotations

from collections.abc import Callable

from batchwork.core.lease import MoneyAnswer, MoneyReport, next_chunk
from batchwork.core.ledger import Ledger


class LeasedLedger(Ledger):
    """The part of an account's money that this process holds; `ceiling` is what was granted since the lease began."""

    def __init__(self, name: str, *, on_short: Callable[[], None]) -> None:
        super().__init__(ceiling=0)
        self.name = name
        self.account: MoneyAnswer | None = None  # as it was last told
        self.is_away = False  # nobody answers for the account: nothing new starts
        self._on_short = on_short
        self._reported = 0  # of what is spent
        self._prepaid = 0  # of what is reserved: the account has booked it already
        self._chunk = 0
        self._chunk_at = float("-inf")
        self._short = 0  # the least that did not fit since the last answer
        self._foreseen = 0  # about to be reserved bit by bit
        self._starving_for = 0  # what the last answer was too little for
        self._is_used = False  # since the last report

    def reserve(self, amount: int) -> bool:
        """Set `amount` aside if the chunk holds it; ask for more when it does not, and before it is used up."""
        if self.is_away:
            return False
        left = self._left
        if amount > left:
            self._short = min(self._short or amount, amount)
            self._on_short()
            return False
        self.reserved += amount
        self._is_used = True
        if (left - amount) * 2 < self._chunk:
            self._on_short()
        return True

    def foresee(self, amount: int) -> None:
        """Ask for so much next time, if anything is asked for."""
        self._foreseen = amount

    def take_over(self, amount: int) -> None:
        """Follow what an earlier run has committed: the account has booked that at its worst case."""
        self._prepaid += amount

    def settle(self, reserved: int, spent: int) -> None:
        """Give a reservation back and book what was really spent, unless the account has booked it already."""
        if spent < 0:  # a booking is taken back: so much of what comes next is paid
            self._prepaid -= spent
            spent = 0
        paid = min(reserved, self._prepaid)
        self._prepaid -= paid
        self.reserved -= reserved - paid
        self.spent += max(0, spent - paid) if paid else spent
        if self.is_worth_asking:
            self._on_short()

    @property
    def is_worth_asking(self) -> bool:
        """Whether what was given back here and what is free there may be enough for one who starves."""
        account, need = self.account, self._starving_for
        if not need or account is None:
            return False
        return self._left < need <= self._left + account.ceiling - account.spent - account.leased

    def lacking(self, amount: int) -> Ledger | None:
        """This ledger, if the account has too little left of what nobody has spent."""
        if self.account is None or self._spent_by_all + amount <= self.account.ceiling:
            return None
        return self

    @property
    def _spent_by_all(self) -> int:
        assert self.account is not None
        return self.account.spent + self.spent - self._reported

    @property
    def _left(self) -> int:
        assert self.ceiling is not None
        return self.ceiling - self.spent - self.reserved

    @property
    def budget(self) -> int | None:
        """The account's ceiling."""
        return None if self.account is None else self.account.ceiling

    @property
    def unspent(self) -> int:
        """What the account has left, reservations of others included, as it was last told."""
        return 0 if self.account is None else max(0, self.account.ceiling - self._spent_by_all)

    @property
    def period_left_s(self) -> float | None:
        """Seconds until the account's next period; None: it has none, or that is not known yet."""
        return None if self.account is None else self.account.left_s

    @property
    def may_grow(self) -> bool:
        """The account may grant more."""
        return True

    @property
    def is_asking(self) -> bool:
        """Something did not fit, and the account has not answered since."""
        return self._short > 0

    def ask(self, now: float, *, least: int = 0, waiting: int = 0) -> MoneyReport | None:
        """What to ask the account for: `waiting` is what all need who wait, `least` the least; None: nothing."""
        need = min(filter(None, (least, self._short)), default=0)
        if need > self._left:  # starving: the rest is of no use here
            self._grow(now, need)
            return self._report(keep=0, need=need, want=max(need, waiting, self._chunk, self._foreseen))
        if self._is_used and self._left * 2 < self._chunk:
            self._grow(now, 0)
            return self._report(keep=self._left, want=self._chunk)
        return None

    def tell(self) -> MoneyReport | None:
        """What to tell the account from time to time, and to give back; None: nothing is new."""
        keep = 2 * self._chunk if self._is_used else 0  # whoever is idle keeps nothing back
        self._is_used = False
        if self.spent == self._reported and keep >= self._left:
            return None
        return self._report(keep=keep)

    def _report(self, *, keep: int, need: int = 0, want: int = 0) -> MoneyReport:
        """Tell what is spent, and give back what is left but for `keep`: at once, before anybody can reserve it."""
        self.ceiling = self.spent + self.reserved + min(keep, self._left)
        return MoneyReport(spent=self.spent, kept=self.ceiling, need=need, want=want)

    def _grow(self, now: float, need: int) -> None:
        holders = 1 if self.account is None else self.account.holders
        self._chunk = max(need, next_chunk(self._chunk, lasted_s=now - self._chunk_at, holders=holders))
        self._chunk_at = now

    def answered(self, report: MoneyReport, answer: MoneyAnswer) -> bool:
        """Take in what the account says; whether it gave something to one who starves."""
        self.ceiling = answer.granted
        self._reported = report.spent
        self.account = answer
        self._short = self._foreseen = 0
        if report.want:  # where less is given than was wanted, it is not asked for again at once
            self._chunk = min(self._chunk, max(0, answer.granted - report.kept))
        has_enough = self._left >= report.need
        self._starving_for = 0 if has_enough else report.need
        return has_enough

    def lost(self) -> None:
        """The lease is gone, and all that it held is booked: what is under way is paid, and nothing is left."""
        self._prepaid += self.reserved
        self.ceiling = self.spent = self.reserved = self._reported = 0
