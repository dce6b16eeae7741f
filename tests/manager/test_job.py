"""batch() and BatchJob: one job in the background."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from batchwork import BatchJob, ConfigError, batch
from batchwork.core.errors import BackendError
from batchwork.documents import read_document
from batchwork.simulator import Simulator
from tests.support.batch_provider import BatchProvider
from tests.support.scripted import Scripted


class City(BaseModel):
    city: str


CITIES = [f"City: Berlin{i}\nWhich city is it?" for i in range(5)]


def test_a_job_gives_typed_results_in_order_at_the_batch_price(
    provider: Simulator, at_provider: dict[str, Any]
) -> None:
    job = batch(messages=CITIES, response_model=City, **at_provider)
    assert job.wait(20)
    assert job.is_complete()
    assert job.results().values() == [City(city=f"Berlin{i}") for i in range(5)]
    assert {row["tier"] for row in provider.log()["requests"]} == {"batch"}
    stats = job.stats()
    assert (stats["total_items"], stats.completed_items, stats.failed_items) == (5, 5, 0)
    assert stats.total_cost * 10**9 == provider.log()["total"]["nano_dollars"]
    assert job.batch_id is not None
    assert job.batch_ids == [job.batch_id]


def test_citations_point_into_the_document(at_provider: dict[str, Any], tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("To whom it may concern.\n\nCity: Lyon\n")
    job = batch(files=[letter], prompt="Which city?", response_model=City, enable_citations=True, **at_provider)
    (citations,) = job.citations()
    (place,) = citations["city"]
    document = job.results()[0].document
    assert document is not None
    assert document.text == read_document(letter).text
    assert place["text"] == "Lyon" == document.text[place["start"] : place["end"]]


def test_a_file_may_be_bytes_and_a_corrupt_one_is_its_own_failure(at_provider: dict[str, Any]) -> None:
    files = [b"City: Oslo\n", b"%PDF-1.7 and nothing more", b"", b"<html><body><p>City: Rome</p></body></html>"]
    results = batch(files=files, prompt="Which city?", response_model=City, **at_provider).results()
    assert [r.status for r in results] == ["succeeded", "failed", "failed", "succeeded"]
    assert results[0].value == City(city="Oslo")
    assert "empty" in str(results[2].error)


def test_a_models_own_validator_causes_a_second_question() -> None:
    class Even(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def _even(cls, number: int) -> int:
            if number % 2:
                raise ValueError("must be even")
            return number

    provider = BatchProvider(
        lambda prompt, time: '{"number": 4}' if "must be even" in prompt else '{"number": 3}', takes_s=0.0
    )
    results = batch(
        messages=["a number"],
        response_model=Even,
        model="m",
        backend=provider.client(),
        price=(1, 1),
        poll_interval=0.01,
    ).results()
    assert results[0].value == Even(number=4)
    assert len(provider.batches) == 2


def test_another_process_attaches_by_the_batchs_number(at_provider: dict[str, Any]) -> None:
    first = batch(messages=CITIES, response_model=City, **at_provider)
    assert first.batch_id is not None
    second = BatchJob.attach(first.batch_id, response_model=City, **at_provider)
    assert second.results().values() == first.results().values()
    assert [r.original_index for r in second.results()] == list(range(5))
    assert second.stats().total_cost == first.stats().total_cost
    assert second.batch_id == first.batch_id
    assert second.batch_ids == [first.batch_id]


def test_a_jobs_cost_is_unknown_where_the_price_is(at_provider: dict[str, Any]) -> None:
    nameless = at_provider | {"model": "anthropic:nobody-knows-what-it-costs"}
    job = batch(messages=CITIES[:1], **nameless)
    assert job.results().total_cost is None
    assert job.stats().total_cost is None
    assert job.batch_id is not None
    attached = BatchJob.attach(job.batch_id, **nameless)
    assert attached.results().total_cost is None
    assert attached.stats().total_cost is None


def test_an_attached_job_cites_the_documents_that_it_is_given(at_provider: dict[str, Any], tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("To whom it may concern.\n\nCity: Lyon\n")
    files: list[Any] = [letter, b"<html><p>City: Rome</p></html>", b""]
    first = batch(files=files, prompt="Which city?", response_model=City, enable_citations=True, **at_provider)
    assert first.batch_id is not None
    second = BatchJob.attach(
        first.batch_id, files=files, response_model=City, enable_citations=True, **at_provider
    ).results()
    assert second.values() == [City(city="Lyon"), City(city="Rome")]  # the empty file was never sent
    assert second.citations() == first.citations()[:2]
    assert [[place["text"] for place in found["city"]] for found in second.citations()] == [["Lyon"], ["Rome"]]
    assert second[1].document is not None


def test_an_attached_job_without_its_documents_says_that_it_cannot_cite(at_provider: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="needs the documents"):
        BatchJob.attach("msgbatch_1", enable_citations=True, **at_provider)
    first = batch(messages=CITIES, response_model=City, **at_provider)
    assert first.batch_id is not None
    few = BatchJob.attach(first.batch_id, messages=CITIES[:2], response_model=City, **at_provider)
    with pytest.raises(ConfigError, match="only 2 were given"):
        few.results()


def test_an_attached_answer_that_does_not_fit_is_its_items_failure(at_provider: dict[str, Any]) -> None:
    class Town(BaseModel):
        city: str

        @field_validator("city")
        @classmethod
        def _known(cls, city: str) -> str:
            if city == "Berlin1":
                raise ValueError("no such town")
            return city

    first = batch(messages=CITIES[:3], response_model=City, **at_provider)
    assert first.batch_id is not None
    second = BatchJob.attach(first.batch_id, response_model=Town, **at_provider).results()
    assert [result.status for result in second] == ["succeeded", "failed", "succeeded"]
    assert "no such town" in str(second[1].error)


@pytest.mark.parametrize("wire", ["anthropic", "openai"])
def test_a_batch_that_the_provider_does_not_know_is_not_blamed_on_the_model(wire: str, provider: Simulator) -> None:
    model = {"anthropic": "claude-haiku-5-5", "openai": "gpt-6-luna"}[wire]
    url = provider.anthropic_url if wire == "anthropic" else provider.openai_url
    job = BatchJob.attach("msgbatch_nope", model=model, base_url=url, api_key="none")
    with pytest.raises(BackendError, match="msgbatch_nope") as told:
        job.results()
    assert "model" not in str(told.value)


def test_a_backend_without_batches_runs_the_same_job_live() -> None:
    job = batch(messages=["a", [{"role": "user", "content": "b"}]], model="mock:echo")
    assert job.results().values() == ["a", "b"]
    assert job.batch_id is None


def test_what_is_finished_survives_a_cancel(provider: Simulator, at_provider: dict[str, Any]) -> None:
    provider.advance(0)
    job = batch(messages=CITIES, response_model=City, **(at_provider | {"poll_interval": 0.2}))
    assert job.batch_id is not None
    job.cancel()
    results = job.results()
    assert len(results) == 5
    assert {r.status for r in results} <= {"succeeded", "pending"}


@pytest.mark.parametrize("mode", ["live", "batch"])
def test_what_a_cancel_leaves_undone_says_that_it_was_cancelled(mode: str) -> None:
    provider, slow = BatchProvider(takes_s=1e9), Scripted(latency=1e9)
    backend = provider.client() if mode == "batch" else slow
    job = batch(messages=["a", "b"], model="m", backend=backend, mode=mode, price=(1, 1), max_in_flight=1)
    assert job.batch_id is not None or mode == "live"
    job.cancel()
    if mode == "live":
        job.cancel()  # a second time: the call in flight is not waited for
    errors = [result.error for result in job.results()]
    assert errors
    assert set(errors) == {"cancelled: the job was cancelled before this item was done"}


@pytest.mark.parametrize("mode", ["live", "batch"])
@pytest.mark.parametrize("wire", ["anthropic", "openai"])
def test_raw_results_are_the_providers_own_json(
    wire: str, mode: str, provider: Simulator, at_provider: dict[str, Any], tmp_path: Path
) -> None:
    elsewhere = {"model": "gpt-6-luna", "base_url": provider.openai_url}
    given = at_provider | {"mode": mode} | (elsewhere if wire == "openai" else {})
    results = batch(messages=CITIES[:2], response_model=City, raw_results_dir=tmp_path / "raw", **given).results()
    told = json.loads((tmp_path / "raw" / "job_0_item_1.json").read_text())
    assert told == results[1].raw
    if wire == "anthropic":
        assert (told["type"], told["role"], told["usage"].keys() >= {"input_tokens"}) == ("message", "assistant", True)
        said = told["content"][0]["text"]
    else:
        assert (told["object"], told["usage"].keys() >= {"prompt_tokens"}) == ("chat.completion", True)
        said = told["choices"][0]["message"]["content"]
    assert json.loads(said) == {"city": "Berlin1"}


def test_without_a_folder_for_it_the_providers_json_is_not_kept(at_provider: dict[str, Any]) -> None:
    (result,) = batch(messages=CITIES[:1], response_model=City, **at_provider).results()
    assert result.raw.keys() == {"text", "usage", "model", "stop_reason", "provider_id"}


def test_raw_results_of_a_backend_without_json_are_what_it_said(tmp_path: Path) -> None:
    batch(messages=["a"], model="mock:echo", raw_results_dir=tmp_path).results()
    told = json.loads((tmp_path / "job_0_item_0.json").read_text())
    assert (told["text"], told["model"]) == ("a", "mock")


def test_a_json_schema_gives_validated_json(at_provider: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    (result,) = batch(messages=CITIES[:1], schema=schema, **at_provider).results()
    assert result.value == {"city": "Berlin0"}
    assert isinstance(result.cost, Decimal)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "neither was given"),
        ({"messages": ["a"], "files": [b"x"], "prompt": "p"}, "both were given"),
        ({"messages": "a"}, "wrap it in a list"),
        ({"messages": (text for text in "ab")}, r"with list\(...\)"),
        ({"messages": ["a"], "max_cost": -1}, "max_cost: "),
        ({"files": [b"x"]}, "prompt="),
        ({"files": ["nowhere.pdf"], "prompt": "p"}, "nowhere.pdf"),
        ({"messages": ["a"], "promt": "p"}, "did you mean 'prompt'"),
        ({"messages": ["a", []]}, r"messages\[1\]: a request needs at least one message; nothing was sent"),
        ({"messages": ["a", None]}, r"messages\[1\]: a prompt is a string"),
        ({"messages": [[{"role": "robot", "content": "a"}]]}, r"messages\[0\]: message 0 has the role 'robot'"),
        ({"messages": [[{"role": "user", "content": None}]]}, r"messages\[0\]: message 0: content must be"),
        ({"messages": ["a"], "top_p": 0.5}, r"goes into sampling=\{'top_p': ...\}"),
        ({"messages": ["a"], "weather": "fine"}, "unknown option 'weather'$"),
        ({"messages": [{"role": "user", "content": "a"}]}, "list of conversations"),
        ({"messages": ["a"], "response_model": dict}, "Pydantic model class"),
        ({"messages": ["a"], "response_model": City, "schema": {}}, "two ways"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_sent(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        batch(model="mock:echo", **given)
