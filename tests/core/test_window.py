from hypothesis import given
from hypothesis import strategies as st

from batchwork.core.sent_calls import SentCalls
from batchwork.core.window import AdaptiveWindow


def _window(most: int, opening: int | None = None, *, sent: int = 0) -> AdaptiveWindow:
    """A window that so many calls were sent through, all at 0."""
    window, log = AdaptiveWindow(most, opening=opening), SentCalls()
    window.watch(log)
    for _ in range(sent):
        log.add(0.0)
    return window


def test_it_is_full_from_the_start() -> None:
    assert _window(100).size == 100


def test_a_provider_with_unknown_limits_is_met_with_the_opening_which_every_answer_widens() -> None:
    window = _window(400, 100)
    sizes = [window.size]
    for _ in range(2):
        for _ in range(window.size):
            window.answered()
        sizes.append(window.size)
    assert sizes == [100, 200, 400]


def test_known_limits_open_it_at_once() -> None:
    window = _window(400, 100)
    window.limits_known()
    assert window.size == 400


def test_a_few_refusals_cut_a_little_and_many_cut_more_but_never_below_seven_tenths() -> None:
    sizes = []
    for refused in (1, 20, 90):
        window = _window(100, sent=100)
        for _ in range(refused):
            window.refused(sent_at=0.0, now=0.5, in_flight=100)
        sizes.append(window.size)
    assert sizes == [95, 80, 70]


def test_the_cut_is_taken_from_what_was_really_in_flight() -> None:
    window = _window(100, sent=10)
    for _ in range(9):
        window.refused(sent_at=0.0, now=0.5, in_flight=10)
    assert window.size == 7


def test_growth_after_a_cut_is_one_per_window_of_answers() -> None:
    window = _window(100, sent=15)
    for _ in range(15):
        window.refused(sent_at=0.0, now=0.5, in_flight=15)
    before = window.size
    for _ in range(before + 1):
        window.answered()
    assert window.size == before + 1


def test_after_a_pause_for_a_quota_a_few_go_first_and_every_answer_lets_one_more_in() -> None:
    window = _window(100)
    window.restart()
    assert window.size == 4
    for _ in range(4):
        window.answered()
    assert window.size == 8


@given(
    most=st.integers(1, 500),
    opening=st.none() | st.integers(1, 500),
    story=st.lists(st.sampled_from(["sent", "answered", "refused", "limits", "restart"]), max_size=200),
)
def test_there_is_always_room_for_one_and_never_for_more_than_the_most(
    most: int, opening: int | None, story: list[str]
) -> None:
    window, log = AdaptiveWindow(most, opening=opening), SentCalls()
    window.watch(log)
    for now, happens in enumerate(story):
        if happens == "sent":
            log.add(float(now))
        elif happens == "answered":
            window.answered()
        elif happens == "refused":
            window.refused(sent_at=float(now), now=float(now), in_flight=max(1, window.size // 2))
        elif happens == "limits":
            window.limits_known()
        else:
            window.restart()
        assert 1 <= window.size <= most


def test_places_of_the_first_wave_stay_empty_until_something_is_answered() -> None:
    window = AdaptiveWindow(100)
    assert [window.leave_empty() for _ in range(3)] == [1, 2, 3]
    assert window.size == 97
    window.answered()
    assert (window.leave_empty(), window.size) == (0, 100)
