"""citations="quoted": what is asked, what is accepted, what is cited and refused, live, in batches and taken up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pydantic import BaseModel

from batchwork import BatchJob, BatchManager, ConfigError, batch
from batchwork.core.reply import Reply
from batchwork.core.request import Request
from batchwork.manager.options import JobOptions, prepare_job
from batchwork.simulator import Simulator, SimulatorConfig
from batchwork.simulator.quoting import KnownDocument
from tests.manager.test_inputs import png
from tests.support.fake_claude import RESULT, Program
from tests.support.managers import City, scripted
from tests.support.misbehaving import MODELS
from tests.support.scripted import Scripted, reply


class Invoice(BaseModel):
    number: str
    subtotal: float
    total: float


TEXT = "Invoice number: A-77\nSubtotal: 100.00\nTotal: 100.00\nThank you for your order.\n"
ANSWER = {"number": "A-77", "subtotal": 100.0, "total": 100.0}
PLACES = {"number": [(16, 20)], "subtotal": [(31, 37)], "total": [(45, 51)]}


@pytest.fixture(scope="module", params=["exact", "lying"])
def quoting(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Simulator]]:
    script = tmp_path_factory.mktemp("quotes") / "documents.jsonl"
    script.write_bytes(msgspec.json.encode(KnownDocument(text=TEXT, answer=ANSWER, places=PLACES)))
    with Simulator(SimulatorConfig(persona=f"quotes:{request.param}:{script}", batch_time_s=0.1)) as simulator:
        yield request.param, simulator


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def framed(quotes: list[tuple[str, str]], answer: Any = ANSWER) -> str:
    return json.dumps({"answer": answer, "quotes": [{"field": path, "quote": words} for path, words in quotes]})


def answered(text: str | Reply, **more: Any) -> Any:
    backend = Scripted(lambda prompt, call: text)
    given: dict[str, Any] = {"model": "scripted", "backend": backend, "response_model": Invoice, "citations": "quoted"}
    (result,) = BatchManager(files=[TEXT.encode()], prompt="Extract.", mode="live", **given | more).run()
    assert len(backend.asked) == 1
    return result


def places(result: Any) -> dict[str, list[str]]:
    text = result.document.text
    assert all(
        place["text"] == text[place["start"] : place["end"]] for held in result.citations.values() for place in held
    )
    return {path: [f"{place['text']}@{place['start']}" for place in held] for path, held in result.citations.items()}


@pytest.mark.parametrize(
    ("wire", "mode"),
    [
        ("bedrock", "live"),  # it has no batches of its own
        *product(("anthropic", "openai", "gemini", "mistral"), ("live", "batch")),
    ],
)
def test_quotes_are_verified_live_and_in_batches_on_every_wire(
    quoting: tuple[str, Simulator], wire: str, mode: Any
) -> None:
    character, simulator = quoting
    at: dict[str, Any] = {"model": f"{wire}:{MODELS[wire]}", "base_url": simulator.service_url(wire)}
    at |= {"api_key": "none", "poll_interval": 0.05}
    job = batch(files=[TEXT.encode()], prompt="Extract.", response_model=Invoice, citations="quoted", mode=mode, **at)
    (result,) = job.results()
    assert result.value == Invoice(**ANSWER)
    assert places(result) == {"number": ["A-77@16"], "subtotal": ["100.00@31"], "total": ["100.00@45"]}
    why = {one["path"]: one["why"] for one in result.rejected_quotes}
    assert set(why) == (set() if character == "exact" else {"number", "subtotal", "total"})
    if mode == "batch":
        given: dict[str, Any] = {"files": [TEXT.encode()], "response_model": Invoice, "citations": "quoted"}
        (again,) = BatchJob.attach(job.batch_id or "", **given, **at).results()
        assert (again.value, again.citations) == (result.value, result.citations)
        assert again.rejected_quotes == result.rejected_quotes


def test_quotes_are_verified_with_the_claude_program(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(program.folder))
    quotes = [("total", "Total: 100.00"), ("subtotal", "Total: 100.00")]
    program.prints([{**RESULT, "structured_output": json.loads(framed(quotes))}])
    job = batch(
        files=[TEXT.encode()], prompt="Extract.", response_model=Invoice, citations="quoted", model="claude-code:sonnet"
    )
    (result,) = job.results()
    asked = json.loads(program.option("--json-schema"))
    assert list(asked["properties"]) == ["answer", "quotes"]
    assert result.value == Invoice(**ANSWER)
    assert places(result) == {"number": ["A-77@16"], "subtotal": ["100.00@31"], "total": ["100.00@45"]}
    assert [one["path"] for one in result.rejected_quotes] == ["subtotal"]


def test_a_quote_of_another_fields_words_is_refused_and_the_finder_takes_its_place() -> None:
    result = answered(
        framed([("total", "Subtotal: 100.00"), ("number", "A-78"), ("nothing", "Total"), ("total", "Thank")])
    )
    assert places(result)["total"] == ["100.00@45"]
    assert [(one["path"], one["quote"]) for one in result.rejected_quotes] == [
        ("total", "Subtotal: 100.00"),
        ("number", "A-78"),
        ("nothing", "Total"),
        ("total", "Thank"),
    ]
    assert len({one["why"] for one in result.rejected_quotes}) == 4


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"answer": ANSWER}),
        json.dumps(ANSWER),
        json.dumps({"answer": ANSWER, "quotes": [{"field": 3}]}),
        Reply(text=framed([("total", "Total: 100.00"), ("number", "Invoice")])[:-12], truncated=True),
    ],
)
def test_missing_bad_and_cut_off_quotes_neither_fail_an_answer_nor_ask_again(text: str | Reply) -> None:
    result = answered(text)
    assert result.value == Invoice(**ANSWER)
    assert places(result) == {"number": ["A-77@16"], "subtotal": ["100.00@31"], "total": ["100.00@45"]}
    assert result.rejected_quotes == []


def test_an_answer_that_does_not_fit_is_asked_again_as_ever() -> None:
    bad = framed([], {**ANSWER, "total": "much"})
    backend = Scripted(lambda prompt, call: bad if len(backend.asked) == 1 else framed([]))
    given: dict[str, Any] = {"model": "scripted", "backend": backend, "response_model": Invoice, "citations": "quoted"}
    (result,) = BatchManager(files=[TEXT.encode()], prompt="Extract.", mode="live", **given).run()
    assert (result.value, len(backend.asked)) == (Invoice(**ANSWER), 2)


def test_what_is_refused_is_the_third_key_of_the_result_files_and_read_back_from_there(tmp_path: Path) -> None:
    text = framed([("total", "Subtotal: 100.00")])
    given: dict[str, Any] = {"state_path": tmp_path / "state.json", "save_results_dir": tmp_path / "results"}
    result = answered(text, **given)
    file = tmp_path / "results" / "processed" / "job_0_results.json"
    written = json.loads(file.read_text())
    assert written["results"] == [ANSWER]
    assert written["rejected_quotes"] == [result.rejected_quotes]
    written["rejected_quotes"][0][0]["why"] = "as the file says"
    file.write_text(json.dumps(written))
    backend = Scripted()
    again = BatchManager(
        files=[TEXT.encode()],
        prompt="Extract.",
        model="scripted",
        backend=backend,
        mode="live",
        response_model=Invoice,
        citations="quoted",
        **given,
    ).run()
    assert again[0].rejected_quotes[0]["why"] == "as the file says"
    assert (again[0].citations, backend.asked) == (result.citations, [])


def test_without_quotes_the_files_have_the_keys_that_they_had(tmp_path: Path) -> None:
    answered(json.dumps(ANSWER), citations="found", save_results_dir=tmp_path)
    assert set(json.loads((tmp_path / "processed" / "job_0_results.json").read_text())) == {"results", "citations"}


def requests(**options: Any) -> list[Request]:
    own = JobOptions(**{"response_model": City, "prompt": "Which city?", **options})
    job = prepare_job(own, {"model": "claude-haiku-5-5", "system": "Be exact."}, also=("model",))
    return [row.request for row in job.inputs.rows() if row.request is not None]


def test_the_setting_is_part_of_a_requests_key_and_changes_nothing_where_it_is_not_given() -> None:
    for given in ({"files": [b"City: Oslo"]}, {"messages": ["City: Oslo"], "prompt": None}):
        keys = {}
        for citations in (None, "found", "quoted"):
            own = JobOptions(response_model=City, **{"prompt": "Which city?", **given}, citations=citations)
            rows = prepare_job(own, {"model": "claude-haiku-5-5"}, also=("model",)).inputs.rows()
            keys[citations] = [row.fingerprint for row in rows]
        assert keys[None] == keys["found"] != keys["quoted"]


def test_the_answer_comes_first_and_the_users_words_stay() -> None:
    (asked,) = requests(files=[b"City: Oslo"], citations="quoted")
    assert asked.schema is not None
    assert list(asked.schema.body["properties"]) == ["answer", "quotes"]
    assert asked.system is not None
    assert asked.system.startswith("Be exact.\n\n")
    assert asked.messages[0].content == "Which city?"


def test_a_document_without_text_is_asked_about_without_quotes() -> None:
    image, text = requests(files=[png(), b"City: Oslo"], citations="quoted")
    (plain,) = requests(files=[png()])
    assert (image.schema, image.system) == (plain.schema, plain.system)
    assert text.schema != plain.schema


def test_quoting_without_a_schema_or_in_another_word_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"response_model= or schema="):
        batch(["x"], model="mock:echo", citations="quoted")
    with pytest.raises(ConfigError, match="'found' or 'quoted'"):
        BatchManager(["x"], model="mock:echo", citations="cited")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="needs the documents"):
        BatchJob.attach("b", model="claude-haiku-5-5", response_model=City, citations="quoted")


def test_quoting_implies_citations_and_another_setting_is_another_question(tmp_path: Path) -> None:
    given: dict[str, Any] = {"response_model": City, "state_path": tmp_path / "state.json"}
    backend = scripted(Scripted(lambda prompt, call: reply('{"city": "Oslo"}')))
    first = BatchManager(["Oslo"], **given, **backend, citations="quoted")
    assert first.enable_citations
    assert first.run()[0].citations["city"]
    with pytest.raises(ConfigError, match="citations"):
        BatchManager(["Oslo"], **given, **backend, enable_citations=True).run()


def test_the_reader_quotes_what_it_reads() -> None:
    (result,) = batch(
        files=[b"City: Oslo"], prompt="Which city?", response_model=City, citations="quoted", model="mock:reader"
    ).results()
    assert "City: Oslo" in (result.text or "")
    assert places(result) == {"city": ["Oslo@6"]}
