"""The whole chain from calls to verdicts on runs whose truth is known; `perf/calibration.py` has the full size."""

from __future__ import annotations

from dataclasses import replace

import pytest

from batchwork.benchmarks.report import Verdict, summarise
from batchwork.benchmarks.statistics import power_of, trials_needed
from perf._harness import verdict
from perf.calibration import NULLS, allowed, claims, slack
from perf.simulated_runs import World


@pytest.fixture(autouse=True)
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bootstrap's interval decides no verdict, and takes longer than all the rest of a report."""
    monkeypatch.setattr("batchwork.benchmarks.statistics.intervals._DRAWS", 10)


def test_of_400_runs_31_may_be_false_alarms() -> None:
    assert allowed(400) == 31


@pytest.mark.parametrize(("world", "runs"), [(NULLS[0], 400), (NULLS[6], 200)])
def test_identical_conditions_are_rarely_called_different(world: World, runs: int) -> None:
    small = replace(world, tasks=("trend", "multi_step"))
    alarms = sum(claims(summarise(*run)) for run in small.runs(runs))
    assert alarms <= allowed(runs)


@pytest.mark.parametrize("discordance", [0.4, 0.7])
def test_a_planted_difference_is_found_with_the_power_that_was_claimed(discordance: float) -> None:
    trials = trials_needed(0.8, 0.3, discordance=discordance)
    world = World(name="planted", tasks=("trend",), trials=trials, discordance=discordance, differences={"trend": 0.3})
    found = sum(summarise(*run).overall[0].verdict is Verdict.BETTER for run in world.runs(200)) / 200
    claimed = power_of(trials, 0.3, discordance=discordance)
    assert abs(found - claimed) <= slack(claimed, 200)


def test_a_cut_that_is_too_small_to_be_judged_says_so_and_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict("bench", "0.873 of the ideal", "0.97", ok=False, judged=False) == 0
    assert verdict("bench", "0.873 of the ideal", "0.97", ok=False, timed=False) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.rpartition(") ")[2] for line in lines] == ["smoke, not judged", "short"]
