"""Tables as the input of a run: the same through every door, and as JSONL would be."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

import batchwork
from batchwork import BatchManager, ConfigError, InputError
from batchwork.core.event import Settled
from tests.support.runs import statuses_of, texts_of
from tests.support.scripted import Scripted

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

CITIES = {"id": [1, 2], "city": ["Oslo", "Rom"]}
ASKED = ["Where is Oslo?", "Where is Rom?"]
PROMPT = "Where is {city}?"


async def _arun(table: Any, **options: Any) -> list[str | None]:
    return texts_of(await batchwork.arun(table, **options))


async def _astream(table: Any, **options: Any) -> list[str | None]:
    return sorted([outcome.text async for outcome in batchwork.astream(table, **options)], key=str)


DOORS: dict[str, Callable[..., Any]] = {
    "run": lambda table, **options: texts_of(batchwork.run(table, **options)),
    "arun": _arun,
    "stream": lambda table, **options: sorted(outcome.text or "" for outcome in batchwork.stream(table, **options)),
    "astream": _astream,
    "manager": lambda table, **options: texts_of(BatchManager(messages=table, **options).run()),
    "batch": lambda table, **options: texts_of(batchwork.batch(messages=table, **options).results()),
}


def _through(door: str, table: Any, **options: Any) -> Any:
    import asyncio

    given = DOORS[door](table, model="mock:echo", **options)
    return asyncio.run(given) if asyncio.iscoroutine(given) else given


@pytest.mark.parametrize("door", DOORS)
def test_a_table_with_a_prompt_is_asked_row_by_row_through_every_door(door: str, tmp_path: Path) -> None:
    template = tmp_path / "ask.j2"
    template.write_text("Where is {{ city }}?")
    for table in (pd.DataFrame(CITIES), pl.DataFrame(CITIES).lazy(), pa.table(CITIES).to_pylist()):
        assert _through(door, table, prompt=PROMPT) == ASKED
    assert _through(door, pl.DataFrame(CITIES), template=template) == ASKED
    for table in (pd.DataFrame(CITIES), pl.LazyFrame(CITIES), pa.table(CITIES).to_reader()):
        with pytest.raises(ConfigError, match=r'is a table .*prompt="Summarise: \{text\}"'):
            _through(door, table)


def test_a_list_of_dicts_without_a_prompt_stays_a_list_of_requests() -> None:
    assert texts_of(batchwork.run([{"prompt": "a", "max_tokens": 5}], model="mock:echo")) == ["a"]
    asked = batchwork.run([{"prompt": "a"}, {"prompt": "b"}], prompt="Say {prompt}!", model="mock:echo")
    assert texts_of(asked) == ["Say a!", "Say b!"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"prompt": "{town}"}, "asks for 'town', which the DataFrame does not have.*Columns there are: id, city"),
        ({"prompt": "{name}"}, r"'name' is its index: reset_index\(\) makes that a column"),
        ({"prompt": " "}, 'the prompt is empty: prompt= says what is asked, for example prompt="Summarise'),
        ({"prompt": 5}, "prompt= must be a text, got int"),
        ({"prompt": "a", "template": "b.j2"}, "prompt= and template= exclude each other"),
        ({"template": "b.j2"}, "cannot read the template b.j2"),
        ({"prompt": "{city}", "per_row": {"system": "role"}}, "per_row= names 'role', which the DataFrame does not"),
        ({"prompt": "{city}", "per_row": {"sytem": "id"}}, "unknown option 'sytem' in per_row; there are"),
        ({"per_row": {"system": "city"}}, "per_row= goes with a table, and prompt="),
    ],
)
def test_a_question_that_does_not_fit_its_table_is_refused_before_anything_is_sent(
    options: dict[str, Any], why: str
) -> None:
    backend = Scripted()
    frame = pd.DataFrame(CITIES, index=pd.Index([5, 6], name="name"))
    with pytest.raises(ConfigError, match=why):
        batchwork.run(frame, model="scripted", backend=backend, **options)
    assert backend.asked == []


def test_a_table_twice_on_a_journal_sends_nothing_the_second_time_and_is_found_as_jsonl(tmp_path: Path) -> None:
    journal, backend = tmp_path / "j.db", Scripted(free=True)
    columns = {"day": pd.to_datetime(["2026-11-16", None]), "x": [float("nan"), 1.5], "tags": [["a"], None], **CITIES}
    options: dict[str, Any] = {"model": "scripted", "backend": backend, "journal": journal}
    options |= {"prompt": "{city} {day} {x} {tags}"}
    first = batchwork.run(pd.DataFrame(columns), **options)
    assert backend.asked == ['Oslo 2026-11-16T00:00:00  ["a"]', "Rom  1.5 "]
    as_jsonl = batchwork.run(batchwork.open_results(journal).to_arrow(), **options)
    assert len(backend.asked) == 2
    as_polars = batchwork.run(pl.DataFrame({**columns, "day": ["2026-11-16T00:00:00", None]}, strict=False), **options)
    assert len(backend.asked) == 2
    assert texts_of(first) == texts_of(as_jsonl) == texts_of(as_polars)
    changed = pd.DataFrame(columns)
    changed.loc[1, "city"] = "Roma"
    batchwork.run(changed, **options)
    assert backend.asked[2:] == ["Roma  1.5 "]


def test_rows_state_their_own_options_and_one_that_makes_no_sense_fails_alone() -> None:
    seen: list[Any] = []

    class Seeing(Scripted):
        async def complete(self, request: Any, **more: Any) -> Any:
            seen.append((request.system, request.max_tokens, request.sampling))
            return await super().complete(request, **more)

    frame = pd.DataFrame(
        {"q": list("abc"), "role": ["Be brief.", None, None], "limit": [5, None, -1], "t": [0.5, 1, 1]}
    )
    per_row = {"system": "role", "max_tokens": "limit", "temperature": "t"}
    options: dict[str, Any] = {"system": "Be kind.", "max_tokens": 9, "sampling": {"top_p": 0.9}, "max_in_flight": 1}
    results = batchwork.run(frame, prompt="{q}", per_row=per_row, model="s", backend=Seeing(free=True), **options)
    assert seen == [
        ("Be brief.", 5, {"top_p": 0.9, "temperature": 0.5}),
        ("Be kind.", 9, {"top_p": 0.9, "temperature": 1.0}),
    ]
    assert results[2].error == "bad_input: column 'limit' is -1.0, and max_tokens must be a whole number of at least 1"


def test_a_template_that_fails_on_a_row_fails_there_alone(tmp_path: Path) -> None:
    (tmp_path / "ask.j2").write_text("{{ 6 // n }}")
    results = batchwork.run([{"n": 2}, {"n": 0}, {}, {"n": 3}], template=tmp_path / "ask.j2", model="mock:echo")
    assert statuses_of(results) == ["succeeded", "failed", "failed", "succeeded"]
    assert [results[1].error, results[2].error] == [
        "bad_input: the template fails on this row: ZeroDivisionError: integer division or modulo by zero",
        "bad_input: the template fails on this row: UndefinedError: 'n' is undefined",
    ]
    assert list(results.failures) == ["bad_input"]
    assert results.failures["bad_input"].to_pandas()["n"].tolist()[0] == 0


def test_a_lazy_table_is_read_as_far_as_the_run_has_got() -> None:
    read: list[int] = []
    at_first: list[int] = []

    def batches() -> Iterator[Any]:
        for start in range(0, 200_000, 1_000):
            read.append(start)
            yield pa.record_batch({"n": list(range(start, start + 1_000))})

    def on_event(event: Any) -> None:
        if isinstance(event, Settled) and not at_first:
            at_first.append(len(read))

    reader = pa.RecordBatchReader.from_batches(pa.schema([("n", pa.int64())]), batches())
    stopped = threading.Event()
    for outcome in batchwork.stream(reader, prompt="{n}", model="mock:echo", on_event=on_event, max_in_flight=10):
        if outcome.index == 3_000:
            stopped.set()
            break
    assert stopped.is_set()
    assert at_first[0] <= 2
    assert len(read) < 20


class City(BaseModel):
    city: str

    @field_validator("city")
    @classmethod
    def _known(cls, city: str) -> str:
        if city == "Nowhere":
            raise ValueError("there is no such city")
        return city


@pytest.mark.parametrize("door", ["run", "stream"])
def test_a_response_model_types_the_answers_and_its_validators_ask_again(door: str) -> None:
    answers = {"a": '{"city": "Oslo"}', "b": '{"city": "Nowhere"}'}
    backend = Scripted(lambda prompt, call: answers.get(prompt, "no"), free=True)
    outcomes = getattr(batchwork, door)(["a", "b"], model="s", backend=backend, response_model=City, reask=1)
    good, bad = sorted(outcomes, key=lambda outcome: outcome.index)
    assert good.parsed == good.value == City(city="Oslo")
    assert (bad.parsed, bad.status) == (None, "failed")
    assert len(backend.asked) == 3


def test_a_response_model_that_is_none_or_beside_a_schema_is_refused() -> None:
    with pytest.raises(ConfigError, match="response_model is a Pydantic model class, not <class 'int'>"):
        batchwork.run(["a"], model="mock:echo", response_model=int)
    with pytest.raises(ConfigError, match="two ways to say the same"):
        batchwork.run(["a"], model="mock:echo", response_model=City, schema={"type": "object"})


def test_a_journal_is_opened_with_a_model_and_one_that_no_longer_fits_is_named(tmp_path: Path) -> None:
    journal = tmp_path / "j.db"
    batchwork.run(['{"city": "Oslo"}'], model="mock:echo", response_model=City, journal=journal).close()
    assert batchwork.open_results(journal, response_model=City)[0].parsed == City(city="Oslo")

    class Town(BaseModel):
        town: str

    with pytest.raises(InputError, match="result 0 was accepted by an earlier Town and is not by this one"):
        batchwork.open_results(journal, response_model=Town)[0]
