"""Calls and runs made by hand, for what is built on them."""

from __future__ import annotations

from typing import Any

from batchwork.benchmarks.config import TASK_NAMES
from batchwork.benchmarks.trial import Call, RunInfo, State


def run_info(**given: Any) -> RunInfo:
    """A run of all tasks, one treatment."""
    usual: dict[str, Any] = {
        "backend": "mock",
        "model": "mock:reader",
        "baseline": "raw",
        "treatments": ("frame",),
        "tasks": TASK_NAMES,
        "trials": 2,
        "seed": 0,
        "window": 1,
        "started_at": "2026-01-01T10:00:00+00:00",
        "ended_at": "2026-01-01T10:01:00+00:00",
        "wall_s": 60.0,
    }
    return RunInfo(**{**usual, **given})


def call(task: str = "trend", trial: int = 0, condition: str = "raw", score: float | None = 1.0, **given: Any) -> Call:
    """A call that came to an answer, right unless the score says otherwise; without a score it failed."""
    usual: dict[str, Any] = {
        "question": "direction",
        "kind": "line",
        "dataset": f"{task}-{trial}",
        "size": 100,
        "state": State.FAILED if score is None else State.ANSWERED,
        "truth": "rising",
        "backend": "mock",
        "model": "mock:reader",
        "prompt_chars": 4000 if condition == "raw" else 1200,
        "data_chars": 3600 if condition == "raw" else 800,
        "answer": None if score is None else '{"answer": "rising"}',
        "latency_s": None if score is None else 1.0,
        "attempts": 1,
    }
    return Call(task=task, trial=trial, condition=condition, score=score, **{**usual, **given})


def pair(task: str, trial: int, before: float | None, after: float | None, **given: Any) -> list[Call]:
    """One trial in both conditions."""
    return [call(task, trial, "raw", before, **given), call(task, trial, "frame", after, **given)]


def table(task: str, both: int, only_treatment: int, only_baseline: int, neither: int) -> list[Call]:
    """Trials of a task with so many of each outcome."""
    outcomes = [(1.0, 1.0)] * both + [(0.0, 1.0)] * only_treatment + [(1.0, 0.0)] * only_baseline
    outcomes += [(0.0, 0.0)] * neither
    return [made for trial, scores in enumerate(outcomes) for made in pair(task, trial, *scores)]
