"""Put the calls of a trial side by side. By the trial's task and number, never by a name that is taken apart again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from batchwork.benchmarks.config import TASK_NAMES
from batchwork.benchmarks.trial import Call, RunInfo

Trials = Sequence[Mapping[str, Call]]  # per trial, its calls by condition


class Pair(NamedTuple):
    """One trial that was answered in both conditions."""

    baseline: Call
    treatment: Call


def trials_by_task(info: RunInfo, calls: Iterable[Call]) -> dict[str, Trials]:
    """The trials of every task there is, also of those without a call; a call told twice counts as told last."""
    tasks: dict[str, dict[int, dict[str, Call]]] = {name: {} for name in (*TASK_NAMES, *info.tasks)}
    for call in calls:
        tasks.setdefault(call.task, {}).setdefault(call.trial, {})[call.condition] = call
    return {name: list(trials.values()) for name, trials in tasks.items()}


def pairs_of(trials: Trials, baseline: str, treatment: str) -> list[Pair]:
    """The trials that both conditions answered; one with an answer missing says nothing about a difference."""
    both = ((calls.get(baseline), calls.get(treatment)) for calls in trials)
    return [Pair(a, b) for a, b in both if a is not None and b is not None and not a.missing and not b.missing]
