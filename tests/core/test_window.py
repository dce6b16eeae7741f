from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.rate import AdaptiveWindow


def _refuse(window: AdaptiveWindow, sent_at: float, now: float, in_flight: int = 100, **how: bool) -> bool:
    how = {"paused": False, "paced": False} | how
    return window.refused(sent_at=sent_at, now=now, in_flight=in_flight, **how)


def test_it_is_full_from_the_start() -> None:
    assert AdaptiveWindow(100).size == 100


def test_a_provider_with_unknown_limits_starts_slowly_and_doubles() -> None:
    window = AdaptiveWindow(100, slow_start=True)
    sizes = [window.size]
    for _ in range(3):
        for _ in range(window.size):
            window.answered()
        sizes.append(window.size)
    assert sizes == [4, 8, 16, 32]


def test_known_limits_end_the_slow_start() -> None:
    window = AdaptiveWindow(100, slow_start=True)
    window.limits_known()
    assert window.size == 100


def test_a_refusal_cuts_once_and_its_echoes_do_not() -> None:
    window = AdaptiveWindow(100)
    assert _refuse(window, sent_at=0.0, now=1.0)
    assert not _refuse(window, sent_at=0.5, now=1.1)
    assert not _refuse(window, sent_at=1.0, now=1.2)
    assert window.size == 70


def test_a_refusal_of_a_call_sent_after_the_cut_is_a_new_episode() -> None:
    window = AdaptiveWindow(100)
    _refuse(window, sent_at=0.0, now=1.0)
    assert _refuse(window, sent_at=1.5, now=2.0, in_flight=70)
    assert window.size == 49


def test_the_cut_is_taken_from_what_was_really_in_flight() -> None:
    window = AdaptiveWindow(100)
    _refuse(window, sent_at=0.0, now=1.0, in_flight=10)
    assert window.size == 7


def test_growth_is_one_per_window_of_answers() -> None:
    window = AdaptiveWindow(100)
    _refuse(window, sent_at=0.0, now=1.0, in_flight=15)
    for _ in range(12):
        window.answered()
    assert window.size == 11


def test_after_a_pause_everybody_starts_slowly() -> None:
    window = AdaptiveWindow(100)
    _refuse(window, sent_at=0.0, now=1.0, paused=True)
    assert window.size == 4


def test_limits_learned_after_a_cut_do_not_undo_it() -> None:
    window = AdaptiveWindow(100, slow_start=True)
    _refuse(window, sent_at=0.0, now=1.0, in_flight=4)
    window.limits_known()
    assert window.size == 2


def test_where_the_rate_is_held_elsewhere_it_grows_back_with_every_answer() -> None:
    window = AdaptiveWindow(100)
    _refuse(window, sent_at=0.0, now=1.0, in_flight=10, paced=True, paused=True)
    assert window.size == 7
    for _ in range(5):
        window.answered()
    assert window.size == 12


@given(
    most=st.integers(1, 300),
    slow=st.booleans(),
    steps=st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.integers(1, 300)), max_size=80),
)
def test_there_is_always_room_for_one_and_never_for_more_than_the_most(
    most: int, slow: bool, steps: list[tuple[bool, bool, bool, int]]
) -> None:
    window = AdaptiveWindow(most, slow_start=slow)
    for now, (refused, paused, paced, in_flight) in enumerate(steps):
        if refused:
            _refuse(window, sent_at=now - 0.5, now=now, in_flight=in_flight, paused=paused, paced=paced)
        else:
            window.answered()
        assert 1 <= window.size <= most
