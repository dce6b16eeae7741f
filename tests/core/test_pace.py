from batchwork.core.rate import Pace


def _pace_of(calls: int, *, over_s: float = 1.0) -> Pace:
    pace = Pace()
    for n in range(calls + 1):
        pace.sent(n * over_s / calls)
    return pace


def test_without_a_refusal_there_is_no_guess() -> None:
    assert _pace_of(50).per_s(1.0) is None


def test_the_first_guess_is_a_little_below_what_was_let_through() -> None:
    pace = _pace_of(50)
    pace.refused(sent_at=1.0, now=1.0)
    assert pace.per_s(1.0) == 45.0


def test_the_echoes_of_one_refusal_lower_the_guess_once() -> None:
    pace = _pace_of(50)
    for _ in range(5):
        pace.refused(sent_at=1.0, now=1.0)
    assert pace.per_s(1.0) == 45.0


def test_it_grows_fast_until_it_is_refused_in_its_turn_and_slowly_from_then_on() -> None:
    pace = _pace_of(50)
    pace.refused(sent_at=1.0, now=1.0)
    assert pace.per_s(6.0) == 45.0 * 2.0
    for n in range(80):
        pace.sent(5.0 + n / 80)
    pace.refused(sent_at=6.0, now=6.0)
    lowered, grown = pace.per_s(6.0), pace.per_s(16.0)
    assert lowered is not None
    assert grown is not None
    assert lowered < grown < 1.1 * lowered


def test_a_later_refusal_lowers_it_again() -> None:
    pace = _pace_of(50)
    pace.refused(sent_at=1.0, now=1.0)
    for n in range(30):
        pace.sent(10.0 + n / 30)
    before = pace.per_s(11.0)
    pace.refused(sent_at=10.9, now=11.0)
    after = pace.per_s(11.0)
    assert before is not None
    assert after is not None
    assert after < before


def test_a_refusal_of_the_very_first_call_still_leaves_a_rate_above_zero() -> None:
    pace = Pace()
    pace.sent(0.0)
    pace.refused(sent_at=0.0, now=0.1)
    assert pace.per_s(0.1) == 0.9
