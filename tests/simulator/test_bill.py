"""Price lanes and implicit cache writes: billed as served, and the answer says how it was served."""

import pytest

from tests.simulator.wire import OPENAI, ask_anthropic, ask_openai, chat, create_batch, message, send

LONG = "word " * 1000


def cost(sim):
    return sim.log()["requests"][-1]["nano_dollars"]


def plain(sim, **more):
    ask_openai(sim, chat(**more))
    return cost(sim)


@pytest.mark.parametrize(
    ("tier", "served", "factor"),
    [
        ("default", "default", 1),
        ("auto", "default", 1),
        ("scale", "default", 1),
        ("flex", "flex", 0.5),
        ("fast", "fast", 2),
        ("priority", "priority", 2),
        ("ultrafast", "ultrafast", 6),
    ],
)
def test_an_openai_call_is_billed_by_the_tier_that_its_answer_names(sim, tier, served, factor):
    base = plain(sim)
    got = ask_openai(sim, chat(service_tier=tier)).json
    assert got["service_tier"] == served
    assert cost(sim) == factor * base


def test_a_projects_default_decides_for_calls_that_name_no_tier(start):
    base = plain(start())
    fast = start(default_tier="fast")
    assert ask_openai(fast, chat()).json["service_tier"] == "fast"
    assert cost(fast) == 2 * base
    assert ask_openai(fast, chat(service_tier="auto")).json["service_tier"] == "fast"
    assert ask_openai(fast, chat(service_tier="default")).json["service_tier"] == "default"
    assert cost(fast) == base
    body = {"model": "gpt-6-luna", "input": "hello"}
    assert send(fast, "POST", "/v1/responses", body, OPENAI).json["service_tier"] == "fast"


def test_a_tier_that_does_not_exist_is_refused(sim):
    got = ask_openai(sim, chat(service_tier="warp"))
    assert (got.status, got.json["error"]["param"]) == (400, "service_tier")
    assert ask_anthropic(sim, message(speed="warp")).status == 400


def test_anthropics_fast_mode_costs_twice_and_says_so(sim):
    assert ask_anthropic(sim, message()).json["usage"]["speed"] == "standard"
    base = cost(sim)
    assert ask_anthropic(sim, message(speed="fast")).json["usage"]["speed"] == "fast"
    assert cost(sim) == 2 * base


@pytest.mark.parametrize(("model", "writes"), [("gpt-6-luna", True), ("gpt-5.6-sol", True), ("gpt-5", False)])
def test_long_prompts_write_the_cache_from_gpt_5_6_on(sim, model, writes):
    usage = ask_openai(sim, chat(LONG, model=model)).json["usage"]
    held = usage["prompt_tokens_details"]["cache_write_tokens"]
    assert held == (usage["prompt_tokens"] if writes else 0)
    row = sim.log()["requests"][-1]
    assert row["usage"].get("cache_write_5m", 0) == held


def test_a_cache_write_costs_a_quarter_more_and_the_same_prompt_again_is_read(sim):
    def asked(**more):
        usage = ask_openai(sim, chat(LONG, max_completion_tokens=1, **more)).json["usage"]
        return usage["prompt_tokens_details"], cost(sim)

    neither, base = asked(prompt_cache_options={"mode": "explicit"})
    written, dear = asked()
    read, cheap = asked()
    assert (neither["cache_write_tokens"], written["cached_tokens"], read["cache_write_tokens"]) == (0, 0, 0)
    assert written["cache_write_tokens"] == read["cached_tokens"] > 1024
    assert dear == pytest.approx(1.25 * base, rel=0.01)
    assert cheap == pytest.approx(0.1 * base, rel=0.05)


def test_a_short_prompt_is_never_written(sim):
    assert ask_openai(sim, chat("short")).json["usage"]["prompt_tokens_details"]["cache_write_tokens"] == 0


def test_an_explicit_breakpoint_caches_what_stands_before_it(sim):
    def asked(item):
        parts = [
            {"type": "text", "text": LONG, "prompt_cache_breakpoint": {"mode": "explicit"}},
            {"type": "text", "text": item},
        ]
        body = chat(prompt_cache_options={"mode": "explicit"}) | {"messages": [{"role": "user", "content": parts}]}
        return ask_openai(sim, body).json["usage"]["prompt_tokens_details"]

    first, second = asked("one"), asked("two")
    assert (first["cached_tokens"], second["cache_write_tokens"]) == (0, 0)
    assert first["cache_write_tokens"] == second["cached_tokens"] > 1024


def test_a_batch_has_its_own_price_whatever_tier_its_requests_name(start):
    sim = start(batch_time_s=0, default_tier="fast")
    ask_openai(sim, chat(service_tier="default"))
    base = cost(sim)
    create_batch(sim, "openai", {"a": chat(service_tier="fast")})
    sim.advance(10)
    assert sim.log()["requests"][-1]["tier"] == "batch"
    assert cost(sim) == -(-base // 2)
