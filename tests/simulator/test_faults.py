"""What can go wrong on the wire does, on request, and the log knows what was billed."""

import http.client
import subprocess
import sys
import urllib.error
import urllib.request

import anthropic
import pytest

from batchwork.simulator import Faults, Simulator, SimulatorConfigError
from batchwork.simulator.faults import KINDS, SCOPES, SCOPES_OF
from tests.simulator.wire import ANTHROPIC, OPENAI, ask_anthropic, ask_openai, chat, message, send

STATUS = {
    "400": (400, "invalid_request_error", 400),
    "401": (401, "authentication_error", 401),
    "403": (403, "permission_error", 403),
    "404": (404, "not_found_error", 404),
    "429": (429, "rate_limit_error", 429),
    "quota": (429, "rate_limit_error", 429),
    "500": (500, "api_error", 500),
    "503": (503, "api_error", 503),
    "504": (504, "timeout_error", 504),
    "529": (529, "overloaded_error", 503),
}


@pytest.mark.parametrize("kind", STATUS)
def test_a_status_fault_has_the_providers_shape_and_bills_nothing(sim, kind):
    status, error_type, openai_status = STATUS[kind]
    sim.next_faults("live", [kind, kind])
    first, second = ask_anthropic(sim, message()), ask_openai(sim, chat())
    assert (first.status, first.json["error"]["type"], second.status) == (status, error_type, openai_status)
    assert "message" in second.json["error"]
    assert sim.log()["total"] | {"preview": ""} == {
        "received": 2, "answered": 0, "billed": 0, "nano_dollars": 0, "preview": "",
    }  # fmt: skip


def test_a_429_says_when_to_come_back_and_a_quota_says_that_it_is_useless(sim):
    sim.next_faults("live", ["429", "quota", "429", "quota"])
    limited, spent = ask_anthropic(sim, message()), ask_anthropic(sim, message())
    assert limited.headers["retry-after"] == "1"
    assert "retry-after" not in spent.headers
    assert spent.json["error"]["details"] == {"error_code": "enforced_spend_limit_reached"}
    limited, spent = ask_openai(sim, chat()), ask_openai(sim, chat())
    assert limited.json["error"]["code"] == "rate_limit_exceeded"
    assert spent.json["error"]["code"] == spent.json["error"]["type"] == "insufficient_quota"


def test_a_413_from_the_edge_is_not_json(sim):
    sim.next_faults("live", ["413"])
    got = ask_anthropic(sim, message())
    assert (got.status, got.headers["content-type"]) == (413, "text/html")
    assert got.raw.startswith(b"<html>")


@pytest.mark.parametrize(("kind", "billed"), [("reset", 0), ("reset_after", 1)])
def test_a_reset_cuts_the_connection_and_is_billed_only_after_processing(sim, kind, billed):
    sim.next_faults("live", [kind])
    with pytest.raises(ConnectionError):
        ask_anthropic(sim, message())
    total = sim.log()["total"]
    assert (total["received"], total["answered"], total["billed"]) == (1, 0, billed)


def test_a_truncated_body_is_billed_but_not_answered(sim):
    sim.next_faults("live", ["truncated"])
    with pytest.raises(http.client.IncompleteRead):
        ask_openai(sim, chat())
    total = sim.log()["total"]
    assert (total["answered"], total["billed"]) == (0, 1)


def test_a_slow_body_arrives_whole(start):
    sim = start(time_scale=50)
    sim.next_faults("live", ["slow"])
    assert ask_anthropic(sim, message()).json["content"][0]["text"] == "hello"


def test_an_error_can_come_after_the_200_of_a_stream(sim, claude):
    sim.next_faults("live", ["sse_error"])
    with (
        pytest.raises(anthropic.APIStatusError) as caught,
        claude(sim).messages.stream(**message("hi " * 99)) as stream,
    ):
        stream.get_final_message()
    assert "overloaded_error" in str(caught.value)
    assert sim.log()["total"]["billed"] == 0


CONTENT = {
    "refusal": ("refusal", "stop"),
    "max_tokens": ("max_tokens", "length"),
    "context_window": ("model_context_window_exceeded", "length"),
    "pause_turn": ("pause_turn", "content_filter"),
    "empty": ("end_turn", "stop"),
    "malformed": ("end_turn", "stop"),
    "thinking": ("end_turn", "stop"),
    "wrong_case": ("end_turn", "stop"),
}


@pytest.mark.parametrize("kind", CONTENT)
def test_a_content_fault_is_a_billed_answer_with_its_stop_reason(sim, kind):
    sim.next_faults("live", [kind, kind])
    said, told = ask_anthropic(sim, message()).json, ask_openai(sim, chat()).json
    assert (said["stop_reason"], told["choices"][0]["finish_reason"]) == CONTENT[kind]
    assert sim.log()["total"]["billed"] == 2
    if kind == "refusal":
        assert said["stop_details"]["type"] == "refusal"
        assert told["choices"][0]["message"]["refusal"]
        assert told["choices"][0]["message"]["content"] is None
    if kind == "thinking":
        assert [block["type"] for block in said["content"]] == ["thinking", "text"]
        assert said["usage"]["output_tokens_details"]["thinking_tokens"] > 0
        assert told["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0
    if kind == "empty":
        assert said["content"] == []


def test_a_wrong_case_touches_enum_values_only(sim):
    schema = {
        "type": "object",
        "properties": {"kind": {"enum": ["small", "large"]}, "note": {"type": "string"}},
        "required": ["kind", "note"],
        "additionalProperties": False,
    }
    sim.next_faults("live", ["wrong_case"])
    got = ask_anthropic(sim, message(output_config={"format": {"type": "json_schema", "schema": schema}}))
    assert got.json["content"][0]["text"] == '{"kind":"SMALL","note":"hello"}'


def storm(seed: int) -> list[str | None]:
    with Simulator(persona="echo", seed=seed, faults=Faults.parse("529=0.2,refusal=0.1,500=0.1")) as sim:
        for number in range(60):
            ask_anthropic(sim, message(f"prompt {number}"))
        return [entry["fault"] for entry in sim.log()["requests"]]


def test_the_same_seed_brings_the_same_faults_and_another_seed_others():
    first = storm(1)
    assert first == storm(1) != storm(2)
    assert 8 <= sum(fault is not None for fault in first) <= 45


def test_a_retry_of_the_same_prompt_rolls_the_dice_again(start):
    sim = start(faults=Faults.parse("500=0.5"), seed=3)
    assert {ask_anthropic(sim, message()).status for _ in range(20)} == {200, 500}


def test_faults_are_switched_over_http_and_reset_goes_back(start):
    sim = start(faults=Faults.parse("529=1"))
    told = send(sim, "POST", "/_sim/faults", {"rates": {"500": 1}, "next": {"live": ["504"]}}).json
    assert told == {"rates": {"live:500": 1}, "next": {"live": ["504"]}}
    assert [ask_anthropic(sim, message()).status for _ in range(2)] == [504, 500]
    send(sim, "POST", "/_sim/reset")
    assert send(sim, "GET", "/_sim/faults").json == {"rates": {"live:529": 1}, "next": {}}
    assert ask_anthropic(sim, message()).status == 529
    assert send(sim, "POST", "/_sim/faults", {"rates": {"nonsense": 1}}).status == 400


def test_faults_of_the_other_calls_have_their_own_scope(sim):
    sim.set_faults("poll:500=1,create:429=1")
    headers = {**ANTHROPIC}
    assert send(sim, "GET", "/v1/messages/batches/x", None, headers).status == 500
    assert send(sim, "POST", "/v1/messages/batches", {"requests": []}, headers).status == 429
    assert send(sim, "GET", "/v1/batches/x", None, OPENAI).status == 500
    assert ask_anthropic(sim, message()).status == 200


@pytest.mark.parametrize("text", ["529=2", "nonsense=0.1", "529=0.6,500=0.6", "moon:500=0.1", "529=much"])
def test_a_plan_that_cannot_be_is_an_error_that_names_it(text):
    with pytest.raises(SimulatorConfigError):
        Faults.parse(text)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("create:missing=1", "cannot happen in scope 'create'"),
        ("poll:gone=1", "results"),
        ("item:reset=1", "cannot happen in scope 'item'"),
        ("results:low_counts=1", "poll"),
        ("create:501_after=1", "unknown fault"),
    ],
)
def test_a_fault_where_it_cannot_happen_is_an_error_that_says_where_it_can(fault, says):
    with pytest.raises(SimulatorConfigError, match=says):
        Faults.parse(fault)


def test_a_fault_of_one_scope_alone_needs_no_scope():
    assert Faults.parse("missing=0.1,gone=0.2,low_counts=1").named() == {
        "item:missing": 0.1,
        "results:gone": 0.2,
        "poll:low_counts": 1.0,
    }
    assert Faults.parse("null=0.1").named() == {"live:null": 0.1, "item:null": 0.1}


def test_every_fault_can_be_set_in_each_of_its_scopes_and_nowhere_else():
    for kind in KINDS:
        assert SCOPES_OF[kind]
        for scope in SCOPES:
            if scope in SCOPES_OF[kind]:
                assert Faults.of({f"{scope}:{kind}": 0.5}).named() == {f"{scope}:{kind}": 0.5}
            else:
                with pytest.raises(SimulatorConfigError):
                    Faults.of({f"{scope}:{kind}": 0.5})


def test_the_help_of_the_command_lists_every_fault():
    shown = subprocess.run(
        [sys.executable, "-m", "batchwork", "simulate", "--help"],
        capture_output=True, text=True, check=True, timeout=30,
    ).stdout.split()  # fmt: skip
    words = {word.strip(",;:()") for word in shown}
    assert KINDS - words == set()
    assert set(SCOPES) - words == set()


@pytest.mark.parametrize("body", [b"", b"[]", b'{"rate": {}}', b'{"rates": 3}', b'{"next": {"live": "529"}}'])
def test_other_faults_in_no_known_form_are_refused_with_the_form(body: bytes, sim: Simulator) -> None:
    request = urllib.request.Request(f"{sim.url}/_sim/faults", data=body, method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    with refused.value as answer:
        assert answer.status == 400
        assert b"503_after" in answer.read()
