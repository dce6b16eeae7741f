from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.lease import MoneyAnswer, MoneyReport
from batchwork.core.leased_ledger import LeasedLedger
from batchwork.core.ledger import Ledger
from tests.support.memory_accounts import MemoryAccount, MemoryLease


def held(amount: int, *, ceiling: int = 1000, spent: int = 0) -> tuple[LeasedLedger, list[int]]:
    asked: list[int] = []
    ledger = LeasedLedger("team", on_short=lambda: asked.append(1))
    answer = MoneyAnswer(granted=amount, ceiling=ceiling, spent=spent, leased=amount, holders=2)
    ledger.answered(MoneyReport(spent=0, kept=0), answer)
    return ledger, asked


def test_a_chunk_holds_without_asking_and_what_does_not_fit_is_asked_for() -> None:
    ledger, asked = held(100)
    assert ledger.reserve(60)
    assert not ledger.reserve(60)
    assert asked
    report = ledger.ask(0.0, least=60, waiting=180)
    assert report == MoneyReport(spent=0, kept=60, need=60, want=180)


def test_a_no_is_final_only_against_what_all_have_spent() -> None:
    ledger, _ = held(10, ceiling=1000, spent=900)
    assert ledger.could_ever_fit(100)
    assert ledger.lacking(101) is ledger
    ledger.reserve(10)
    ledger.settle(10, 10)
    assert not ledger.could_ever_fit(100)
    assert ledger.unspent == 90


def test_what_is_given_back_cannot_be_reserved_while_the_report_is_on_its_way() -> None:
    ledger, _ = held(100)
    report = ledger.tell()
    assert report == MoneyReport(spent=0, kept=0)
    assert not ledger.reserve(1)


def test_while_nobody_answers_nothing_starts_and_nothing_is_final() -> None:
    ledger, _ = held(100)
    ledger.is_away = True
    assert not ledger.reserve(1)
    assert ledger.could_ever_fit(1)


def test_a_lease_that_is_gone_was_booked_so_its_calls_are_paid() -> None:
    ledger, _ = held(100)
    ledger.reserve(40)
    ledger.lost()
    ledger.settle(40, 30)
    assert (ledger.spent, ledger.reserved, ledger.ceiling) == (0, 0, 0)


def test_a_batch_of_an_earlier_run_is_paid_up_to_its_worst_case() -> None:
    ledger, _ = held(0)
    ledger.take_over(50)
    ledger.settle(30, 20)
    ledger.settle(20, 25)
    assert (ledger.spent, ledger.reserved) == (5, 0)


def test_a_ledger_with_others_beside_it_reserves_in_all_of_them_or_in_none() -> None:
    team, _ = held(100)
    project, _ = held(50)
    own = Ledger(ceiling=80, also=(team, project))
    assert own.reserve(50)
    assert not own.reserve(20)
    assert (own.reserved, team.reserved, project.reserved) == (50, 50, 50)
    own.settle(50, 10)
    assert (own.left, team.left, project.left) == (40, 90, 40)
    assert own.is_limited
    assert own.may_grow
    assert own.lacking(75) is own
    assert own.lacking(2000) is own
    assert Ledger(ceiling=None, also=(team,)).lacking(2000) is team


@given(
    calls=st.lists(
        st.tuples(
            st.integers(0, 2), st.integers(1, 40), st.integers(0, 100), st.sampled_from(["start", "end", "talk"])
        ),
        max_size=120,
    ),
    ceiling=st.integers(0, 500),
)
def test_three_processes_never_have_more_under_way_and_spent_than_the_ceiling(
    calls: list[tuple[int, int, int, str]], ceiling: int
) -> None:
    account = MemoryAccount.of("team", ceiling=ceiling)
    ledgers = [LeasedLedger("team", on_short=lambda: None) for _ in range(3)]
    leases = [MemoryLease() for _ in ledgers]
    under_way: list[list[int]] = [[], [], []]
    spent = 0
    for now, (who, amount, percent, what) in enumerate(calls):
        ledger = ledgers[who]
        if what == "start" and ledger.reserve(amount):
            under_way[who].append(amount)
        elif what == "end" and under_way[who]:
            worst = under_way[who].pop()
            cost = worst * percent // 100
            ledger.settle(worst, cost)
            spent += cost
        elif what == "talk" and (report := ledger.ask(float(now), least=amount, waiting=2 * amount) or ledger.tell()):
            given_now = account.exchange(leases[who], report, holders=3)
            answer = MoneyAnswer(
                granted=given_now, ceiling=ceiling, spent=account.spent, leased=account.leased, holders=3
            )
            ledger.answered(report, answer)
        assert spent + sum(map(sum, under_way)) <= ceiling
        assert account.spent + account.leased <= ceiling
