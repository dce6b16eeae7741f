import pytest

from batchwork.backends.claude_code.resets import is_usage_limit, seconds_until_reset

NOON = 1_794_744_000.0  # 2026-11-15 12:00:00 UTC


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        ("You've hit your session limit · resets 3pm (UTC)", 3 * 3600),
        ("You've hit your limit · resets 3:30pm (UTC)", 3.5 * 3600),
        ("You've hit your limit · resets 11am (UTC)", 23 * 3600),
        ("You've hit your limit · resets 1pm (Europe/Berlin)", 24 * 3600),
        ("You've hit your limit · resets 2pm (Europe/Berlin)", 3600),
        ("You've reached your weekly limit · resets Nov 17, 12pm (UTC)", 48 * 3600),
        ("You've hit your weekly limit · resets Jan 1, 2027, 12am (UTC)", 46.5 * 86400),
        ("Claude AI usage limit reached|1794747600", 3600),
        ("Claude AI usage limit reached|1794747600000", 3600),
        ("Claude AI usage limit reached", None),
        ("You've hit your limit · resets Feb 30, 3pm (UTC)", None),
    ],
)
def test_the_end_of_a_usage_limit_is_read_from_its_words(message, seconds):
    assert is_usage_limit(message)
    assert seconds_until_reset(message, NOON) == seconds


def test_an_ordinary_error_is_no_usage_limit():
    assert not is_usage_limit("API Error: Request rejected (429) · this request would exceed your rate limit")
