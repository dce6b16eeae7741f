"""The numbers of a manager."""

from __future__ import annotations

import pytest

from batchwork import BatchManager, FailureKind
from tests.support.managers import prompts, scripted
from tests.support.scripted import Scripted, failure


def test_a_job_of_which_everything_failed_is_not_counted_as_completed(capsys: pytest.CaptureFixture[str]) -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if prompt in ("p2", "p3") else prompt)
    manager = BatchManager(messages=prompts(6), items_per_job=2, **scripted(backend))
    manager.run(print_progress=True)
    stats = manager.stats
    assert (stats.jobs_total, stats.jobs_completed, stats.jobs_failed, stats.jobs_in_progress) == (3, 2, 1, 0)
    assert "Jobs: 2/3 completed, 1 failed, 0 in progress" in capsys.readouterr().out
