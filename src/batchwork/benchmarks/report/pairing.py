"""Put the calls of a trial side by side, and count what a treatment saves of the baseline's input.

By the trial's task and number, never by a name that is taken apart again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from batchwork.benchmarks.config import TASK_NAMES
from batchwork.benchmarks.report.cells import mean
from batchwork.benchmarks.report.figures import Compression
from batchwork.benchmarks.trial import Call, RunInfo

Trials = Sequence[Mapping[str, Call]]  # per trial, its calls by condition
PROVIDER, ESTIMATE = "provider", "characters / 4"
MOCKED = "the mock's estimate (characters / 4)"
_MOCK = "mock"  # the backend that has no provider behind it


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


def compress(task: str, treatment: str, pairs: Sequence[Pair]) -> Compression:
    """What was sent, by the backend's count over the pairs that have it on both sides, else by characters.

    Counts and estimates are never mixed in one sum.
    """
    counted = [
        (pair.baseline.input_tokens, pair.treatment.input_tokens)
        for pair in pairs
        if pair.baseline.input_tokens is not None and pair.treatment.input_tokens is not None
    ]
    sent: Sequence[tuple[float, float]] = counted or [
        (pair.baseline.prompt_chars / 4, pair.treatment.prompt_chars / 4) for pair in pairs
    ]
    # A mock reports usage as a provider does, and only estimates it.
    source = MOCKED if any(_MOCK in (pair.baseline.backend, pair.treatment.backend) for pair in pairs) else PROVIDER
    data = [(pair.baseline.data_chars / 4, pair.treatment.data_chars / 4) for pair in pairs]
    return Compression(
        task=task,
        treatment=treatment,
        pairs=len(sent),
        source=source if counted else ESTIMATE,
        baseline_tokens=mean([before for before, _ in sent]),
        treatment_tokens=mean([after for _, after in sent]),
        saved=_saved(sent),
        baseline_data_tokens=mean([before for before, _ in data]),
        treatment_data_tokens=mean([after for _, after in data]),
        data_saved=_saved(data),
    )


def _saved(tokens: Sequence[tuple[float, float]]) -> float | None:
    before = sum(before for before, _ in tokens)
    return 1 - sum(after for _, after in tokens) / before if before else None
