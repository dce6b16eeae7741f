"""Evidence is found once for an answer, whoever looks at it and however often."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, batch, evidence
from batchwork.manager import finisher
from tests.support.managers import City

_CITIES = ["Oslo", "Rome", "Bern", "Graz", "Turin"]


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often evidence was searched for since the last question."""
    calls: list[Any] = []
    find = evidence.find_evidence

    def counted(value: Any, *more: Any, **options: Any) -> Any:
        calls.append(value)
        return find(value, *more, **options)

    monkeypatch.setattr(evidence, "find_evidence", counted)

    def since() -> int:
        count = len(calls)
        calls.clear()
        return count

    return since


def _given(**more: Any) -> dict[str, Any]:
    files = [f"City: {city}".encode() for city in _CITIES]
    question = {"files": files, "prompt": "Which city?", "model": "mock:reader", "response_model": City}
    return question | {"enable_citations": True} | more


def _texts(results: Any) -> list[str]:
    return [citations["city"][0]["text"] for citations in results.citations()]


def _look(manager: BatchManager, folder: Path) -> None:
    results = manager.results()
    assert _texts(results) == _CITIES
    assert [result.citations["city"][0]["text"] for result in results] == _CITIES
    assert results[0].citations == results[0].citations == results[-5].citations
    assert results.at([3])[0].citations["city"][0]["text"] == "Graz"
    rows = [json.loads(line) for line in manager.to_jsonl(folder / "t.jsonl").read_text().splitlines()]
    assert [row["citations"]["city"][0]["text"] for row in rows] == _CITIES


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_evidence_is_found_once_for_all_looks_and_files(
    saved: bool, kept: bool, tmp_path: Path, searches: Callable[[], int]
) -> None:
    more = {"save_results_dir": tmp_path / "results"} if saved else {}
    more |= {"state_path": tmp_path / "s.json"} if kept else {}
    manager = BatchManager(**_given(items_per_job=2, **more))
    manager.run()
    _look(manager, tmp_path)
    assert searches() == len(_CITIES)


def test_evidence_of_a_single_job_is_found_once(searches: Callable[[], int]) -> None:
    job = batch(**_given())
    assert _texts(job.results()) == _texts(job.results()) == _CITIES
    assert job.citations() == [result.citations for result in job]
    assert searches() == len(_CITIES)


@pytest.mark.parametrize("runs_again", [False, True])
def test_a_later_process_reads_evidence_from_the_result_files(
    runs_again: bool, tmp_path: Path, searches: Callable[[], int]
) -> None:
    given = _given(items_per_job=2, state_path=tmp_path / "s.json", save_results_dir=tmp_path / "results")
    BatchManager(**given).run()
    assert searches() == len(_CITIES)
    later = BatchManager(**given)
    if runs_again:
        later.run()
    _look(later, tmp_path)
    assert searches() == 0


def _processed(folder: Path) -> dict[str, Any]:
    file: dict[str, Any] = json.loads((folder / "processed" / "job_0_results.json").read_text())
    return file


@pytest.mark.parametrize(
    "change",
    [
        lambda file: file["citations"][0]["city"][0].update(text="Rome"),
        lambda file: file["citations"][0]["city"][0].update(start="x"),
        lambda file: file["citations"][0].update(city=5),
        lambda file: file["citations"].__setitem__(0, ["city"]),
        lambda file: file["results"].__setitem__(0, {"city": "Rome"}),
        lambda file: file.pop("citations"),
        lambda file: file.pop("results"),
    ],
)
def test_what_somebody_changed_in_a_result_file_is_found_again(
    change: Callable[[Any], Any], tmp_path: Path, searches: Callable[[], int]
) -> None:
    given = _given(state_path=tmp_path / "s.json", save_results_dir=tmp_path / "results")
    BatchManager(**given).run()
    file = _processed(tmp_path / "results")
    change(file)
    (tmp_path / "results" / "processed" / "job_0_results.json").write_text(json.dumps(file))
    searches()
    assert _texts(BatchManager(**given).results()) == _CITIES
    assert searches() > 0


def test_result_files_of_another_run_are_not_read(tmp_path: Path, searches: Callable[[], int]) -> None:
    given = _given(state_path=tmp_path / "s.json")
    BatchManager(**given, save_results_dir=tmp_path / "results").run()
    (tmp_path / "results" / ".batchwork.json").write_text('{"manager_id": "another"}')
    searches()
    assert _texts(BatchManager(**given, save_results_dir=tmp_path / "results").results()) == _CITIES
    assert searches() == len(_CITIES)


def test_files_that_were_written_without_citations_do_not_hide_them(
    tmp_path: Path, searches: Callable[[], int]
) -> None:
    given = _given(state_path=tmp_path / "s.json", save_results_dir=tmp_path / "results")
    BatchManager(**given | {"enable_citations": False}).run()
    assert _processed(tmp_path / "results")["citations"] == [{}] * len(_CITIES)
    assert _texts(BatchManager(**given).results()) == _CITIES
    assert searches() == len(_CITIES)


def test_what_does_not_fit_into_memory_is_found_again(
    monkeypatch: pytest.MonkeyPatch, searches: Callable[[], int]
) -> None:
    monkeypatch.setattr(finisher, "_MOST_KEPT", 4)  # places: two answers with one each
    results = BatchManager(**_given()).run()
    for _ in range(3):
        assert _texts(results) == _CITIES
    assert searches() == 2 + 3 * 3
