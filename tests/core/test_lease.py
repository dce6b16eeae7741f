from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.lease import MoneyReport, dry_s, granted, next_chunk, stretch_s, turn_s
from tests.support.memory_accounts import MemoryAccount, MemoryLease

_AMOUNT = st.integers(0, 10**12)
_HOLDERS = st.integers(0, 500)


@given(left=st.integers(-(10**12), 10**12), need=_AMOUNT, want=_AMOUNT, holders=_HOLDERS)
def test_a_lease_is_never_more_than_is_left_nor_of_no_use(left: int, need: int, want: int, holders: int) -> None:
    amount = granted(left=left, need=need, want=want, holders=holders)
    assert 0 <= amount <= max(0, left)
    assert amount == 0 or amount >= need
    assert amount <= max(need, want)
    assert (amount > 0) == (left >= max(need, 1) and (need > 0 or min(want, left // (2 * max(1, holders))) > 0))


@given(left=st.integers(1, 10**12), want=_AMOUNT, holders=st.integers(1, 500))
def test_whoever_is_in_no_need_leaves_more_than_half_of_it_to_each_of_the_others(
    left: int, want: int, holders: int
) -> None:
    assert granted(left=left, need=0, want=want, holders=holders) * 2 * holders <= left


@given(chunk=_AMOUNT, lasted=st.floats(0, 1e6), holders=_HOLDERS)
def test_a_chunk_settles_at_some_turns_of_spending(chunk: int, lasted: float, holders: int) -> None:
    following = next_chunk(chunk, lasted_s=lasted, holders=holders)
    turn = turn_s(holders)
    expected = chunk * 2 if lasted < turn else chunk // 2 if lasted > 4.0 * turn else chunk
    assert following == expected


def test_the_more_share_an_account_the_less_often_each_of_them_asks() -> None:
    assert [turn_s(holders) for holders in (1, 10, 200)] == [0.5, 0.5, 8.0]
    assert [dry_s(tries, 1) for tries in (0, 1, 9)] == [0.1, 0.2, 1.0]
    assert [dry_s(tries, 200) for tries in (0, 9)] == [0.5, 2.0]
    assert [stretch_s(holders) for holders in (1, 20, 200)] == [0.1, 0.05, 0.02]


_STEP = st.tuples(
    st.integers(0, 3),  # who
    st.integers(0, 100),  # of what it holds, spent now, in percent
    st.integers(0, 100),  # of what is left of that, kept, in percent
    st.integers(0, 300),  # need
    st.integers(0, 1000),  # want
    st.sampled_from(["talk", "talk", "talk", "die", "end"]),
)


@given(ceiling=st.integers(0, 2000), steps=st.lists(_STEP, max_size=60))
def test_what_is_leased_and_spent_never_passes_the_ceiling_whoever_talks_dies_or_ends(
    ceiling: int, steps: list[tuple[int, int, int, int, int, str]]
) -> None:
    account = MemoryAccount.of("team", ceiling=ceiling)
    leases = {who: account.begin() for who in range(4)}
    really_spent = 0
    for who, spent_percent, kept_percent, need, want, what in steps:
        lease = account.leases[leases[who]]
        spent = lease.spent + lease.held * spent_percent // 100
        really_spent += spent - lease.spent
        if what == "talk":
            kept = spent + (lease.granted - spent) * kept_percent // 100
            account.exchange(lease, MoneyReport(spent=spent, kept=kept, need=need, want=want), holders=4)
        elif what == "end":
            account.end(account.leases.pop(leases[who]), spent=spent, reserved=0)
            leases[who] = account.begin()
        else:
            account.reap(leases[who])
            leases[who] = account.begin()
        assert really_spent <= account.spent + account.leased <= ceiling
        assert account.leased == sum(each.held for each in account.leases.values())


def test_what_is_told_twice_changes_nothing() -> None:
    account, lease = MemoryAccount.of("team", ceiling=1000), MemoryLease()
    account.exchange(lease, MoneyReport(spent=0, kept=0, need=100, want=100), holders=1)
    before = (account.spent, account.leased)
    for _ in range(2):  # the answer to the first was lost: what it granted is given back, and granted anew
        account.exchange(lease, MoneyReport(spent=0, kept=0, need=100, want=100), holders=1)
    assert (account.spent, account.leased, lease.granted) == (*before, 100)
