"""Where the failures are: accuracy by data size, by question and by kind of data."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from batchwork.benchmarks.report.cells import share_right
from batchwork.benchmarks.report.figures import ALL, Rule, Slice, Trouble, Unread
from batchwork.benchmarks.report.pairing import Trials
from batchwork.benchmarks.trial import Call, State

_EDGES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
_SCALING = "scaling"  # the task whose sizes vary while its questions stay
# As our own messages end, as Anthropic and OpenAI write one into theirs, and as a UUID.
_REQUEST_ID = re.compile(r"(?<=\[)[^\[\]\s]+(?=\]$)|\breq_\w+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_SHOWN = 10  # reasons, and unread answers


def by_size(trials: Mapping[str, Trials], conditions: Sequence[str]) -> list[Slice]:
    """Bands of sizes, small to large: of the scaling task if it was run, since elsewhere size goes with the task."""
    answered = {name: of for name, of in trials.items() if any(not call.missing for call in _flat(of))}
    chosen = {_SCALING: answered[_SCALING]} if _SCALING in answered else answered
    task = ALL if len(chosen) > 1 else "".join(chosen)
    calls = [call for of in chosen.values() for call in _flat(of)]
    slices = []
    for band in range(len(_EDGES) + 1):
        within = [call for call in calls if bisect_right(_EDGES, call.size) == band]
        if within:
            size = median(call.size for call in within)
            slices += [_slice(task, _band_name(band), name, within, size=size) for name in conditions]
    return slices


def by_question(trials: Mapping[str, Trials], conditions: Sequence[str]) -> list[Slice]:
    """Every question of every task."""
    return _sliced(trials, conditions, lambda call: call.question)


def by_kind(trials: Mapping[str, Trials], conditions: Sequence[str]) -> list[Slice]:
    """Every kind of data of every task."""
    return _sliced(trials, conditions, lambda call: call.kind)


def troubles(calls: Iterable[Call]) -> list[Trouble]:
    """Why calls are missing, the most frequent reasons first; the id of a request is no reason of its own."""
    reasons: dict[tuple[str, State, str], Counter[str]] = {}
    for call in calls:
        if call.missing and call.error:
            reason = (call.condition, call.state, _REQUEST_ID.sub("…", call.error))
            reasons.setdefault(reason, Counter())[call.error] += 1
    found = [
        Trouble(
            condition=condition, state=state, error=error if len(told) > 1 else next(iter(told)), calls=told.total()
        )
        for (condition, state, error), told in reasons.items()
    ]
    return sorted(found, key=lambda one: -one.calls)[:_SHOWN]


def unread(calls: Iterable[Call]) -> list[Unread]:
    """The first few answers that could not be read."""
    found = [call for call in calls if call.state is State.UNPARSED][:_SHOWN]
    return [
        Unread(task=call.task, question=call.question, condition=call.condition, answer=call.answer or "")
        for call in found
    ]


def rules(calls: Iterable[Call]) -> list[Rule]:
    """What counts as right for every question that says so."""
    stated = dict.fromkeys((call.task, call.question, call.tolerance) for call in calls if call.tolerance)
    return [Rule(task=task, question=question, tolerance=tolerance) for task, question, tolerance in sorted(stated)]


def _sliced(trials: Mapping[str, Trials], conditions: Sequence[str], name_of: Callable[[Call], str]) -> list[Slice]:
    slices = []
    for task, of in trials.items():
        groups: dict[str, list[Call]] = {}
        for call in _flat(of):
            groups.setdefault(name_of(call), []).append(call)
        slices += [_slice(task, name, condition, groups[name]) for name in sorted(groups) for condition in conditions]
    return slices


def _slice(task: str, name: str, condition: str, calls: Sequence[Call], *, size: float | None = None) -> Slice:
    mine = [call for call in calls if call.condition == condition]
    share = share_right(mine)
    return Slice(
        task=task,
        name=name,
        condition=condition,
        answered=share.answered,
        missing=len(mine) - share.answered,
        right=share.right,
        datasets=share.datasets,
        accuracy=share.accuracy,
        interval=share.interval,
        size=size,
    )


def _flat(trials: Trials) -> list[Call]:
    return [call for calls in trials for call in calls.values()]


def _band_name(band: int) -> str:
    if band == 0:
        return f"under {_EDGES[0]:,}"
    if band == len(_EDGES):
        return f"{_EDGES[-1]:,} and more"
    return f"{_EDGES[band - 1]:,} to {_EDGES[band] - 1:,}"
