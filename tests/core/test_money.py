from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.errors import ConfigError
from batchwork.core.money import NANO, ceiling_from_dollars, nano_from_dollars, show, to_dollars


def test_a_ceiling_is_rounded_down_and_a_cost_up() -> None:
    assert ceiling_from_dollars("0.0000000019") == 1
    assert nano_from_dollars("0.0000000011") == 2


def test_a_float_is_read_as_it_is_printed() -> None:
    assert ceiling_from_dollars(0.1) == NANO // 10
    assert ceiling_from_dollars(5.00) == 5 * NANO


@pytest.mark.parametrize("amount", [-1, "-0.01", float("nan"), float("inf"), "five", None, "", True, [5]])
def test_what_is_not_an_amount_is_an_error_that_names_it(amount: object) -> None:
    with pytest.raises(ConfigError, match="amount"):
        ceiling_from_dollars(amount)  # type: ignore[arg-type]


@given(st.integers(0, 10**18))
def test_dollars_are_exact_and_come_back(nano: int) -> None:
    assert nano_from_dollars(to_dollars(nano)) == nano
    assert ceiling_from_dollars(to_dollars(nano)) == nano


def test_round_dollars_are_written_plainly() -> None:
    assert str(to_dollars(100 * NANO)) == "100"
    assert to_dollars(1500) == Decimal("0.0000015")


def test_money_for_people() -> None:
    assert show(None) == "unknown"
    assert show(0) == "$0.00"
    assert show(1234 * NANO) == "$1,234.00"
    assert show(1_230_000) == "$0.00123"


def test_money_below_what_is_shown_is_not_shown_as_nothing() -> None:
    assert show(1) == "$0.000000001"
    assert show(NANO // 2) == "$0.50"
