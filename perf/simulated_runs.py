"""Runs of a benchmark whose truth is known: calls as the runner writes them, with answers drawn from a stated world.

The answers of a trial are correlated, as those of real models are: how often two conditions differ is part of the
world. Where a data set has several questions, its trials are correlated too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from batchwork.benchmarks.config import TASK_NAMES
from batchwork.benchmarks.trial import Call, RunInfo, State

BASELINE = "raw"
_BOTH = 0.6  # of the pairs that agree, those that are right


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What is true, and what a run asks of it."""

    name: str
    trials: int = 30
    tasks: tuple[str, ...] = TASK_NAMES
    treatments: int = 1
    discordance: float = 0.4
    differences: Mapping[str, float] = field(default_factory=dict)  # planted, by task; none elsewhere
    questions: int = 1  # on each data set
    alike: float = 0.8  # the chance of a further question on a data set to go as its first did
    missing: float = 0.0  # of the baseline's calls; of the others', a fifth of it

    @property
    def difference(self) -> float:
        """The true difference over all tasks."""
        return sum(self.differences.values()) / len(self.tasks)

    @property
    def baseline_accuracy(self) -> float:
        """How often the baseline is right, over all tasks."""
        return _BOTH * (1 - self.discordance) + (self.discordance - self.difference) / 2

    def runs(self, count: int, *, seed: int = 0) -> Iterator[tuple[RunInfo, list[Call]]]:
        """So many runs in this world."""
        dice = np.random.default_rng(seed)
        names = tuple(f"treatment-{number}" for number in range(self.treatments))
        for number in range(count):
            info = RunInfo(
                backend="simulated",
                model="none",
                baseline=BASELINE,
                treatments=names,
                tasks=self.tasks,
                trials=self.trials,
                seed=number,
                window=1,
                started_at="2026-01-01T00:00:00+00:00",
                ended_at="2026-01-01T00:00:01+00:00",
                wall_s=1.0,
            )
            yield info, [call for task in self.tasks for call in self._calls(task, names, dice)]

    def _calls(self, task: str, treatments: tuple[str, ...], dice: np.random.Generator) -> Iterator[Call]:
        right = self._answers(task, dice)
        gone = dice.random(right.shape) < np.array([self.missing, *[self.missing / 5] * self.treatments])
        for trial in range(self.trials):
            for at, condition in enumerate((BASELINE, *treatments)):
                missing = bool(gone[trial, at])
                yield Call(
                    task=task,
                    trial=trial,
                    question=f"question {trial % self.questions}",
                    kind="drawn",
                    dataset=f"{task}-{trial // self.questions}",
                    size=100,
                    condition=condition,
                    state=State.FAILED if missing else State.ANSWERED,
                    truth=None,
                    backend="simulated",
                    model="none",
                    score=None if missing else float(right[trial, at]),
                )

    def _answers(self, task: str, dice: np.random.Generator) -> np.ndarray:
        """Right or wrong, by trial and condition."""
        shift = self.differences.get(task, 0.0)
        both = _BOTH * (1 - self.discordance)
        only_baseline, only_treatment = (self.discordance - shift) / 2, (self.discordance + shift) / 2
        before = dice.random(self.trials) < both + only_baseline
        if_right, if_wrong = both / (both + only_baseline), only_treatment / (1 - both - only_baseline)
        chance = np.where(before, if_right, if_wrong)[:, None]
        right = np.column_stack([before, dice.random((self.trials, self.treatments)) < chance])
        first = np.arange(self.trials) // self.questions * self.questions
        again = dice.random(self.trials) < self.alike
        return np.where(again[:, None], right[first], right)
