"""The official SDK drives every live endpoint of Anthropic's wire."""

import anthropic
import pytest

MODEL = "claude-haiku-5-5"
HELLO = [{"role": "user", "content": "hello there"}]


def test_a_message_is_answered_and_says_that_it_is_simulated(sim, claude):
    message = claude(sim).messages.create(model=MODEL, max_tokens=50, messages=HELLO)
    assert message.content[0].text == "hello there"
    assert message.model == "simulated-claude-haiku-5-5"
    assert message.stop_reason == "end_turn"
    assert (message.usage.input_tokens, message.usage.output_tokens) == (10, 3)
    assert message._request_id.startswith("req_")


def test_a_streamed_message_adds_up_to_the_plain_one(sim, claude):
    text = "a rather long answer " * 20
    with claude(sim).messages.stream(
        model=MODEL, max_tokens=500, messages=[{"role": "user", "content": text}]
    ) as stream:
        assert "".join(stream.text_stream) == text
        final = stream.get_final_message()
    assert final.usage.output_tokens == (len(text) + 3) // 4
    assert final.stop_reason == "end_turn"


def test_an_answer_stops_at_max_tokens(sim, claude):
    message = claude(sim).messages.create(model=MODEL, max_tokens=1, messages=HELLO)
    assert message.content[0].text == "hell"
    assert message.stop_reason == "max_tokens"
    assert message.usage.output_tokens == 1


def test_an_answer_stops_at_a_stop_sequence(sim, claude):
    message = claude(sim).messages.create(model=MODEL, max_tokens=50, messages=HELLO, stop_sequences=["there"])
    assert (message.content[0].text, message.stop_reason, message.stop_sequence) == ("hello ", "stop_sequence", "there")


def test_max_tokens_zero_only_warms_the_cache(sim, claude):
    message = claude(sim).messages.create(model=MODEL, max_tokens=0, messages=HELLO)
    assert (message.content, message.stop_reason, message.usage.output_tokens) == ([], "max_tokens", 0)


def test_tokens_are_counted_as_they_are_billed(sim, claude):
    counted = claude(sim).messages.count_tokens(model=MODEL, messages=HELLO, system="be brief")
    message = claude(sim).messages.create(model=MODEL, max_tokens=50, messages=HELLO, system="be brief")
    assert counted.input_tokens == message.usage.input_tokens


def test_models_are_listed_in_pages_and_any_id_is_a_model(sim, claude):
    client = claude(sim)
    listed = [model.id for model in client.models.list(limit=5)]
    assert len(listed) == len(set(listed)) >= 18
    assert client.models.retrieve("my-own-model").id == "my-own-model"


def test_structured_output_gives_json_of_the_schema(sim, claude):
    schema = {
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    }
    message = claude(sim).messages.create(
        model=MODEL, max_tokens=50, messages=HELLO, output_config={"format": {"type": "json_schema", "schema": schema}}
    )
    assert message.content[0].text == '{"word":"hello there"}'


def test_a_forced_tool_is_called(sim, claude):
    tool = {
        "name": "note",
        "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    }
    with claude(sim).messages.stream(
        model=MODEL, max_tokens=50, messages=HELLO, tools=[tool], tool_choice={"type": "tool", "name": "note"}
    ) as stream:
        message = stream.get_final_message()
    assert (message.stop_reason, message.content[0].name) == ("tool_use", "note")
    assert message.content[0].input == {"text": "hello there"}


def test_a_cached_prefix_is_written_once_and_read_afterwards(sim, claude):
    system = [{"type": "text", "text": "rules " * 2000, "cache_control": {"type": "ephemeral"}}]
    first, second = (
        claude(sim).messages.create(model=MODEL, max_tokens=50, messages=HELLO, system=system).usage for _ in range(2)
    )
    assert first.cache_creation_input_tokens == second.cache_read_input_tokens >= 3000
    assert first.cache_read_input_tokens == second.cache_creation_input_tokens == 0
    assert first.input_tokens == second.input_tokens < 20


def test_both_api_versions_and_both_ways_to_give_a_key_are_accepted(sim):
    with anthropic.Anthropic(
        api_key="key",
        base_url=sim.anthropic_url,
        max_retries=0,
        default_headers={"anthropic-version": "2023-06-01", "x-api-key": "key"},
    ) as client:
        old = client.messages.create(
            model="claude-haiku-4-5", max_tokens=9, messages=HELLO, extra_body={"temperature": 0.5}
        )
    assert old.content[0].text == "hello there"


def test_a_missing_or_unknown_key_is_401(start):
    sim = start(api_keys=frozenset({"right"}))
    with (
        anthropic.Anthropic(api_key="wrong", base_url=sim.anthropic_url, max_retries=0) as client,
        pytest.raises(anthropic.AuthenticationError) as caught,
    ):
        client.messages.create(model=MODEL, max_tokens=9, messages=HELLO)
    assert caught.value.status_code == 401
    assert caught.value.type == "authentication_error"
