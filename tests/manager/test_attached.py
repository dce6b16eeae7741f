"""Taking up a batch by its number, while its provider misbehaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchJob, batch
from batchwork.core.errors import BackendError
from batchwork.simulator import Simulator

PROMPTS = [f"What is {i}?" for i in range(6)]
WIRES = {"anthropic": "anthropic:claude-haiku-5-5", "openai": "openai:gpt-5-mini"}


@pytest.fixture(scope="module")
def provider() -> Iterator[Simulator]:
    with Simulator(persona="echo", batch_time_s=0.1, validation_time_s=0.02) as simulator:
        yield simulator


@pytest.fixture(params=WIRES)
def at_provider(request: pytest.FixtureRequest, provider: Simulator) -> dict[str, Any]:
    provider.reset()
    url = provider.anthropic_url if request.param == "anthropic" else provider.openai_url
    told = {"model": WIRES[request.param], "base_url": url, "api_key": "k", "poll_interval": 0.03}
    return told | {"max_tokens": 60, "results_wait": 0.2}


def started(at_provider: dict[str, Any]) -> str:
    job = batch(messages=PROMPTS, **at_provider)
    job.results()
    assert job.batch_id is not None
    return job.batch_id


@pytest.mark.parametrize("scope", ["poll", "results"])
@pytest.mark.parametrize("kind", ["500", "529", "reset", "truncated", "503"])
def test_one_failed_look_or_download_is_survived(
    scope: str, kind: str, provider: Simulator, at_provider: dict[str, Any]
) -> None:
    batch_id = started(at_provider)
    provider.next_faults(scope, [kind])
    attached = BatchJob.attach(batch_id, **at_provider)
    assert [result.status for result in attached.results()] == ["succeeded"] * 6
    assert (attached.results().total_cost or 0) * 10**9 == provider.log()["total"]["nano_dollars"]


def test_lines_that_stay_unreadable_are_lost_by_name_and_booked_at_their_worst_case(
    provider: Simulator, at_provider: dict[str, Any]
) -> None:
    provider.next_faults("item", ["ok", "not_json", "ok", "missing", "ok", "ok"])
    with_loss = batch(messages=PROMPTS, **at_provider)
    assert with_loss.results().total_cost is not None, "where the requests are known it is their worst case"
    assert with_loss.batch_id is not None
    attached = BatchJob.attach(with_loss.batch_id, messages=PROMPTS, **at_provider)
    errors = [str(result.error).split(":")[0] for result in attached.results() if result.error]
    assert errors == ["result_lost"] * 2
    assert attached.results().total_cost == with_loss.results().total_cost


def test_the_cost_of_an_answer_that_tells_no_usage_is_not_known_without_what_was_asked(
    provider: Simulator, at_provider: dict[str, Any]
) -> None:
    provider.next_faults("item", ["ok", "no_usage"])
    batch_id = started(at_provider)
    blind = BatchJob.attach(batch_id, **at_provider).results()
    assert [result.cost is None for result in blind].count(True) == 1
    assert blind.total_cost is None
    seeing = BatchJob.attach(batch_id, messages=PROMPTS, **at_provider).results()
    assert (seeing.total_cost or 0) * 10**9 > provider.log()["total"]["nano_dollars"]


def test_a_batch_without_a_single_result_says_so(provider: Simulator, at_provider: dict[str, Any]) -> None:
    batch_id = started(at_provider)
    provider.set_faults({"results:gone": 1.0})
    with pytest.raises(BackendError, match="result_lost"):
        BatchJob.attach(batch_id, **at_provider).results()


def test_a_batch_that_the_provider_does_not_know_is_said_at_once(at_provider: dict[str, Any]) -> None:
    with pytest.raises(BackendError):
        BatchJob.attach("msgbatch_of_nobody", **at_provider).results()


def test_the_end_of_an_attached_batch_is_told(at_provider: dict[str, Any], tmp_path: Path) -> None:
    batch_id = started(at_provider)
    BatchJob.attach(batch_id, notify=f"cat > '{tmp_path}/told'", **at_provider).results()
    notice = json.loads((tmp_path / "told").read_text())
    assert (notice["event"], notice["stopped"], notice["done"]) == ("ended", None, 6)
    with pytest.raises(BackendError):
        BatchJob.attach("msgbatch_of_nobody", notify=f"cat > '{tmp_path}/told'", **at_provider).results()
    assert json.loads((tmp_path / "told").read_text())["stopped"] == "error"
