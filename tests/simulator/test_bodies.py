"""Whatever arrives, the simulator answers in the provider's words and goes on."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batchwork.simulator import Simulator
from tests.simulator.wire import ANTHROPIC, OPENAI, chat, message, send

ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "text", "role", "name"]), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = [
    "model", "max_tokens", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "stop_sequences",
    "cache_control", "stream", "response_format", "n", "stop", "max_completion_tokens", "input", "text",
    "stream_options",
]  # fmt: skip


@pytest.fixture(scope="module")
def shared():
    with Simulator(persona="reader") as sim:
        yield sim


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    field=st.sampled_from(FIELDS),
    odd=ODD,
    path=st.sampled_from(["messages", "chat/completions", "responses", "messages/count_tokens"]),
)
def test_an_odd_field_is_answered_or_refused_but_never_breaks_the_server(shared, field, odd, path):
    anthropic = path.startswith("messages")
    body = {**(message() if anthropic else {**chat(), "input": "x"}), field: odd}
    if path == "responses":
        body.pop("messages", None)
    got = send(shared, "POST", f"/v1/{path}", body, ANTHROPIC if anthropic else OPENAI)
    assert got.status in (200, 400)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[" * 5000,
        b'{"a": NaN}',
        b"\xff\xfe",
        b'"text"',
        b'{"model": "\\ud800"}',
        json.dumps({"model": 1}).encode(),
    ],
)
@pytest.mark.parametrize(
    ("path", "headers"), [("messages", ANTHROPIC), ("chat/completions", OPENAI), ("responses", OPENAI)]
)
def test_a_broken_body_is_a_400(shared, raw, path, headers):
    got = send(shared, "POST", f"/v1/{path}", raw, headers)
    assert got.status == 400
    assert "message" in got.json["error"]


@settings(max_examples=60, deadline=None)
@given(odd=ODD, where=st.sampled_from(["/v1/batches", "/v1/messages/batches"]))
def test_an_odd_batch_is_refused(shared, odd, where):
    assert send(shared, "POST", where, odd, ANTHROPIC if "messages" in where else OPENAI).status in (400, 404)


@settings(max_examples=60, deadline=None)
@given(params=st.dictionaries(st.sampled_from(FIELDS), ODD, max_size=4))
def test_an_odd_request_inside_a_batch_becomes_an_errored_line(params):
    with Simulator(persona="reader", batch_time_s=5) as sim:
        asked = {"requests": [{"custom_id": "a", "params": {**message(), **params}}]}
        made = send(sim, "POST", "/v1/messages/batches", asked, ANTHROPIC)
        assert made.status == 200
        sim.advance(5)
        counts = send(sim, "GET", f"/v1/messages/batches/{made.json['id']}", None, ANTHROPIC).json["request_counts"]
        assert counts["succeeded"] + counts["errored"] == 1
