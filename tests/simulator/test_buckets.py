"""Rate limits: buckets, refusals, and headers in both formats."""

import re
from datetime import UTC, datetime

import pytest

from batchwork.simulator.buckets import Bucket
from tests.simulator.wire import ask_anthropic, ask_openai, chat, message


def test_a_bucket_refills_continuously_and_never_above_its_burst():
    bucket = Bucket(60, burst_s=5, now=0.0)
    for _ in range(5):
        assert bucket.wait_s(1, 0.0) == 0
        bucket.take(1, 0.0)
    assert bucket.wait_s(1, 0.0) == pytest.approx(1.0)
    assert bucket.wait_s(1, 1.0) == 0
    assert bucket.level(1000.0) == 5


def test_a_call_larger_than_the_bucket_passes_when_it_is_full_and_leaves_a_debt():
    bucket = Bucket(600, burst_s=1, now=0.0)
    assert bucket.wait_s(100, 0.0) == 0
    bucket.take(100, 0.0)
    assert bucket.wait_s(1, 0.0) == pytest.approx(9.1)
    assert bucket.full_in_s(0.0) == pytest.approx(10.0)


def test_requests_above_the_rate_are_refused_and_told_when_to_come_back(start):
    sim = start(rpm=60, burst_s=3)
    got = [ask_anthropic(sim, message(f"{n}")) for n in range(6)]
    assert [one.status for one in got][:3] == [200, 200, 200]
    refused = [one for one in got if one.status == 429]
    assert len(refused) >= 2
    assert all(int(one.headers["retry-after"]) >= 1 for one in refused)
    assert refused[0].json["error"]["type"] == "rate_limit_error"
    log = sim.log()
    assert (log["total"]["received"], log["total"]["billed"]) == (6, 6 - len(refused))
    assert {entry["fault"] for entry in log["requests"]} == {None, "limited"}


def test_input_and_output_tokens_have_limits_of_their_own(start):
    sim = start(input_tpm=6000, output_tpm=6000, burst_s=1)
    assert ask_anthropic(sim, message("x" * 2000, max_tokens=1)).status == 200
    refused = ask_anthropic(sim, message("x"))
    assert (refused.status, "input tokens" in refused.json["error"]["message"]) == (429, True)


def test_openai_counts_the_stated_limit_and_says_which_limit_it_was(start):
    sim = start(input_tpm=600, burst_s=10)
    assert ask_openai(sim, chat("x", max_completion_tokens=5000)).status == 200
    refused = ask_openai(sim, chat("x"))
    assert (refused.status, refused.json["error"]["code"], refused.json["error"]["type"]) == (
        429,
        "rate_limit_exceeded",
        "tokens",
    )


def test_anthropics_headers_are_complete_and_well_formed(start):
    sim = start(rpm=1200, input_tpm=120_000, output_tpm=60_000, burst_s=60)
    headers = ask_anthropic(sim, message()).headers
    for family, limit in (("requests", 1200), ("input-tokens", 120_000), ("output-tokens", 60_000), ("tokens", 60_000)):
        assert int(headers[f"anthropic-ratelimit-{family}-limit"]) == limit
        assert 0 <= int(headers[f"anthropic-ratelimit-{family}-remaining"]) <= limit
        reset = datetime.fromisoformat(headers[f"anthropic-ratelimit-{family}-reset"])
        assert re.fullmatch(r"[\d-]{10}T[\d:]{8}Z", headers[f"anthropic-ratelimit-{family}-reset"])
        assert abs((reset - datetime.now(UTC)).total_seconds()) < 62
    assert int(headers["anthropic-ratelimit-requests-remaining"]) == 1199
    assert int(headers["anthropic-ratelimit-input-tokens-remaining"]) % 1000 == 0


def test_openais_headers_are_complete_and_well_formed(start):
    headers = ask_openai(start(rpm=1200, input_tpm=120_000), chat()).headers
    for family in ("requests", "tokens"):
        assert int(headers[f"x-ratelimit-limit-{family}"]) in (1200, 120_000)
        assert int(headers[f"x-ratelimit-remaining-{family}"]) > 0
        assert re.fullmatch(r"(\d+h)?(\d+m(?!s))?(\d+(\.\d+)?s)?(\d+ms)?", headers[f"x-ratelimit-reset-{family}"])


def test_headers_are_there_without_limits_and_can_be_switched_off(start):
    assert "anthropic-ratelimit-requests-limit" in ask_anthropic(start(), message()).headers
    assert "anthropic-ratelimit-requests-limit" not in ask_anthropic(start(rate_headers=False), message()).headers
