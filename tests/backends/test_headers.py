import pytest

from batchwork.backends._headers import ANTHROPIC_LIMITS, OPENAI_LIMITS, LimitsReader, duration_s
from batchwork.core.reply import Limit


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("6m0s", 360),
        ("2m59.56s", 179.56),
        ("120ms", 0.12),
        ("1h2m3s", 3723),
        ("12", 12),
        ("1m", 60),
        ("", None),
        ("soon", None),
        ("-1", None),
    ],
)
def test_a_duration_is_read_in_all_its_forms(text, seconds):
    assert duration_s(text) == seconds


def test_a_limit_that_a_server_does_not_have_is_none():
    assert (
        OPENAI_LIMITS.read({"x-ratelimit-limit-requests": "-1", "x-ratelimit-remaining-requests": "-1"}, lambda: 0.0)
        is None
    )
    assert (
        OPENAI_LIMITS.read({"x-ratelimit-limit-tokens": "0", "x-ratelimit-remaining-tokens": "0"}, lambda: 0.0) is None
    )


def test_one_limit_for_all_tokens_stands_where_there_is_no_other():
    limits = ANTHROPIC_LIMITS.read({"anthropic-ratelimit-tokens-limit": "80000"}, lambda: 0.0)
    assert limits is not None
    assert limits.tokens == Limit(per_minute=80_000)


def test_a_reset_is_the_time_until_then():
    headers = {
        "anthropic-ratelimit-requests-limit": "60",
        "anthropic-ratelimit-requests-reset": "1970-01-01T00:01:40Z",
    }
    limits = ANTHROPIC_LIMITS.read(headers, lambda: 40.0)
    assert limits is not None
    assert limits.requests == Limit(per_minute=60, reset_s=60)


def test_limits_are_said_again_only_when_there_is_news():
    reader = LimitsReader(OPENAI_LIMITS, lambda: 0.0)
    plenty = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59"}
    assert reader.news(plenty) is not None
    assert reader.news({**plenty, "x-ratelimit-remaining-requests": "31"}) is None
    assert reader.news({**plenty, "x-ratelimit-remaining-requests": "29"}).requests.remaining == 29
    assert reader.news({**plenty, "x-ratelimit-limit-requests": "50"}).requests.per_minute == 50
    assert reader.news({"x-ratelimit-limit-tokens": "9"}).tokens.per_minute == 9
    assert reader.news({}) is None
