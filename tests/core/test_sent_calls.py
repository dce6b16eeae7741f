import pytest

from batchwork.core.sent_calls import SentCalls, Tally


def test_the_rate_is_that_of_the_last_second() -> None:
    log = SentCalls()
    for n in range(300):
        log.add(n * 0.01)
    assert log.count == 300
    assert log.per_s(2.99) == pytest.approx(100.0, rel=0.05)


def test_nothing_sent_is_no_rate() -> None:
    assert SentCalls().per_s(1.0) == 0.0


def test_a_tally_counts_from_now_on_and_what_belongs_to_it_before() -> None:
    log = SentCalls()
    log.add(0.0)
    tally = Tally(log, of=3, refused=1)
    log.add(0.1)
    assert (tally.sent, tally.share) == (4, 0.25)


def test_the_share_of_no_calls_is_nothing() -> None:
    assert Tally(SentCalls()).share == 0.0
