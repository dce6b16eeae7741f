"""Embeddings from end to end: packed, in order, in a journal, live and in batches; nothing is sent again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import batchwork
from batchwork import ConfigError, Embeddings, RunPaused
from batchwork.core.ports import Traits
from batchwork.core.reply import Reply, Usage
from batchwork.core.request import Request
from batchwork.core.text_pack import PackLimits
from batchwork.journal import back_up, recover
from batchwork.journal.recovery.page_file import page_sizes
from batchwork.journal_copy import copy_journal
from batchwork.simulator import Simulator
from batchwork.simulator.openai.embeddings import REFUSED, vector_of
from tests.support.journals import sqlite_journal

MODEL = "openai:text-embedding-3-small"
DIMENSIONS = 16
MODES = pytest.mark.parametrize("mode", ["live", "batch"])


@pytest.fixture(scope="module")
def running() -> Iterator[Simulator]:
    with Simulator(persona="echo", batch_time_s=0.05, validation_time_s=0.01) as simulator:
        yield simulator


@pytest.fixture
def provider(running: Simulator) -> Simulator:
    running.reset()
    return running


def embedded(provider: Simulator, texts: Any, **options: Any) -> Embeddings:
    told = {"model": MODEL, "base_url": provider.openai_url, "api_key": "k", "dimensions": DIMENSIONS}
    return batchwork.embed(texts, **(told | {"poll_interval": 0.02} | options))


def calls(provider: Simulator) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = provider.log()["requests"]
    return found


def check(made: Embeddings, texts: list[Any], *, bad: frozenset[int] = frozenset()) -> None:
    """Every text but the bad ones has its own vector, in its place."""
    seen = list(made)
    assert [one.index for one in seen] == list(range(len(texts)))
    errors = {one.index: one.error for one in seen if one.data is None}
    assert errors.keys() == bad, list(errors.items())[:3]
    for one in seen:
        assert one.error if one.index in bad else one.data == vector_of(texts[one.index], DIMENSIONS)


def numbered(count: int, word: str = "text") -> list[str]:
    return [f"{word} number {i}" for i in range(count)]


@MODES
def test_every_text_gets_its_vector_and_the_bill_is_booked(provider: Simulator, mode: str, tmp_path: Path) -> None:
    texts = numbered(3000)
    with embedded(provider, texts, mode=mode, journal=tmp_path / "j.db", max_cost=1) as made:
        check(made, texts)
        log = provider.log()
        assert made.cost is not None
        assert made.cost * 10**9 == log["total"]["nano_dollars"]
        assert made.accounting.succeeded == 3000
    assert len(log["requests"]) == (2 if mode == "live" else 12), "2,048 texts in a call, 256 in a line"
    assert provider.log()["total"]["billed"] == len(log["requests"])


@MODES
def test_a_refused_text_fails_alone(provider: Simulator, mode: str, tmp_path: Path) -> None:
    texts: list[Any] = numbered(700)
    texts[3], texts[300], texts[301], texts[699] = f"one {REFUSED}", f"two {REFUSED}", "", None
    options = {"mode": mode, "journal": tmp_path / "j.db", "max_cost": 1}
    with embedded(provider, iter(texts), **options) as made:
        check(made, texts, bad=frozenset({3, 300, 301, 699}))
        errors = {one.index: str(one.error) for kind in made.failures.values() for one in kind}
    assert "content filter" in errors[3]
    assert errors[301] == "bad_input: the text is empty"
    assert errors[699] == "bad_input: a text is a string, not NoneType"
    before = len(calls(provider))
    billed = sum(call["usage"]["input"] for call in calls(provider) if call["billed"])
    assert billed == sum(-(-len(text) // 4) for text in texts if text and REFUSED not in text), (
        "each text is billed once"
    )
    with embedded(provider, texts, **options) as again:
        check(again, texts, bad=frozenset({3, 300, 301, 699}))
    assert len(calls(provider)) == before, "nothing is sent again"


@MODES
def test_an_input_that_has_changed_sends_what_is_new_alone(provider: Simulator, mode: str, tmp_path: Path) -> None:
    texts = numbered(600)
    options = {"mode": mode, "journal": tmp_path / "j.db"}
    embedded(provider, texts, **options).close()
    before = len(calls(provider))
    changed = ["a new beginning", *texts[:100], *texts[101:], "between", texts[100], texts[5], *numbered(20, "more")]
    changed[250], changed[251] = changed[251], changed[250]
    with embedded(provider, changed, **options) as made:
        check(made, changed)
    sent = calls(provider)[before:]
    assert len(sent) == 1
    new = ["a new beginning", "between", *numbered(20, "more")]
    assert sent[0]["usage"]["input"] == sum(-(-len(text) // 4) for text in new)
    with embedded(provider, changed[:50], **options) as fewer:
        check(fewer, changed[:50])
    assert len(calls(provider)) == before + 1


@pytest.mark.parametrize("page_bytes", [4096, 32768])
def test_a_journal_of_any_page_size_goes_on_and_is_recovered(
    provider: Simulator, page_bytes: int, tmp_path: Path
) -> None:
    path, texts = tmp_path / "j.db", numbered(3000)
    if page_bytes == 4096:
        sqlite_journal(path).close()  # as releases before this one made them
    embedded(provider, texts, journal=path).close()
    assert page_sizes(path) == (page_bytes,)
    path.write_bytes(bytes(100) + path.read_bytes()[100:])
    assert recover(path).lost_events == 0
    assert page_sizes(path) == (page_bytes,)
    with embedded(provider, texts, journal=path) as made:
        check(made, texts)
    assert len(calls(provider)) == 2, "nothing is sent again"


@pytest.mark.parametrize("how", ["copy", "backup", "fresh"])
def test_the_vectors_of_a_journal_go_where_it_goes(provider: Simulator, how: str, tmp_path: Path) -> None:
    path, other, texts = tmp_path / "j.db", tmp_path / "other.db", numbered(3000)
    first = embedded(provider, texts[:2500], journal=path)
    if how == "copy":
        copy_journal(path, other)
        assert not (tmp_path / "other.db.vectors").exists(), "one that has them in its events, as all had them once"
    elif how == "backup":
        back_up(path, other)
        assert (tmp_path / "other.db.vectors").stat().st_mode & 0o777 == 0o600
    else:
        embedded(provider, texts[:5], journal=path, fresh=True).close()
        other = tmp_path / "j.db.old-1"
    with first:
        check(first, texts[:2500])
    before = len(calls(provider))
    with embedded(provider, texts, journal=other) as made:
        check(made, texts)
    assert len(calls(provider)) == before + 1, "what is known is not sent again"


def test_a_text_that_is_too_long_goes_alone_and_fails_alone(provider: Simulator) -> None:
    texts = [*numbered(5), "x" * 40_000, *numbered(5, "later")]
    with embedded(provider, texts) as made:
        check(made, texts, bad=frozenset({5}))
    assert [call["status"] for call in calls(provider)].count(200) == 2


def test_calls_hold_no_more_tokens_than_the_provider_takes(provider: Simulator) -> None:
    texts = [f"{i} " + "word " * 4000 for i in range(100)]
    with embedded(provider, texts) as made:
        check(made, texts)
    assert all(call["status"] == 200 for call in calls(provider))
    assert len(calls(provider)) > 1


def test_a_budget_defers_what_no_longer_fits_and_more_money_goes_on(provider: Simulator, tmp_path: Path) -> None:
    texts = [f"{i} " + "word " * 400 for i in range(300)]
    journal = tmp_path / "j.db"
    with embedded(provider, texts, journal=journal, max_cost="0.006") as made:
        accounting = made.accounting
        assert accounting.deferred > 0
        assert made.cost is not None
        assert made.cost <= 0.006
    with embedded(provider, texts, journal=journal, max_cost=1) as made:
        check(made, texts)
        assert made.cost is not None
        assert made.cost * 10**9 == provider.log()["total"]["nano_dollars"]


def test_what_is_wrong_with_every_call_pauses_the_run_soon(provider: Simulator) -> None:
    provider.set_faults("400=1")
    with pytest.raises(RunPaused) as caught:
        embedded(provider, numbered(20_000), retries=0)
    assert len(calls(provider)) < 200
    caught.value.results.close()
    provider.set_faults("404=1")
    with pytest.raises(RunPaused):
        embedded(provider, numbered(40_000), retries=0)


@pytest.mark.parametrize("fault", ["500", "429", "reset", "503_after", "truncated"])
def test_a_call_that_fails_is_tried_again(provider: Simulator, fault: str, tmp_path: Path) -> None:
    provider.next_faults("live", [fault])
    texts = numbered(100)
    with embedded(provider, texts, journal=tmp_path / "j.db", max_cost=1) as made:
        check(made, texts)
        assert made.cost is not None
        assert made.cost * 10**9 >= sum(call["nano_dollars"] for call in calls(provider) if call["answered"])


@pytest.mark.parametrize(
    ("model", "per_call"),
    [("gemini:gemini-embedding-001", 100), ("mistral:mistral-embed", 128), ("voyage:voyage-4", 128)],
)
def test_other_providers_make_embeddings_in_packs_of_their_own_size(
    provider: Simulator, model: str, per_call: int, tmp_path: Path
) -> None:
    texts = numbered(300)
    texts[70] = f"a {REFUSED}"
    base_url = provider.service_url(model.partition(":")[0])
    with embedded(provider, texts, model=model, base_url=base_url, journal=tmp_path / "j.db", max_cost=1) as made:
        check(made, texts, bad=frozenset({70}))
        assert made.cost is not None
        assert made.cost * 10**9 >= provider.log()["total"]["nano_dollars"], (
            "where no usage is told, the worst case is booked"
        )
    assert sum(call["status"] == 400 for call in calls(provider)) == 0, "what is refused is not in the log of calls"
    assert provider.log()["total"]["received"] >= 300 // per_call + 16


def test_gemini_makes_embeddings_in_batches_one_text_to_a_line_for_half(provider: Simulator, tmp_path: Path) -> None:
    texts = numbered(40)
    texts[7] = f"a {REFUSED}"
    model, base_url = "gemini:gemini-embedding-001", provider.service_url("gemini")
    told = {"model": model, "base_url": base_url, "mode": "batch", "journal": tmp_path / "j.db"}
    for _ in range(2):  # the second time nothing is sent
        with embedded(provider, texts, **told) as made:
            check(made, texts, bad=frozenset({7}))
    log = provider.log()
    assert (log["total"]["received"], log["total"]["billed"], len(log["batches"])) == (40, 39, 1)
    assert {call["tier"] for call in log["requests"]} == {"batch"}


@pytest.mark.parametrize(("model", "part"), [("voyage:voyage-4", 0.67), ("mistral:mistral-embed", 0.5), (MODEL, 0.5)])
def test_batches_of_embeddings_cost_less_where_the_provider_says_so(
    provider: Simulator, model: str, part: float
) -> None:
    texts = numbered(300)
    told = {"model": model, "base_url": provider.service_url(model.partition(":")[0]), "max_cost": 1}
    costs = []
    for mode in ("live", "batch"):
        provider.reset()
        with embedded(provider, texts, mode=mode, **told) as made:
            check(made, texts)
            assert made.cost is not None
            assert made.cost * 10**9 == provider.log()["total"]["nano_dollars"]
            costs.append(float(made.cost))
    assert {call["batch_id"] is not None for call in calls(provider)} == {True}
    assert costs[1] / costs[0] == pytest.approx(part, rel=0.001)


def test_vectors_go_out_as_arrays_and_tables(provider: Simulator, tmp_path: Path) -> None:
    texts: list[Any] = [*numbered(10), ""]
    with embedded(provider, texts) as made:
        array = made.to_numpy()
        table = made.to_arrow()
        stored = pq.read_table(made.to_parquet(tmp_path / "v.parquet"))
        loaded = np.load(made.to_npy(tmp_path / "v.npy"))
        assert next(iter(made)).vector == array[0].tolist()
    assert (array.shape, array.dtype) == ((11, DIMENSIONS), np.float32)
    assert np.isnan(array[10]).all()
    np.testing.assert_array_equal(loaded, array)
    assert stored.equals(table)
    assert table.column_names == ["index", "text", "embedding", "error"]
    assert table["embedding"].to_pylist()[3] == array[3].tolist()
    assert table["embedding"].to_pylist()[10] is None
    assert table["error"].to_pylist()[10] == "bad_input: the text is empty"


class Shrinking:
    """Makes vectors that get shorter from call to call."""

    traits = Traits(name="shrinking", free=True)
    pack_limits = PackLimits(max_texts=2, max_tokens=1000, text_tokens=1000)
    calls = 0

    async def complete(self, request: Request, *, ceiling_nano: int | None = None) -> Reply:
        self.calls += 1
        size = 5 - self.calls
        vectors = bytes(4 * size * len(request.messages))
        return Reply(text="", usage=Usage(input_tokens=1), model="m", vectors=vectors, dimensions=size)

    async def aclose(self) -> None:
        pass


def test_vectors_of_another_length_than_the_first_are_failures_of_their_texts(tmp_path: Path) -> None:
    with batchwork.embed(["a", "b", "c"], model="m", backend=Shrinking(), max_in_flight=1) as made:
        assert [one.error is None for one in made] == [True, True, False]
        assert "has 3 numbers, and the first one 4" in str(made.failures["result_lost"][0].error)
        assert made.to_arrow()["embedding"].to_pylist()[2] is None
        assert np.load(made.to_npy(tmp_path / "v.npy")).shape == (3, 4)


@pytest.mark.parametrize(
    ("texts", "options", "words"),
    [
        ("one text", {}, "not one string"),
        (["a"], {"model": "anthropic:claude-haiku-5-5"}, "makes no embeddings"),
        (["a"], {"model": "groq:llama"}, "makes no embeddings .* there are azure"),
        (["a"], {"model": "gemini:"}, "`batchwork models gemini` lists"),
        (["a"], {"dimensions": 0}, "dimensions must be"),
        (["a"], {"dimensions": True}, "dimensions must be"),
        (["a"], {"options": {"input": ["b"]}}, "options cannot set 'input'"),
        (["a"], {"options": {"encoding_format": "float"}}, "options cannot set 'encoding_format'"),
        (["a"], {"options": {"output_dtype": "int8"}}, "kept as float32"),
        (["a"], {"options": ["input_type"]}, "options must be a mapping"),
        (["a"], {"system": "s"}, "unknown option 'system'"),
    ],
)
def test_what_cannot_be_embedded_is_refused_before_anything_is_sent(
    provider: Simulator, texts: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        embedded(provider, texts, **options)
    assert not calls(provider)


def test_a_table_is_embedded_by_its_rows_and_never_by_the_names_of_its_columns(provider: Simulator) -> None:
    frame = pd.DataFrame({"title": ["Elbe", "Rhine", "Oder"], "km": [1094, 1233, 854]})
    with pytest.raises(ConfigError, match=r"prompt="):
        embedded(provider, frame)
    with embedded(provider, frame, prompt="{title}: {km} km") as made:
        table = made.to_pandas()
        assert list(table["text"]) == ["Elbe: 1094 km", "Rhine: 1233 km", "Oder: 854 km"]
        assert made.to_polars()["embedding"].to_list()[2] == pytest.approx(table["embedding"][2])
    rows = [{"title": "Elbe"}, {"name": "no title"}]
    with embedded(provider, rows, prompt="{title}") as made:
        assert {kind: [one.index for one in failed] for kind, failed in made.failures.items()} == {"bad_input": [1]}
