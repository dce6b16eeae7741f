"""A script says what happens to which call."""

import json

from tests.simulator.wire import ANTHROPIC, ask_anthropic, message, send


def test_a_script_says_what_happens_to_which_call_and_how_often(start, tmp_path):
    script = tmp_path / "script.json"
    rules = [
        {"contains": "pear", "do": ["429", "refusal", "ok"]},
        {"custom_id": "b", "do": ["500"]},
        {"contains": "plum", "do": [{"kind": "ok", "text": "as told"}]},
        {"contains": "json", "do": [{"json": {"a": 1}}]},
    ]
    script.write_text(json.dumps({"persona": "echo", "rules": rules}))
    sim = start(persona=f"script:{script}", batch_time_s=5)
    answers = [ask_anthropic(sim, message("a pear")) for _ in range(4)]
    assert [one.status for one in answers] == [429, 200, 200, 200]
    assert [one.json["stop_reason"] for one in answers[1:]] == ["refusal", "end_turn", "end_turn"]
    assert ask_anthropic(sim, message("a plum")).json["content"][0]["text"] == "as told"
    assert ask_anthropic(sim, message("json")).json["content"][0]["text"] == '{"a":1}'
    asked = [{"custom_id": name, "params": message("an apple")} for name in "ab"]
    made = send(sim, "POST", "/v1/messages/batches", {"requests": asked}, ANTHROPIC).json
    sim.advance(5)
    lines = send(sim, "GET", f"/v1/messages/batches/{made['id']}/results", None, ANTHROPIC).raw.splitlines()
    assert {line["custom_id"]: line["result"]["type"] for line in map(json.loads, lines)} == {
        "a": "succeeded",
        "b": "errored",
    }
