"""What a report says of calls made by hand: the counts, the pairs, the verdicts."""

from __future__ import annotations

import pytest

from batchwork.benchmarks.config import TASK_NAMES
from batchwork.benchmarks.report import Summary, Verdict, summarise
from batchwork.benchmarks.report.figures import Cell, Comparison, Compression
from batchwork.benchmarks.statistics import exact_p, wilson
from batchwork.benchmarks.trial import Call, State
from tests.support.made_calls import call, pair, run_info, table


def cell_of(summary: Summary, task: str, condition: str) -> Cell:
    (found,) = (cell for cell in summary.cells if (cell.task, cell.condition) == (task, condition))
    return found


def comparison_of(summary: Summary, task: str, treatment: str = "frame") -> Comparison:
    (found,) = (one for one in summary.comparisons if (one.task, one.treatment) == (task, treatment))
    return found


def compression_of(summary: Summary, task: str, treatment: str = "frame") -> Compression:
    (found,) = (one for one in summary.compressions if (one.task, one.treatment) == (task, treatment))
    return found


# -- what is counted ------------------------------------------------------------------------------


def test_every_task_is_there_in_every_condition_also_without_a_single_call() -> None:
    summary = summarise(run_info(treatments=("frame", "csv")), [])
    there = [(cell.task, cell.condition) for cell in summary.cells]
    assert there == [(task, condition) for task in TASK_NAMES for condition in ("raw", "frame", "csv")]
    assert {one.task for one in summary.comparisons} == set(TASK_NAMES)
    assert all(one.verdict is Verdict.NO_PAIRS for one in (*summary.comparisons, *summary.overall))
    assert all(cell.pending == cell.planned == 2 for cell in summary.cells)


def test_a_task_whose_name_has_an_underscore_keeps_its_calls() -> None:
    cell = cell_of(summarise(run_info(), table("multi_step", 1, 1, 0, 0)), "multi_step", "frame")
    assert (cell.right, cell.answered) == (2, 2)


def test_a_task_that_was_not_asked_for_is_there_with_nothing_planned() -> None:
    cell = cell_of(summarise(run_info(tasks=("trend",)), table("trend", 1, 1, 0, 0)), "anomaly", "raw")
    assert (cell.planned, cell.missing_share, cell.too_many_missing) == (0, None, False)


def test_what_is_planned_is_answered_or_missing_for_a_reason() -> None:
    calls = [
        call(trial=0),
        call(trial=1, score=0.0, state=State.UNPARSED),
        call(trial=2, score=None),
        call(trial=3, score=None, state=State.SKIPPED),
        call(trial=4, score=None, state=State.PENDING),
    ]
    cell = cell_of(summarise(run_info(trials=6), calls), "trend", "raw")
    assert (cell.answered, cell.unparsed, cell.failed, cell.skipped, cell.pending) == (2, 1, 1, 1, 2)
    assert cell.planned == cell.answered + cell.failed + cell.skipped + cell.pending == 6
    assert cell.accuracy == 0.5  # the unparsed one is wrong, the missing ones are nothing


def test_a_call_told_twice_counts_as_told_last() -> None:
    cell = cell_of(summarise(run_info(), [call(score=None), call(score=1.0)]), "trend", "raw")
    assert (cell.answered, cell.failed) == (1, 0)


def test_a_condition_with_more_than_a_twentieth_missing_is_marked() -> None:
    info = run_info(tasks=("trend",), trials=20)
    few = summarise(info, [call(trial=n, score=None if n < 1 else 1.0) for n in range(20)])
    many = summarise(info, [call(trial=n, score=None if n < 2 else 1.0) for n in range(20)])
    assert not cell_of(few, "trend", "raw").too_many_missing
    assert cell_of(many, "trend", "raw").too_many_missing


def test_answers_on_one_data_set_are_one_sample() -> None:
    calls = [call(trial=n, dataset=f"d{n // 5}", score=float(n < 10)) for n in range(20)]
    cell = cell_of(summarise(run_info(trials=20), calls), "trend", "raw")
    assert (cell.datasets, cell.accuracy, cell.interval) == (4, 0.5, wilson(2, 4))


def test_a_condition_that_was_never_answered_has_no_accuracy() -> None:
    calls = [made for trial in range(2) for made in pair("trend", trial, None, 1.0)]
    summary = summarise(run_info(), calls)
    cell = cell_of(summary, "trend", "raw")
    assert (cell.accuracy, cell.interval, cell.latency_p50_s, cell.cost_usd) == (None, None, None, None)
    assert comparison_of(summary, "trend").verdict is Verdict.NO_PAIRS


# -- what it took ---------------------------------------------------------------------------------


def test_a_cost_that_is_not_known_is_never_nothing() -> None:
    calls = [call(trial=0, cost_usd=0.25), call(trial=1), call(trial=2, score=None)]
    cell = cell_of(summarise(run_info(), calls), "trend", "raw")
    assert (cell.cost_usd, cell.cost_per_call_usd, cell.cost_unknown) == (0.25, 0.25, 2)


def test_calls_that_were_never_sent_have_no_cost_that_could_be_unknown() -> None:
    left_out = [
        call(trial=0, score=None, state=State.SKIPPED, attempts=0),
        call(trial=1, score=None, state=State.PENDING, attempts=0),
    ]
    cell = cell_of(summarise(run_info(), left_out), "trend", "raw")
    assert (cell.cost_usd, cell.cost_unknown) == (None, 0)


def test_a_free_call_costs_nothing_and_is_known() -> None:
    cell = cell_of(summarise(run_info(), [call(cost_usd=0.0)]), "trend", "raw")
    assert (cell.cost_usd, cell.cost_unknown) == (0.0, 0)


def test_latencies_are_those_of_answers() -> None:
    calls = [call(trial=0, latency_s=1.0), call(trial=1, latency_s=3.0), call(trial=2, score=None, latency_s=60.0)]
    cell = cell_of(summarise(run_info(), calls), "trend", "raw")
    assert (cell.latency_p50_s, cell.latency_p90_s) == pytest.approx((2.0, 2.8))


def test_invented_numbers_are_a_share_of_the_numbers_in_the_answers() -> None:
    calls = [call(trial=0, numbers=3, invented=1), call(trial=1, numbers=1), call("anomaly")]
    summary = summarise(run_info(settings={"invented_false_alarm_rate": 0.02}), calls)
    assert cell_of(summary, "trend", "raw").invented_share == 0.25
    assert cell_of(summary, "anomaly", "raw").invented_share is None
    assert summary.false_alarm_rate == 0.02


def test_tokens_are_the_providers_where_it_counted_both_sides() -> None:
    calls = [
        *pair("trend", 0, 1.0, 1.0, backend="api"),
        call("trend", 1, "raw", input_tokens=1000, backend="api"),
        call("trend", 1, "frame", input_tokens=250, backend="api"),
    ]
    saved = compression_of(summarise(run_info(), calls), "trend")
    assert (saved.source, saved.pairs, saved.saved) == ("provider", 1, 0.75)


def test_tokens_that_a_mock_reports_are_its_estimate_and_no_providers() -> None:
    calls = pair("trend", 0, 1.0, 1.0, input_tokens=100)
    saved = compression_of(summarise(run_info(), calls), "trend")
    assert (saved.source, saved.baseline_tokens) == ("the mock's estimate (characters / 4)", 100)


def test_tokens_nobody_counted_are_estimated_and_said_to_be() -> None:
    saved = compression_of(summarise(run_info(), pair("trend", 0, 1.0, 1.0)), "trend")
    assert (saved.source, saved.baseline_tokens, saved.saved) == ("characters / 4", 1000.0, pytest.approx(0.7))
    assert saved.data_saved == pytest.approx(1 - 800 / 3600)


def test_a_baseline_that_was_not_sent_makes_nothing_look_smaller() -> None:
    calls = pair("scaling", 0, 1.0, 1.0) + pair("scaling", 1, None, 1.0, prompt_chars=1_000_000)
    assert compression_of(summarise(run_info(), calls), "scaling").pairs == 1


# -- what is compared -----------------------------------------------------------------------------


def test_only_complete_pairs_are_compared() -> None:
    calls = table("trend", 3, 2, 1, 4) + pair("trend", 10, None, 0.0) + pair("trend", 11, 1.0, None)
    one = comparison_of(summarise(run_info(trials=12), calls), "trend")
    assert (one.pairs, one.both_right, one.only_treatment, one.only_baseline, one.neither) == (10, 3, 2, 1, 4)
    assert one.difference == pytest.approx(0.1)
    assert (one.baseline_accuracy, one.treatment_accuracy) == (0.4, 0.5)
    assert one.p == pytest.approx(exact_p([1, 1, -1]))


def test_a_difference_that_cannot_be_chance_is_called_by_its_side() -> None:
    info = run_info(tasks=("trend",), trials=30)
    better = summarise(info, table("trend", 5, 20, 1, 4))
    worse = summarise(info, table("trend", 5, 1, 20, 4))
    assert comparison_of(better, "trend").verdict is better.overall[0].verdict is Verdict.BETTER
    assert comparison_of(worse, "trend").verdict is worse.overall[0].verdict is Verdict.WORSE


def test_pairs_that_all_agree_tell_nothing_and_the_run_says_what_it_could_have_seen() -> None:
    for calls in (table("trend", 30, 0, 0, 0), table("trend", 0, 0, 0, 30)):
        one = comparison_of(summarise(run_info(trials=30), calls), "trend")
        assert (one.verdict, one.p, one.difference) == (Verdict.CANNOT_TELL, 1.0, 0.0)
        assert one.interval is not None
        assert one.interval.low < 0 < one.interval.high
        assert one.detectable is not None
        assert 0 < one.detectable < 0.5


def test_a_single_pair_tells_nothing_and_could_not_have() -> None:
    one = comparison_of(summarise(run_info(trials=1), pair("trend", 0, 0.0, 1.0)), "trend")
    assert (one.pairs, one.verdict, one.p, one.detectable) == (1, Verdict.CANNOT_TELL, 1.0, None)


def test_each_p_is_adjusted_for_all_that_is_asked() -> None:
    seven = table("trend", 10, 7, 0, 13)  # p = 1/64: enough alone
    alone = summarise(run_info(tasks=("trend",), trials=30), seven)
    among_six = summarise(
        run_info(trials=30),
        seven + [made for task in TASK_NAMES if task != "trend" for made in table(task, 15, 3, 3, 9)],
    )
    assert comparison_of(alone, "trend").p_holm == alone.overall[0].p_holm == 1 / 64
    assert comparison_of(alone, "trend").verdict is Verdict.BETTER
    assert comparison_of(among_six, "trend").p == 1 / 64
    assert comparison_of(among_six, "trend").p_holm == pytest.approx(12 / 64)
    assert comparison_of(among_six, "trend").verdict is Verdict.CANNOT_TELL


def test_a_task_without_a_pair_takes_no_share_of_the_others() -> None:
    two = table("trend", 10, 9, 0, 11) + table("anomaly", 10, 2, 2, 16)
    summary = summarise(run_info(trials=30), [*two, *(call("scaling", n, "frame") for n in range(30))])
    assert comparison_of(summary, "trend").level == pytest.approx(0.05 / 4)


def test_a_run_that_ended_before_a_task_had_a_pair_has_no_verdict_over_all_tasks() -> None:
    two = table("statistical", 5, 20, 0, 5) + table("trend", 5, 20, 0, 5)
    summary = summarise(run_info(trials=30, aborted="interrupted"), two)
    (overall,) = summary.overall
    assert (overall.verdict, overall.of) == (Verdict.CANNOT_TELL, ("statistical", "trend"))
    assert overall.without == ("anomaly", "comparative", "multi_step", "scaling")
    assert comparison_of(summary, "trend").verdict is Verdict.BETTER  # of which it can speak


def test_a_treatment_without_a_pair_in_a_task_does_not_silence_the_others() -> None:
    calls = [made for task in ("trend", "anomaly") for made in table(task, 5, 20, 0, 5)]
    calls += [call("trend", n, "csv", 1.0) for n in range(30)]
    info = run_info(tasks=("trend", "anomaly"), treatments=("frame", "csv"), trials=30)
    frame, csv = summarise(info, calls).overall
    assert (frame.verdict, frame.without) == (Verdict.BETTER, ())
    assert (csv.verdict, csv.without) == (Verdict.CANNOT_TELL, ("anomaly",))


def test_every_treatment_is_compared_with_the_baseline_and_pays_for_the_others() -> None:
    calls = [
        made
        for trial in range(30)
        for made in (
            call("trend", trial, "raw", float(trial < 10)),
            call("trend", trial, "frame", float(trial < 25)),
            call("trend", trial, "csv", float(trial < 11)),
        )
    ]
    summary = summarise(run_info(tasks=("trend",), treatments=("frame", "csv"), trials=30), calls)
    frame, csv = comparison_of(summary, "trend", "frame"), comparison_of(summary, "trend", "csv")
    assert (frame.verdict, csv.verdict) == (Verdict.BETTER, Verdict.CANNOT_TELL)
    assert frame.p is not None
    assert frame.p_holm == pytest.approx(2 * frame.p)
    assert [one.treatment for one in summary.overall] == ["frame", "csv"]


def test_pairs_of_one_data_set_are_not_independent_evidence() -> None:
    calls = [made for n in range(12) for made in pair("trend", n, 0.0, 1.0, dataset=f"d{n // 6}")]
    one = comparison_of(summarise(run_info(trials=12), calls), "trend")
    assert (one.pairs, one.datasets, one.p, one.verdict) == (12, 2, 0.5, Verdict.CANNOT_TELL)


def test_the_same_calls_give_the_same_numbers_in_any_order() -> None:
    calls = [made for task in TASK_NAMES for made in table(task, 5, 4, 2, 3)]
    info = run_info(trials=14)
    assert summarise(info, calls).overall == summarise(info, calls[::-1]).overall


# -- where the failures are -----------------------------------------------------------------------


def test_questions_and_kinds_are_told_apart() -> None:
    calls = [
        call(trial=0, question="slope", kind="line"),
        call(trial=1, question="slope", kind="noise", score=0.0),
        call(trial=2, question="direction", kind="noise", score=None),
    ]
    summary = summarise(run_info(), calls)
    questions = {
        one.name: (one.right, one.answered, one.missing) for one in summary.by_question if one.condition == "raw"
    }
    kinds = {one.name: (one.right, one.answered, one.missing) for one in summary.by_kind if one.condition == "raw"}
    assert questions == {"slope": (1, 2, 0), "direction": (0, 0, 1)}
    assert kinds == {"line": (1, 1, 0), "noise": (0, 1, 1)}


def _sizes(calls: list[Call]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((one.task, one.name) for one in summarise(run_info(), calls).by_size))


def test_sizes_are_those_of_the_scaling_task_from_small_to_large() -> None:
    calls = [call("scaling", n, size=size) for n, size in enumerate((100_000, 50, 1000))] + [call("trend", size=300)]
    assert _sizes(calls) == [("scaling", "under 100"), ("scaling", "1,000 to 2,999"), ("scaling", "100,000 and more")]


def test_without_the_scaling_task_sizes_are_those_of_all() -> None:
    assert _sizes([call("trend", size=300), call("anomaly", size=60)]) == [("all", "under 100"), ("all", "300 to 999")]


def test_reasons_are_counted_and_unread_answers_shown() -> None:
    calls = [call(trial=n, score=None, error="timed out") for n in range(3)]
    calls += [call(trial=3, score=0.0, state=State.UNPARSED, answer="who knows"), call(trial=4, score=None)]
    summary = summarise(run_info(trials=5), calls)
    assert [(one.error, one.calls) for one in summary.troubles] == [("timed out", 3)]
    assert [one.answer for one in summary.unread] == ["who knows"]


def test_failures_that_differ_only_by_a_request_id_are_one_reason() -> None:
    told = [
        "overloaded: Overloaded [req_011CS1]",
        "overloaded: Overloaded [req_011CS2]",
        "overloaded: Overloaded [0f8fad5b-d9cb-469f-a165-70867728950e]",
        "server: see request req_7, please",
        "server: see request req_8, please",
        "server: it broke [req_9]",
        "rejected: field [x] of 3",
        "rejected: field [y] of 3",
    ]
    calls = [call("trend", number, "raw", None, error=error) for number, error in enumerate(told)]
    troubles = summarise(run_info(tasks=("trend",), trials=len(told)), calls).troubles
    assert [(one.error, one.calls) for one in troubles] == [
        ("overloaded: Overloaded […]", 3),
        ("server: see request …, please", 2),
        ("server: it broke [req_9]", 1),
        ("rejected: field [x] of 3", 1),
        ("rejected: field [y] of 3", 1),
    ]
