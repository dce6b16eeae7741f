"""Count what came of the calls of one condition, and what they took."""

from collections.abc import Sequence
from typing import NamedTuple

from batchwork.benchmarks.report.figures import Cell
from batchwork.benchmarks.statistics import Interval, percentiles, wilson
from batchwork.benchmarks.trial import Call, State

MISSING_LIMIT = 0.05  # a condition with a larger share missing is marked


class Share(NamedTuple):
    """How many answers were right, and how far the share may be off."""

    answered: int
    right: int
    datasets: int
    accuracy: float | None
    interval: Interval | None


def share_right(calls: Sequence[Call]) -> Share:
    """The accuracy over the answers among the calls; answers of one data set count as one independent sample."""
    scores = [call.score == 1 for call in calls if not call.missing]
    if not scores:
        return Share(0, 0, 0, None, None)
    datasets = len({call.dataset for call in calls if not call.missing})
    accuracy = sum(scores) / len(scores)
    return Share(len(scores), sum(scores), datasets, accuracy, wilson(accuracy * datasets, datasets))


def cell_of(task: str, condition: str, calls: Sequence[Call], *, planned: int) -> Cell:
    """The numbers of one condition in one task."""
    share = share_right(calls)
    failed, skipped = (
        sum(call.missing and call.state is state for call in calls) for state in (State.FAILED, State.SKIPPED)
    )
    missing = planned - share.answered
    # A provider may have billed a failed call, too.
    costs = [call.cost_usd for call in calls if call.attempts or call.state not in (State.SKIPPED, State.PENDING)]
    known = [cost for cost in costs if cost is not None]
    came = [call for call in calls if not call.missing]
    p50, p90, p99 = percentiles([call.latency_s for call in came if call.latency_s is not None]) or (None, None, None)
    numbers, invented = sum(call.numbers for call in came), sum(call.invented for call in came)
    return Cell(
        task=task,
        condition=condition,
        planned=planned,
        answered=share.answered,
        unparsed=sum(call.state is State.UNPARSED for call in came),
        failed=failed,
        skipped=skipped,
        pending=missing - failed - skipped,
        missing_share=missing / planned if planned else None,
        too_many_missing=missing > MISSING_LIMIT * planned,
        right=share.right,
        datasets=share.datasets,
        accuracy=share.accuracy,
        interval=share.interval,
        input_tokens=mean([call.input_tokens for call in came if call.input_tokens is not None]),
        output_tokens=mean([call.output_tokens for call in came if call.output_tokens is not None]),
        cost_usd=sum(known) if known else None,
        cost_per_call_usd=mean(known),
        cost_unknown=len(costs) - len(known),
        latency_p50_s=p50,
        latency_p90_s=p90,
        latency_p99_s=p99,
        numbers=numbers,
        invented=invented,
        invented_share=invented / numbers if numbers else None,
    )


def mean(values: Sequence[float]) -> float | None:
    """The mean, or None of nothing."""
    return sum(values) / len(values) if values else None
