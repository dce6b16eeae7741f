from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from batchwork.core.ledger import Ledger


def test_a_reservation_that_just_fits_is_granted_and_the_next_nano_is_not() -> None:
    ledger = Ledger(ceiling=100, spent=40)
    assert ledger.reserve(60)
    assert not ledger.reserve(1)


def test_what_was_not_spent_comes_back() -> None:
    ledger = Ledger(ceiling=100)
    ledger.reserve(100)
    ledger.settle(100, 30)
    assert ledger.left == 70


def test_without_a_ceiling_everything_fits() -> None:
    ledger = Ledger(ceiling=None)
    assert ledger.reserve(10**30)
    assert ledger.left is None
    assert ledger.could_ever_fit(10**40)


def test_what_others_have_reserved_may_still_come_back() -> None:
    ledger = Ledger(ceiling=100)
    ledger.reserve(80)
    assert not ledger.reserve(50)
    assert ledger.could_ever_fit(50)
    ledger.settle(80, 60)
    assert not ledger.could_ever_fit(50)


def test_a_ceiling_below_what_is_spent_lets_only_free_calls_wait() -> None:
    ledger = Ledger(ceiling=10, spent=50)
    assert not ledger.reserve(0)
    assert not ledger.could_ever_fit(0)


class _Ledgers(RuleBasedStateMachine):
    """Any interleaving of reserving, settling at no more than was reserved, and releasing."""

    def __init__(self) -> None:
        super().__init__()
        self.ledger = Ledger(ceiling=1000)
        self.open: list[int] = []
        self.refused: list[int] = []

    @rule(amount=st.integers(0, 600))
    def reserve(self, amount: int) -> None:
        fits = self.ledger.spent + sum(self.open) + amount <= 1000
        assert self.ledger.reserve(amount) is fits
        if fits:
            self.open.append(amount)
        elif not self.ledger.could_ever_fit(amount):
            self.refused.append(amount)

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def settle(self, data: st.DataObject) -> None:
        amount = self.open.pop(data.draw(st.integers(0, len(self.open) - 1)))
        self.ledger.settle(amount, data.draw(st.integers(0, amount)))

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        self.ledger.settle(self.open.pop(data.draw(st.integers(0, len(self.open) - 1))), 0)

    @invariant()
    def never_over_the_ceiling(self) -> None:
        assert self.ledger.spent + self.ledger.reserved <= 1000
        assert self.ledger.reserved == sum(self.open)

    @invariant()
    def a_no_is_final(self) -> None:
        assert not any(self.ledger.could_ever_fit(amount) for amount in self.refused)


TestLedgers = _Ledgers.TestCase
TestLedgers.settings = settings(max_examples=40, stateful_step_count=40)


@given(st.lists(st.integers(0, 10**12)))
def test_spent_is_the_sum_of_what_was_settled(amounts: list[int]) -> None:
    ledger = Ledger(ceiling=None, spent=7)
    for amount in amounts:
        ledger.reserve(amount)
        ledger.settle(amount, amount)
    assert (ledger.spent, ledger.reserved) == (7 + sum(amounts), 0)
