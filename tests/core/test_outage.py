from batchwork.core.outage import Outage
from batchwork.core.sent_calls import SentCalls


def _refused(outage: Outage, log: SentCalls, now: float, after: float | None = None) -> float | None:
    log.add(now)
    return outage.refused(sent_at=now, now=now, retry_after_s=after)


def test_a_few_refusals_among_answers_are_no_outage() -> None:
    log = SentCalls()
    outage = Outage(log)
    for n in range(50):
        log.add(n / 100)
    assert [_refused(outage, log, 0.5 + n / 100) for n in range(8)] == [None] * 8
    assert not outage.is_on


def test_when_nearly_all_are_refused_everybody_waits_as_the_provider_asks() -> None:
    log = SentCalls()
    outage = Outage(log)
    assert [_refused(outage, log, n / 100, after=7.0) for n in range(4)] == [None, None, None, 7.0]
    assert outage.is_on


def test_where_it_names_no_time_the_tries_become_rarer_up_to_a_bound() -> None:
    log, now = SentCalls(), 0.0
    outage = Outage(log)
    waits = []
    for _ in range(12):
        now += 10.0
        if (wait := _refused(outage, log, now)) is not None:
            waits.append(wait)
    assert waits == [0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0, 5.0]


def test_one_call_that_is_let_through_ends_it() -> None:
    log = SentCalls()
    outage = Outage(log)
    for n in range(5):
        _refused(outage, log, float(n))
    outage.let_through()
    assert not outage.is_on
    assert _refused(outage, log, 100.0) is None
