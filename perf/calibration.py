"""Whether the benchmark's reports mean what they say: simulated runs with a known truth, through the whole chain.

Two identical conditions must be called different, anywhere in a report, in no more runs than 5% may show; a planted
difference must be found as often as the plan for it claimed; intervals must hold the truth as often as they say. From
calls to verdicts everything is the report's own code.
"""

from __future__ import annotations

import sys
from math import sqrt

from scipy.stats import binom

from batchwork.benchmarks.config import TASK_NAMES
from batchwork.benchmarks.report import Summary, Verdict, summarise
from batchwork.benchmarks.statistics import ALPHA, power_of, shares, smallest_difference, trials_needed, trials_per_task
from perf._harness import arguments, show_table, verdict
from perf.simulated_runs import World

RUNS = 400
POWER = 0.8
DISCORDANCES = (0.2, 0.7)  # besides the one that is assumed when nothing is known
ONE_SIDED = 0.75  # a treatment that is better by so much, and never worse
NULLS = (
    World(name="as by default: 6 tasks, 30 trials"),
    World(name="quick: 5 trials", trials=5),
    World(name="one task, 100 trials", tasks=("trend",), trials=100),
    World(name="conditions that mostly agree", discordance=0.1),
    World(name="conditions that mostly differ", discordance=0.7),
    World(name="three treatments", treatments=3),
    World(name="three questions on each data set", questions=3),
    World(name="a tenth of the baseline missing", missing=0.1),
)


def allowed(runs: int) -> int:
    """False alarms that 5% may show in so many runs (one-sided 99%; 31 of 400)."""
    return int(binom.ppf(0.99, runs, ALPHA))


def slack(share: float, runs: int) -> float:
    """How far a share may be off in so many runs (two-sided 99%)."""
    return 2.58 * sqrt(share * (1 - share) / runs)


def claims(summary: Summary) -> bool:
    """Whether anything in the report is called significant."""
    return any(one.significant for one in (*summary.overall, *summary.comparisons))


def planted() -> list[tuple[World, float]]:
    """Worlds with a difference over all tasks, and the power that the plan for them claims."""
    worlds = []
    for detect in (0.1, 0.2):
        each = trials_per_task(POWER, detect, tasks=6).overall
        level = ALPHA * shares(6, 1).overall
        world = World(name=f"{detect:g} in 6 tasks", trials=each, differences=dict.fromkeys(TASK_NAMES, detect))
        worlds.append((world, power_of(6 * each, detect, level=level)))
    for discordance in DISCORDANCES:
        alone = trials_needed(POWER, 0.15, discordance=discordance)
        name = f"0.15 in a single task, {discordance:.0%} of the pairs differ"
        differences = {"trend": 0.15}
        world = World(name=name, tasks=("trend",), trials=alone, discordance=discordance, differences=differences)
        worlds.append((world, power_of(alone, 0.15, discordance=discordance)))
    for tasks, trials in ((("trend",), 5), (TASK_NAMES, 5), (("trend",), 30)):
        name = f"{ONE_SIDED:g} in {len(tasks)} x {trials} trials, none the other way"
        differences = dict.fromkeys(tasks, ONE_SIDED)
        world = World(name=name, tasks=tasks, trials=trials, discordance=ONE_SIDED, differences=differences)
        level = ALPHA * shares(len(tasks), 1).overall
        worlds.append((world, power_of(len(tasks) * trials, ONE_SIDED, discordance=ONE_SIDED, level=level)))
    alone = trials_needed(POWER, 0.2)
    world = World(name="0.2 in a single task", tasks=("trend",), trials=alone, differences={"trend": 0.2})
    worlds.append((world, power_of(alone, 0.2)))
    seen = smallest_difference(180, level=ALPHA * shares(6, 1).overall) or 1.0
    world = World(name=f"{seen:.3f}: the least 180 pairs can see", differences=dict.fromkeys(TASK_NAMES, seen))
    return [*worlds, (world, power_of(180, seen, level=ALPHA * shares(6, 1).overall))]


def main() -> int:
    runs = 10 if arguments(__doc__ or "").smoke else RUNS
    alarms, off, held = [], [], []
    rows = []
    for world in NULLS:
        summaries = [summarise(*run) for run in world.runs(runs)]
        alarms.append(sum(map(claims, summaries)))
        held.append(holding(world, summaries))
        rows.append((world.name, f"{alarms[-1]}", *(f"{share:.1%}" for share in held[-1])))
    ends = ("difference in its interval", "accuracy in its interval")
    show_table((f"identical conditions, {runs} runs", "significant anywhere", *ends), rows)
    rows = []
    for world, claimed in planted():
        summaries = [summarise(*run) for run in world.runs(runs, seed=1)]
        found = sum(summary.overall[0].verdict is Verdict.BETTER for summary in summaries) / runs
        off.append(abs(found - claimed))
        held.append(holding(world, summaries))
        told = (f"{world.trials}", f"{claimed:.3f}", f"{found:.3f}")
        rows.append((world.name, *told, *(f"{share:.1%}" for share in held[-1])))
    show_table((f"planted difference, {runs} runs", "trials per task", "claimed", "found", *ends), rows)
    least = 0.95 - slack(0.95, runs)
    worst = min(min(pair) for pair in held)
    return verdict(
        "calibration",
        f"{max(alarms)} of {runs} false alarms, power {max(off):.3f} off its claim, {worst:.1%} in their intervals",
        f"{allowed(runs)}, {slack(POWER, runs):.3f}, {least:.1%}",
        ok=max(alarms) <= allowed(runs) and max(off) <= slack(POWER, runs) and worst >= least,
        timed=False,
    )


def holding(world: World, summaries: list[Summary]) -> tuple[float, float]:
    """How often the overall difference is in its interval, and the baseline's accuracy in its own."""
    differences = [one.interval for summary in summaries for one in summary.overall if one.interval is not None]
    accuracies = [summary.totals[0].interval for summary in summaries if summary.totals[0].interval is not None]
    return (
        sum(low <= world.difference <= high for low, high in differences) / len(differences),
        sum(low <= world.baseline_accuracy <= high for low, high in accuracies) / len(accuracies),
    )


if __name__ == "__main__":
    sys.exit(main())
