"""A manager's results, in input order and at any time."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from batchwork import BatchManager, FailureKind, RunPaused
from batchwork.core.errors import BackendError
from tests.support.managers import prompts, scripted
from tests.support.scripted import Scripted, failure


def test_results_stand_in_input_order_whatever_order_they_finish_in() -> None:
    backend = Scripted(latency=lambda prompt: 0.03 if int(prompt[1:]) % 3 == 0 else 0.0)
    results = BatchManager(messages=prompts(30), items_per_job=10, **scripted(backend)).run()
    assert [r.original_index for r in results] == list(range(30))
    assert results.values() == prompts(30)
    assert results[-1].value == "p29"
    assert [r.value for r in results[5:8]] == ["p5", "p6", "p7"]
    with pytest.raises(IndexError):
        _ = results[30]


@pytest.mark.parametrize("with_state", [False, True])
def test_results_before_a_run_are_all_pending(tmp_path: Path, with_state: bool) -> None:
    state = {"state_path": tmp_path / "s.json"} if with_state else {}
    manager = BatchManager(messages=prompts(3), **state, **scripted(Scripted()))
    results = manager.results()
    assert len(results) == manager.stats.total_items == 3
    assert [(r.original_index, r.status, r.value, r.cost) for r in results] == [
        (i, "pending", None, 0) for i in range(3)
    ]
    assert results[2].status == "pending"
    assert results.total_cost == 0
    assert list(tmp_path.iterdir()) == []
    assert len(manager.retry_failed()) == 0
    assert manager.to_jsonl(tmp_path / "t.jsonl").read_text().count('"pending"') == 3
    assert manager.run().values() == manager.results().values() == prompts(3)


class _Broke(Scripted):
    """Answers seven calls, and then has no money left until it is topped up."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 7
        self.prompts: list[str] = []

    async def complete(self, request: Any, *, ceiling_nano: int | None = None) -> Any:
        if not self.left:
            raise BackendError(failure(FailureKind.QUOTA))
        self.left -= 1
        self.prompts.append(str(request.messages[-1].content))
        return await super().complete(request, ceiling_nano=ceiling_nano)


@pytest.mark.parametrize("with_state", [False, True])
def test_after_a_pause_the_results_are_those_of_all_items_and_nothing_is_paid_again(
    tmp_path: Path, with_state: bool
) -> None:
    state = {"state_path": tmp_path / "s.json"} if with_state else {}
    backend = _Broke()
    manager = BatchManager(messages=prompts(500), max_in_flight=2, **state, **scripted(backend, mode="live"))
    with pytest.raises(RunPaused) as paused:
        manager.run()
    for results in (paused.value.results, manager.results()):
        assert len(results) == manager.stats.total_items == 500
        assert Counter(str(r.status.value) for r in results) == {"succeeded": 7, "pending": 493}
        assert [r.original_index for r in results] == list(range(500))
        assert results[499].status == results[-1].status == "pending"
        assert results[3].status == "succeeded"
    backend.left = 1000
    assert manager.run().values() == prompts(500)
    assert sorted(backend.prompts) == sorted(prompts(500))


def test_results_that_are_closed_still_have_a_name(tmp_path: Path) -> None:
    results = BatchManager(messages=prompts(2), state_path=tmp_path / "s.json", **scripted(Scripted())).run()
    results.close()
    assert (repr(results), results._repr_html_()) == ("<BatchResults: closed>", None)
