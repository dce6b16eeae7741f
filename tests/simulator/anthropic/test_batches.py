"""Anthropic's message batches, driven by the official SDK on a clock that is stepped."""

import json

import anthropic
import httpx2
import pytest

from tests.simulator.wire import ANTHROPIC, message, send

DAY_S = 24 * 3600


def requests(count, **more):
    return [{"custom_id": f"item-{n}", "params": message(f"hello {n}", **more)} for n in range(count)]


@pytest.fixture
def slow(start):
    """A simulator whose batches take an hour, which only passes when a test says so."""
    return start(batch_time_s=3600)


def results(client, batch_id):
    return {line.custom_id: line.result for line in client.messages.batches.results(batch_id)}


def test_a_batch_runs_to_its_end_and_every_result_is_there(slow, claude):
    client = claude(slow)
    batch = client.messages.batches.create(requests=requests(20))
    assert (batch.processing_status, batch.results_url, batch.ended_at) == ("in_progress", None, None)
    assert (batch.expires_at - batch.created_at).total_seconds() == DAY_S
    slow.advance(3600)
    batch = client.messages.batches.retrieve(batch.id)
    assert (batch.processing_status, batch.request_counts.succeeded) == ("ended", 20)
    assert batch.results_url == f"{slow.url}/v1/messages/batches/{batch.id}/results"
    got = results(client, batch.id)
    assert {name: result.message.content[0].text for name, result in got.items()} == {
        f"item-{n}": f"hello {n}" for n in range(20)
    }
    assert all(result.message.usage.service_tier == "batch" for result in got.values())


def test_counts_do_not_move_before_the_end(slow, claude):
    client = claude(slow)
    batch = client.messages.batches.create(requests=requests(20))
    slow.advance(3000)
    counts = client.messages.batches.retrieve(batch.id).request_counts
    assert (counts.processing, counts.succeeded) == (20, 0)
    assert 0 < slow.log()["total"]["billed"] < 20


def test_results_do_not_come_in_the_order_of_asking(slow, claude):
    client = claude(slow)
    batch = client.messages.batches.create(requests=requests(20))
    slow.advance(3600)
    order = [line.custom_id for line in client.messages.batches.results(batch.id)]
    assert sorted(order) != order
    assert set(order) == {f"item-{n}" for n in range(20)}


def test_a_bad_request_is_told_in_its_result_line_and_only_there(slow, claude):
    client = claude(slow)
    asked = requests(4)
    asked[1]["params"]["temperature"] = 0.1
    asked[2]["params"]["stream"] = True
    asked[3]["params"]["max_tokens"] = 0
    batch = client.messages.batches.create(requests=asked)
    slow.advance(3600)
    got = results(client, batch.id)
    assert got["item-0"].type == "succeeded"
    for name in ("item-1", "item-2", "item-3"):
        assert got[name].type == "errored"
        assert got[name].error.error.type == "invalid_request_error"
    log = slow.log()["custom_ids"]
    assert (log["item-0"]["billed"], log["item-1"]["billed"], log["item-1"]["received"]) == (1, 0, 1)


def test_a_failing_item_is_errored_and_not_billed(slow, claude):
    client = claude(slow)
    slow.set_faults({"item:500": 1.0})
    batch = client.messages.batches.create(requests=requests(3))
    slow.advance(3600)
    assert {result.error.error.type for result in results(client, batch.id).values()} == {"api_error"}
    assert slow.log()["total"]["billed"] == 0


def test_a_cancelled_batch_keeps_what_was_done(slow, claude):
    client = claude(slow)
    batch = client.messages.batches.create(requests=requests(40))
    slow.advance(1800)
    assert client.messages.batches.cancel(batch.id).processing_status == "canceling"
    slow.advance(60)
    batch = client.messages.batches.retrieve(batch.id)
    counts = batch.request_counts
    assert batch.processing_status == "ended"
    assert batch.cancel_initiated_at is not None
    assert counts.succeeded > 0 < counts.canceled
    assert counts.succeeded + counts.canceled == 40
    assert slow.log()["total"]["billed"] == counts.succeeded
    slow.advance(3600)
    assert slow.log()["total"]["billed"] == counts.succeeded


def test_an_expired_batch_keeps_what_was_done(start, claude):
    sim = start(batch_time_s=2 * DAY_S)
    client = claude(sim)
    batch = client.messages.batches.create(requests=requests(40))
    sim.advance(DAY_S)
    counts = client.messages.batches.retrieve(batch.id).request_counts
    assert counts.succeeded > 0 < counts.expired
    kinds = [result.type for result in results(client, batch.id).values()]
    assert (kinds.count("succeeded"), kinds.count("expired")) == (counts.succeeded, counts.expired)


def test_results_are_gone_after_29_days_but_the_batch_is_still_listed(slow, claude):
    client = claude(slow)
    batch = client.messages.batches.create(requests=requests(1))
    slow.advance(29 * DAY_S)
    old = client.messages.batches.retrieve(batch.id)
    assert old.archived_at is not None
    assert old.results_url is None
    assert [listed.id for listed in client.messages.batches.list()] == [batch.id]
    assert send(slow, "GET", f"/v1/messages/batches/{batch.id}/results", None, ANTHROPIC).status == 404


def test_a_running_batch_is_neither_deleted_nor_read_and_an_ended_one_not_cancelled(slow, claude):
    client = claude(slow)
    batch = client.messages.batches.create(requests=requests(2))
    with pytest.raises(anthropic.BadRequestError):
        client.messages.batches.delete(batch.id)
    assert send(slow, "GET", f"/v1/messages/batches/{batch.id}/results", None, ANTHROPIC).status == 404
    slow.advance(3600)
    with pytest.raises(anthropic.BadRequestError):
        client.messages.batches.cancel(batch.id)
    assert client.messages.batches.delete(batch.id).id == batch.id
    with pytest.raises(anthropic.NotFoundError):
        client.messages.batches.retrieve(batch.id)
    assert slow.log()["total"]["billed"] == 2


def test_the_list_is_newest_first_and_comes_in_pages(slow, claude):
    client = claude(slow)
    made = [client.messages.batches.create(requests=requests(1)).id for _ in range(5)]
    assert [batch.id for batch in client.messages.batches.list(limit=2)] == made[::-1]
    page = client.messages.batches.list(limit=2, before_id=made[0])
    assert [batch.id for batch in page.data] == [made[2], made[1]]


def test_a_young_batch_may_not_be_listed_yet(start, claude):
    sim = start(batch_time_s=3600, list_lag_s=30)
    client = claude(sim)
    batch = client.messages.batches.create(requests=requests(1))
    assert list(client.messages.batches.list()) == []
    assert client.messages.batches.retrieve(batch.id).id == batch.id
    sim.advance(31)
    assert [listed.id for listed in client.messages.batches.list()] == [batch.id]


ENVELOPES = {
    "no requests": ({}, "requests"),
    "an empty list": ({"requests": []}, "at least 1"),
    "an id that is too long": ({"requests": [{"custom_id": "x" * 65, "params": {}}]}, "at most 64 characters"),
    "an id with a blank": ({"requests": [{"custom_id": "a b", "params": {}}]}, "pattern"),
    "an id used twice": ({"requests": [{"custom_id": "a", "params": {}}] * 2}, "not unique"),
    "no params": ({"requests": [{"custom_id": "a"}]}, "params"),
    "too many requests": ({"requests": [{"custom_id": f"{n}", "params": {}} for n in range(11)]}, "at most 10"),
}


@pytest.mark.parametrize("name", ENVELOPES)
def test_a_wrong_envelope_is_refused_at_once(start, name):
    body, says = ENVELOPES[name]
    got = send(start(max_batch_requests=10), "POST", "/v1/messages/batches", body, ANTHROPIC)
    assert got.status == 400
    assert says in got.json["error"]["message"]


def test_a_batch_above_the_size_limit_is_413(start):
    got = send(start(max_batch_bytes=300), "POST", "/v1/messages/batches", {"requests": requests(5)}, ANTHROPIC)
    assert got.status == 413


def test_a_batch_whose_creator_was_cut_off_runs_all_the_same(slow, claude):
    client = claude(slow)
    slow.next_faults("create", ["reset_after"])
    with pytest.raises(anthropic.APIConnectionError):
        client.messages.batches.create(requests=requests(3))
    (batch,) = client.messages.batches.list()
    slow.advance(3600)
    assert len(results(client, batch.id)) == 3
    assert slow.log()["custom_ids"]["item-0"]["billed"] == 1


def test_a_download_can_be_cut_in_the_middle_of_a_line_and_repeated(slow, claude):
    client = claude(slow)
    batch = client.messages.batches.create(requests=requests(9))
    slow.advance(3600)
    slow.next_faults("results", ["truncated"])
    with pytest.raises(httpx2.RemoteProtocolError):
        results(client, batch.id)
    first, second = (
        send(slow, "GET", f"/v1/messages/batches/{batch.id}/results", None, ANTHROPIC).raw for _ in range(2)
    )
    assert first == second
    assert len([json.loads(line) for line in first.splitlines()]) == 9
    assert slow.log()["total"]["billed"] == 9


def test_a_fast_clock_needs_no_stepping(start, claude):
    sim = start(batch_time_s=3600, time_scale=100_000)
    client = claude(sim)
    batch = client.messages.batches.create(requests=requests(3))
    while client.messages.batches.retrieve(batch.id).processing_status != "ended":
        pass
    assert len(results(client, batch.id)) == 3


def test_the_version_of_the_create_call_governs_its_requests(slow):
    old = {**ANTHROPIC, "anthropic-version": "2023-06-01"}
    params = {**message(temperature=0.5), "model": "claude-haiku-4-5"}
    made = send(slow, "POST", "/v1/messages/batches", {"requests": [{"custom_id": "a", "params": params}]}, old).json
    slow.advance(3600)
    assert (
        send(slow, "GET", f"/v1/messages/batches/{made['id']}", None, ANTHROPIC).json["request_counts"]["succeeded"]
        == 1
    )
