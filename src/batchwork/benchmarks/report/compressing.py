"""How much shorter a treatment's prompts are than the baseline's, over the trials that both answered."""

from __future__ import annotations

from collections.abc import Sequence

from batchwork.benchmarks.report.cells import mean
from batchwork.benchmarks.report.figures import Compression
from batchwork.benchmarks.report.pairing import Pair

PROVIDER, ESTIMATE = "provider", "characters / 4"
MOCKED = "the mock's estimate (characters / 4)"
_MOCK = "mock"  # the backend that has no provider behind it


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
    data = [(pair.baseline.data_chars / 4, pair.treatment.data_chars / 4) for pair in pairs]
    return Compression(
        task=task,
        treatment=treatment,
        pairs=len(sent),
        source=_source(pairs) if counted else ESTIMATE,
        baseline_tokens=mean([before for before, _ in sent]),
        treatment_tokens=mean([after for _, after in sent]),
        saved=_saved(sent),
        baseline_data_tokens=mean([before for before, _ in data]),
        treatment_data_tokens=mean([after for _, after in data]),
        data_saved=_saved(data),
    )


def _source(pairs: Sequence[Pair]) -> str:
    """Who counted: a mock reports usage as a provider does, and only estimates it."""
    return MOCKED if any(_MOCK in (pair.baseline.backend, pair.treatment.backend) for pair in pairs) else PROVIDER


def _saved(tokens: Sequence[tuple[float, float]]) -> float | None:
    before = sum(before for before, _ in tokens)
    return 1 - sum(after for _, after in tokens) / before if before else None
