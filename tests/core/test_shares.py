"""How much one caller may hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.shares import Shares, may_hold


def test_alone_a_caller_gets_half_two_a_third_each_and_three_a_quarter() -> None:
    for callers in (1, 2, 3):
        shares = Shares(1200, divided=True)
        for _ in range(1200):
            for caller in range(callers):
                shares.take(caller, 1)
        assert shares.used == pytest.approx(1200 * callers / (callers + 1), abs=callers + 1)


def test_a_single_caller_that_shares_with_nobody_may_have_all() -> None:
    shares = Shares(10, divided=False)
    assert [shares.take(None, 1) for _ in range(11)] == [True] * 10 + [False]


def test_a_request_alone_may_be_as_large_as_it_likes() -> None:
    assert may_hold(50, own=0, used=0, total=10)
    assert not may_hold(50, own=0, used=1, total=10)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 20), st.booleans()), max_size=80))
def test_however_callers_come_and_go_a_newcomer_finds_room_and_nothing_is_lost(
    story: list[tuple[int, int, bool]],
) -> None:
    shares = Shares(1000, divided=True)
    held: dict[int, list[int]] = {}
    for caller, amount, leaves in story:
        if leaves and held.get(caller):
            shares.give_back(caller, held[caller].pop())
        elif shares.take(caller, amount):
            held.setdefault(caller, []).append(amount)
    assert shares.used == sum(map(sum, held.values()))
    assert shares.take("a newcomer", 20)
