"""All numbers of a report, computed once."""

from collections.abc import Sequence

import msgspec

from batchwork.benchmarks.report.cells import cell_of
from batchwork.benchmarks.report.comparing import compare
from batchwork.benchmarks.report.figures import ALL, InventedError, Summary
from batchwork.benchmarks.report.pairing import compress, pairs_of, trials_by_task
from batchwork.benchmarks.report.slicing import by_kind, by_question, by_size, rules, troubles, unread
from batchwork.benchmarks.trial import Call, RunInfo

# Where `RunInfo.settings` has how often invented numbers are misjudged, if it was measured: the whole, or one number.
INVENTED_ERROR, FALSE_ALARM_RATE = "invented_error", "invented_false_alarm_rate"


def summarise(info: RunInfo, calls: Sequence[Call]) -> Summary:
    """The numbers of a run, made of nothing but what it was told and what came of its calls."""
    trials = trials_by_task(info, calls)
    together = [one for of in trials.values() for one in of]
    kept = [call for one in together for call in one.values()]
    conditions = (info.baseline, *info.treatments)
    planned = {task: max(len(of), info.trials if task in info.tasks else 0) for task, of in trials.items()}
    cells = [
        cell_of(task, name, [one[name] for one in of if name in one], planned=planned[task])
        for task, of in trials.items()
        for name in conditions
    ]
    totals = [
        cell_of(ALL, name, [one[name] for one in together if name in one], planned=sum(planned.values()))
        for name in conditions
    ]
    asked = tuple(task for task, trials_of in planned.items() if trials_of)
    comparisons, overall = compare(info, trials, asked)
    compressions = [
        compress(task, name, pairs_of(of, info.baseline, name))
        for task, of in {**trials, ALL: together}.items()
        for name in info.treatments
    ]
    wanted, came = sum(cell.planned for cell in totals), sum(cell.answered for cell in totals)
    rate = info.settings.get(FALSE_ALARM_RATE)
    return Summary(
        run=info,
        asked=asked,
        planned=wanted,
        answered=came,
        answered_share=came / wanted if wanted else None,
        cells=tuple(cells),
        totals=tuple(totals),
        comparisons=tuple(comparisons),
        overall=tuple(overall),
        compressions=tuple(compressions),
        by_size=tuple(by_size(trials, conditions)),
        by_question=tuple(by_question(trials, conditions)),
        by_kind=tuple(by_kind(trials, conditions)),
        troubles=tuple(troubles(kept)),
        unread=tuple(unread(kept)),
        rules=tuple(rules(kept)),
        false_alarm_rate=rate if isinstance(rate, float | int) else None,
        invented_error=_invented_error(info),
    )


def _invented_error(info: RunInfo) -> InventedError | None:
    try:
        return msgspec.convert(info.settings.get(INVENTED_ERROR), InventedError | None)
    except msgspec.ValidationError:  # settings are whatever a run wrote there; what is not understood is not claimed
        return None
