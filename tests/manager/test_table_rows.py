"""The rows of a table as the items of a manager."""

import json
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, ConfigError
from tests.support.batch_provider import BatchProvider
from tests.support.managers import City, items_in, options, prompts, scripted
from tests.support.scripted import Scripted

pd = pytest.importorskip("pandas")


def _frame(*cities: str, **columns: Any) -> Any:
    return pd.DataFrame({"city": list(cities), **columns})


def test_a_table_goes_through_batches_and_its_state_shows_what_was_asked(tmp_path: Path) -> None:
    state = tmp_path / "s.json"
    given = options(BatchProvider(takes_s=0.0).client(), state, prompt="Where is {city}?", items_per_job=1)
    manager = BatchManager(_frame("Oslo", "Rom", id=[7, 8]), **given)
    results = manager.run()
    assert [item["content"] for item in items_in(state)] == [
        [{"role": "user", "content": f"Where is {city}?"}] for city in ("Oslo", "Rom")
    ]
    assert list(results.to_pandas()) == ["city", "id", "original_index", "status", "cost", "error", "value"]
    assert manager.to_dataframe()["id"].tolist() == results.to_pandas()["id"].tolist() == [7, 8]
    first, _ = map(json.loads, manager.to_jsonl(tmp_path / "out.jsonl").read_text().splitlines())
    assert list(first) == ["city", "id", "original_index", "status", "value", "citations", "cost", "error"]
    assert repr(results) == "<BatchResults: 2 inputs = 2 succeeded + 0 failed + 0 deferred + 0 skipped>"
    assert "<td>Oslo</td>" in results._repr_html_()


def test_a_table_is_gone_on_with_and_another_one_is_refused(tmp_path: Path) -> None:
    backend = Scripted()
    given = options(backend, tmp_path / "s.json", prompt="Where is {city}?")
    BatchManager(_frame("Oslo", "Rom"), **given).run()
    again = BatchManager([{"city": "Oslo"}, {"city": "Rom"}], **given)
    assert len(again.run()) == 2
    assert len(backend.asked) == 2
    with pytest.raises(ConfigError, match="item 1 is "):
        BatchManager(_frame("Oslo", "Roma"), **given).run()
    with pytest.raises(ConfigError, match=r"its prompt is 'Where is \{city\}"):
        BatchManager(_frame("Oslo", "Rom"), **given | {"prompt": "What is {city}?"}).run()


def test_a_row_that_cannot_be_asked_fails_alone(tmp_path: Path) -> None:
    rows = [{"city": "Oslo"}, {"town": "Rom"}, "Rom", {"city": "Bern"}]
    manager = BatchManager(rows, prompt="{city}", state_path=tmp_path / "s.json", **scripted(Scripted()))
    results = manager.run()
    assert [result.status.value for result in results] == ["succeeded", "failed", "failed", "succeeded"]
    assert [item["content"] for item in items_in(tmp_path / "s.json")][1:3] == [{"town": "Rom"}, {"raw": "'Rom'"}]
    (kind, failed), *_ = results.failures.items()
    assert (kind, [result.original_index for result in failed]) == ("bad_input", [1, 2])
    assert list(failed.failures) == ["bad_input"]


def test_typed_answers_stand_beside_the_columns_of_the_table(tmp_path: Path) -> None:
    backend = Scripted(lambda prompt, call: '{"city": "OSLO"}')
    manager = BatchManager(_frame("Oslo"), prompt="{city}", response_model=City, **scripted(backend))
    assert manager.run().to_pandas()[["city", "value.city"]].to_dict("records") == [
        {"city": "Oslo", "value.city": "OSLO"}
    ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"messages": prompts(2), "prompt": "{a}"}, "a row of a table is a dict of its columns, not str"),
        ({"files": [b"a"], "prompt": "a", "template": "a.j2"}, "template= goes with a table"),
        ({"files": [b"a"], "prompt": "a", "per_row": {"system": "a"}}, "per_row= goes with a table"),
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        BatchManager(**given, model="mock:echo")
