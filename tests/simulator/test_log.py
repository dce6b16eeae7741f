"""The log is the oracle: how often, answered, billed, and how much to the nano-dollar."""

from decimal import Decimal

from genai_prices import Usage, calc_price

from tests.simulator.wire import ANTHROPIC, ask_anthropic, ask_openai, chat, message, send


def nano(model, provider, tokens_in, tokens_out, **more):
    price = calc_price(Usage(input_tokens=tokens_in, output_tokens=tokens_out), model, provider_id=provider, **more)
    whole, rest = divmod(price.total_price * 10**9, 1)
    return int(whole) + (rest > Decimal(0))


def test_every_call_is_billed_as_genai_prices_says_rounded_up(sim):
    first = ask_anthropic(sim, message("one question")).json["usage"]
    second = ask_openai(sim, chat("another question")).json["usage"]
    rows = sim.log()["requests"]
    assert rows[0]["nano_dollars"] == nano(
        "claude-haiku-5-5", "anthropic", first["input_tokens"], first["output_tokens"]
    )
    assert rows[1]["nano_dollars"] == nano("gpt-6-luna", "openai", second["prompt_tokens"], second["completion_tokens"])
    assert sim.log()["total"]["nano_dollars"] == rows[0]["nano_dollars"] + rows[1]["nano_dollars"]
    assert rows[0]["usage"]["input"] == first["input_tokens"]


def test_a_batch_is_billed_at_the_batch_price(start):
    sim = start(batch_time_s=10)
    body = {"requests": [{"custom_id": "a", "params": message("one question")}]}
    send(sim, "POST", "/v1/messages/batches", body, ANTHROPIC)
    sim.advance(10)
    ask_anthropic(sim, message("one question"))
    batch, live = sim.log()["requests"]
    assert (batch["tier"], live["tier"]) == ("batch", "standard")
    assert live["nano_dollars"] == 2 * batch["nano_dollars"] > 0
    assert batch["prompt"] == live["prompt"]


def test_a_price_cliff_is_billed_for_the_whole_request(sim):
    ask_anthropic(sim, message("x" * 500_000))
    row = sim.log()["requests"][0]
    assert row["nano_dollars"] == nano("claude-haiku-5-5", "anthropic", row["usage"]["input"], row["usage"]["output"])
    assert row["nano_dollars"] > row["usage"]["input"] * 400


def test_cache_tokens_are_billed_at_their_own_prices(sim):
    system = [{"type": "text", "text": "rules " * 2000, "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
    for _ in range(2):
        ask_anthropic(sim, message(system=system))
    written, read = (row["nano_dollars"] for row in sim.log()["requests"])
    assert written > 15 * read


def test_an_unknown_price_is_called_unknown_and_never_zero(sim):
    ask_openai(sim, {**chat(), "model": "my-own-model"})
    log = sim.log()
    assert log["requests"][0]["nano_dollars"] == log["total"]["nano_dollars"] == "unknown"


def test_calls_are_counted_per_prompt_and_per_custom_id(start):
    sim = start(batch_time_s=10)
    for _ in range(3):
        ask_anthropic(sim, message("the same"))
    ask_anthropic(sim, message("another"))
    for _ in range(2):
        body = {"requests": [{"custom_id": "a-1", "params": message("the same")}]}
        send(sim, "POST", "/v1/messages/batches", body, ANTHROPIC)
    sim.advance(10)
    log = sim.log()
    by_preview = {tally["preview"]: tally for tally in log["prompts"].values()}
    assert by_preview["the same"]["received"] == by_preview["the same"]["billed"] == 5
    assert by_preview["another"]["received"] == 1
    assert log["custom_ids"]["a-1"]["billed"] == 2


def test_a_prompt_is_known_again_by_model_system_and_text(sim):
    for body in (message("a"), message("a", system="s"), {**message("a"), "model": "claude-opus-5"}, message("b")):
        ask_anthropic(sim, body)
    assert len(sim.log()["prompts"]) == 4
    ask_anthropic(sim, message("a", max_tokens=7))
    assert len(sim.log()["prompts"]) == 4


def test_reset_forgets_everything(start):
    sim = start(rpm=1)
    ask_anthropic(sim, message())
    send(sim, "POST", "/v1/messages/batches", {"requests": [{"custom_id": "a", "params": message()}]}, ANTHROPIC)
    sim.reset()
    log = send(sim, "GET", "/_sim/log").json
    assert (log["total"]["received"], log["requests"], log["custom_ids"], log["other"]) == (0, [], {}, {})
    assert send(sim, "GET", "/v1/messages/batches", None, ANTHROPIC).json["data"] == []


def test_the_log_can_still_be_read_after_the_end(start):
    sim = start()
    ask_anthropic(sim, message())
    with_log = sim
    with_log.__exit__(None, None, None)
    try:
        assert with_log.log()["total"]["billed"] == 1
    finally:
        with_log.__enter__()


def test_batches_go_on_while_nobody_is_connected_and_time_can_be_advanced_over_http(start):
    sim = start(batch_time_s=100)
    send(sim, "POST", "/v1/messages/batches", {"requests": [{"custom_id": "a", "params": message()}]}, ANTHROPIC)
    send(sim, "POST", "/_sim/advance", {"seconds": 100})
    assert send(sim, "GET", "/_sim/log").json["custom_ids"]["a"]["billed"] == 1
