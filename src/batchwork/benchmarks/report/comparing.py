"""Compare every treatment with the baseline over complete pairs, and decide what the run can tell.

The only place where something is called significant.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from batchwork.benchmarks.report.figures import ALL, Comparison, Verdict
from batchwork.benchmarks.report.pairing import Trials, pairs_of
from batchwork.benchmarks.statistics import (
    ALPHA,
    bootstrap_interval,
    cohens_h,
    difference_interval,
    exact_p,
    holm,
    independent_samples,
    matched_odds_ratio,
    shares,
    smallest_difference,
)
from batchwork.benchmarks.trial import RunInfo


def compare(
    info: RunInfo, trials: Mapping[str, Trials], asked: Sequence[str]
) -> tuple[list[Comparison], list[Comparison]]:
    """Every treatment against the baseline: in each task, and over all of them.

    Where one of the tasks `asked` has no pair, nothing is said to be better or worse over all tasks.
    """
    together = [calls for task in trials.values() for calls in task]
    alone = [_measure(info, name, task, of) for task, of in trials.items() for name in info.treatments]
    overall = [_measure(info, name, ALL, together) for name in info.treatments]
    if info.notice is not None:
        alone, overall = [_without_inference(one) for one in alone], [_without_inference(one) for one in overall]
        return alone, [_over_all(one, alone, asked) for one in overall]
    verdicts = _judge([one for one in overall if one.pairs], [one for one in alone if one.pairs])
    return (
        [verdicts.get((one.task, one.treatment), one) for one in alone],
        [_over_all(verdicts.get((one.task, one.treatment), one), alone, asked) for one in overall],
    )


def _measure(info: RunInfo, treatment: str, task: str, trials: Trials) -> Comparison:
    """All that does not depend on the other comparisons."""
    pairs = pairs_of(trials, info.baseline, treatment)
    if not pairs:
        return Comparison(task=task, treatment=treatment, baseline=info.baseline, verdict=Verdict.NO_PAIRS)
    right = [(pair.baseline.score == 1, pair.treatment.score == 1) for pair in pairs]
    nets: dict[str, int] = defaultdict(int)  # by data set, whose pairs are not independent
    counts: dict[str, int] = defaultdict(int)
    for pair, (before, after) in zip(pairs, right, strict=True):
        nets[pair.baseline.dataset] += after - before
        counts[pair.baseline.dataset] += 1
    only_treatment, only_baseline = right.count((False, True)), right.count((True, False))
    both_right = right.count((True, True))
    samples = independent_samples(list(counts.values()))
    each = samples / len(pairs)
    baseline_accuracy = (both_right + only_baseline) / len(pairs)
    treatment_accuracy = (both_right + only_treatment) / len(pairs)
    return Comparison(
        task=task,
        treatment=treatment,
        baseline=info.baseline,
        verdict=Verdict.CANNOT_TELL,
        pairs=len(pairs),
        datasets=len(nets),
        both_right=both_right,
        only_treatment=only_treatment,
        only_baseline=only_baseline,
        neither=right.count((False, False)),
        baseline_accuracy=baseline_accuracy,
        treatment_accuracy=treatment_accuracy,
        difference=(only_treatment - only_baseline) / len(pairs),
        interval=difference_interval(only_treatment * each, only_baseline * each, samples),
        bootstrap=bootstrap_interval(list(nets.values()), list(counts.values()), seed=info.seed),
        discordance=sum(net != 0 for net in nets.values()) / len(nets),
        p=exact_p(list(nets.values())),
        odds_ratio=matched_odds_ratio(only_treatment, only_baseline),
        cohens_h=cohens_h(baseline_accuracy, treatment_accuracy),
    )


def _without_inference(one: Comparison) -> Comparison:
    """The counts alone: tests are of what a model does, and none answered."""
    if not one.pairs:
        return one
    return msgspec.structs.replace(
        one, verdict=Verdict.NO_MODEL, interval=None, bootstrap=None, p=None, odds_ratio=None, cohens_h=None
    )


def _judge(overall: Sequence[Comparison], alone: Sequence[Comparison]) -> dict[tuple[str, str], Comparison]:
    """The comparisons with their verdicts, by task and treatment; each p is adjusted for all the others."""
    if not overall:
        return {}
    tasks = len({one.task for one in alone})
    share = shares(tasks, len(overall))
    family = [(one, share.overall) for one in overall]
    if tasks > 1:  # with a single task its comparison is the overall one, and is not asked twice
        family += [(one, share.task) for one in alone]
    adjusted = holm([one.p or 0.0 for one, _ in family], [weight for _, weight in family])
    verdicts = {
        (one.task, one.treatment): _settle(one, p_holm, level=ALPHA * weight)
        for (one, weight), p_holm in zip(family, adjusted, strict=True)
    }
    if tasks == 1:
        verdicts |= {
            (one.task, one.treatment): msgspec.structs.replace(verdicts[ALL, one.treatment], task=one.task)
            for one in alone
        }
    return verdicts


def _over_all(one: Comparison, alone: Sequence[Comparison], asked: Sequence[str]) -> Comparison:
    """An overall comparison that says which tasks it is of, with no verdict on all unless it is of all."""
    of = tuple(other.task for other in alone if other.treatment == one.treatment and other.pairs)
    without = tuple(task for task in asked if task not in of)
    verdict = Verdict.CANNOT_TELL if without and one.significant else one.verdict
    return msgspec.structs.replace(one, verdict=verdict, of=of, without=without)


def _settle(one: Comparison, p_holm: float, *, level: float) -> Comparison:
    """The comparison with its verdict, and with the difference it could have seen at the level it started from."""
    verdict = Verdict.CANNOT_TELL
    if p_holm <= ALPHA and one.difference:
        verdict = Verdict.BETTER if one.difference > 0 else Verdict.WORSE
    detectable = smallest_difference(one.datasets, discordance=one.discordance or 0.0, level=level)
    return msgspec.structs.replace(one, verdict=verdict, p_holm=p_holm, level=level, detectable=detectable)
