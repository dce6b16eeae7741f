"""The plan of every task: even, repeatable, and with truths that a hand computation confirms."""

import statistics
from collections import Counter
from itertools import islice

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from batchwork import literal
from batchwork.benchmarks.config import TASK_NAMES, ConfigurationError
from batchwork.benchmarks.datasets import Anomaly
from batchwork.benchmarks.prompts import condition_of, prompt_for
from batchwork.benchmarks.scoring import MEASURES, line_of, score
from batchwork.benchmarks.tasks import TASKS
from batchwork.benchmarks.tasks.task import dealt
from batchwork.benchmarks.trial import Dataset

EVERY_TASK = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
SMALL = 200  # points: what is drawn is the same but for its length


def series(*values: float) -> Dataset:
    return Dataset(id="x", kind="x", series={"series": np.array(values)}, facts={"series": ()})


def truth(task: str, question: str, dataset: Dataset):
    (asked,) = [one for one in TASKS[task].questions if one.name == question]
    return asked.truth(dataset)


def test_there_are_the_six_tasks_of_the_configuration():
    assert tuple(TASKS) == TASK_NAMES
    assert [len(task.questions) for task in TASKS.values()] == [12, 3, 4, 8, 6, 6]


# -- the plan -------------------------------------------------------------------------------------


@EVERY_TASK
def test_a_trial_depends_on_the_seed_and_its_number_alone(task):
    long = list(task.plan(8, 3, SMALL))
    short = list(task.plan(5, 3, SMALL))
    for one, other in [*zip(short, long, strict=False), (task.trial(6, 3, SMALL), long[6])]:
        assert one.question.name == other.question.name
        assert one.truth == other.truth
        assert one.dataset.id == other.dataset.id
        assert all(
            one.dataset.series[label].tolist() == other.dataset.series[label].tolist() for label in one.dataset.series
        )


@EVERY_TASK
def test_another_seed_and_another_trial_give_other_data(task):
    drawn = [trial.dataset for seed in (0, 1) for trial in task.plan(6, seed, SMALL)]
    firsts = {next(iter(dataset.series.values())).tobytes() for dataset in drawn}
    assert len(firsts) == 12
    assert len({dataset.id for dataset in drawn[:6]}) == 6


@EVERY_TASK
def test_questions_kinds_and_sizes_are_even_in_every_prefix(task):
    trials = list(task.plan(25, 5, SMALL))
    for length in range(1, 26):
        some = trials[:length]
        for seen, there in (
            ([trial.question.name for trial in some], len(task.questions)),
            ([trial.dataset.kind for trial in some], len(task.kinds)),
        ):
            counts = Counter(seen)
            least = min(counts.values()) if len(counts) == there else 0
            assert max(counts.values()) - least <= 1


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_every_card_is_dealt_once_a_round(seed, cards):
    for turn in range(3):
        assert sorted(dealt(seed, "deck", turn * cards + place, cards) for place in range(cards)) == list(range(cards))


@EVERY_TASK
def test_a_plan_is_made_as_it_is_taken(task):
    assert len(list(islice(task.plan(10**9, 0, SMALL), 2))) == 2


@EVERY_TASK
def test_no_data_set_is_larger_than_allowed(task):
    assert all(trial.dataset.size <= 70 for trial in task.plan(12, 0, 70))
    with pytest.raises(ConfigurationError, match="at least 50"):
        task.plan(1, 0, 49)


def test_scaling_asks_at_every_size_from_fifty_to_a_hundred_thousand():
    sizes = [trial.dataset.size for trial in TASKS["scaling"].plan(6, 0)]
    assert sorted(sizes) == [50, 200, 1000, 5000, 20_000, 100_000]


@EVERY_TASK
def test_truths_are_plain_json_and_judged_right_by_their_own_form(task):
    for trial in task.plan(12, 1, SMALL):
        reply = msgspec.json.encode({"answer": trial.truth}).decode()
        assert score(trial, reply).score == 1.0
        assert trial.question.text.count("\n") == 0
        assert "?" in trial.question.text


# -- the truths -----------------------------------------------------------------------------------


@given(st.lists(st.integers(-1000, 1000).map(float), min_size=4, max_size=30))
def test_measures_are_what_a_hand_computation_says(values):
    got = {name: measure(np.array(values)) for name, measure in MEASURES.items()}
    ordered = sorted(values)

    def ranked(percent: float) -> float:
        place = percent / 100 * (len(ordered) - 1)
        low = int(place)
        above = ordered[min(low + 1, len(ordered) - 1)]
        return ordered[low] + (above - ordered[low]) * (place - low)

    expected = {
        "mean": statistics.fmean(values),
        "median": statistics.median(values),
        "std": statistics.pstdev(values),
        "min": ordered[0],
        "max": ordered[-1],
        "range": ordered[-1] - ordered[0],
        "p5": ranked(5),
        "p25": ranked(25),
        "p75": ranked(75),
        "p95": ranked(95),
        "iqr": ranked(75) - ranked(25),
        "count": len(values),
    }
    assert {name: got[name] for name in expected} == pytest.approx(expected, abs=1e-6)
    if len(set(values)) > 1:
        fitted = stats.linregress(range(len(values)), values)
        assert got["slope"] == pytest.approx(fitted.slope, abs=1e-9)
        assert got["r2"] == pytest.approx(fitted.rvalue**2, abs=1e-9)
        assert line_of(np.array(values)).start == pytest.approx(fitted.intercept, abs=1e-6)


def test_the_statistical_questions_ask_for_their_own_measure():
    data = series(1.0, 2.0, 3.0, 4.0, 10.0)
    expected = {"mean": 4, "median": 3, "std": 10**0.5, "min": 1, "max": 10, "range": 9, "p5": 1.2, "p25": 2, "p75": 4,
                "p95": 8.8, "iqr": 2, "count": 5}  # fmt: skip
    assert {name: truth("statistical", name, data) for name in expected} == pytest.approx(expected)


def test_the_direction_is_that_of_a_line_that_explains_a_tenth():
    assert truth("trend", "direction", series(1, 2, 3, 4)) == "rising"
    assert truth("trend", "direction", series(4, 3, 2, 1)) == "falling"
    assert truth("trend", "direction", series(1, 5, 1, 5, 1)) == "none"
    assert truth("trend", "slope", series(4, 3, 2, 1)) == pytest.approx(-1)
    assert truth("trend", "strength", series(4, 3, 2, 1)) == pytest.approx(1)


def test_the_data_keeps_clear_of_where_the_direction_changes():
    r2 = [line_of(trial.dataset.series["series"]).r2 for trial in TASKS["trend"].plan(120, 0)]
    assert not [one for one in r2 if 0.03 < one < 0.2]


def test_the_anomaly_questions_ask_for_what_was_planted():
    planted = {"none": [], "above": [(3, 1)], "below": [(3, -1), (9, -1)], "both": [(3, -1), (9, 1)]}
    for side, pairs in planted.items():
        facts = {"series": tuple(Anomaly(at, sign) for at, sign in pairs)}
        data = Dataset(id="x", kind="x", series={"series": np.zeros(20)}, facts=facts)
        assert truth("anomaly", "presence", data) is bool(pairs)
        assert truth("anomaly", "count", data) == len(pairs)
        assert truth("anomaly", "positions", data) == [at for at, _ in pairs]
        assert truth("anomaly", "type", data) == side


def test_the_steps_of_multi_step_are_those_of_its_wording():
    values = np.array([2.0, 4.0, 5.0, 9.0, 10.0])
    data = series(*values)
    fitted = stats.linregress(range(5), values)
    assert truth("multi_step", "forecast", data) == pytest.approx(fitted.intercept + fitted.slope * 14)
    assert truth("multi_step", "z_score", data) == pytest.approx(stats.zscore(values)[-1])
    assert truth("multi_step", "cv", data) == pytest.approx(stats.variation(values))
    assert truth("multi_step", "range_percent", data) == pytest.approx(100 * 8 / 6)
    assert truth("multi_step", "change_percent", data) == pytest.approx(100 * fitted.slope * 4 / 6)
    low, middle, high = np.percentile(values, (5, 50, 95))
    assert truth("multi_step", "tail_ratio", data) == pytest.approx((high - middle) / (middle - low))


def test_percentages_of_a_negative_mean_keep_their_sign():
    assert truth("multi_step", "range_percent", series(-1, -2, -3)) == pytest.approx(100)
    assert truth("multi_step", "change_percent", series(-1, -2, -3)) == pytest.approx(-100)
    assert truth("multi_step", "cv", series(-1, -2, -3)) > 0


# -- comparisons ----------------------------------------------------------------------------------


def test_a_and_b_are_right_equally_often_for_every_question():
    trials = list(TASKS["comparative"].plan(32, 4))
    told = Counter((trial.question.name, trial.truth) for trial in trials)
    assert len(told) == 16
    assert set(told.values()) == {2}
    for start in range(0, 32, 8):
        assert Counter(trial.truth for trial in trials[start : start + 8]) == {"A": 4, "B": 4}


def test_the_right_letter_is_clear_by_an_independent_look():
    look = {
        "mean": np.mean,
        "median": np.median,
        "std": np.std,
        "max": np.max,
        "min": lambda values: -np.min(values),
        "range": np.ptp,
        "slope": lambda values: stats.linregress(range(len(values)), values).slope,
    }
    for trial in TASKS["comparative"].plan(64, 2):
        a, b = trial.dataset.series["A"], trial.dataset.series["B"]
        assert len(a) == len(b)
        if trial.question.name == "anomalies":
            first, second = (len(trial.dataset.facts[label]) for label in "AB")
        else:
            first, second = (look[trial.question.name](values) for values in (a, b))
        assert trial.truth == ("A" if first > second else "B")
        assert abs(first - second) >= 0.0999 * max(abs(first), abs(second)) > 0


# -- what can be read -----------------------------------------------------------------------------


def test_every_statistical_question_can_be_read_off_the_frame_and_none_off_the_numbers():
    for trial in TASKS["statistical"].plan(12, 9, SMALL):
        for condition, right in (("frame", 1.0), ("raw", 0.0)):
            question, text = literal.split_prompt(
                prompt_for(trial.question, condition_of(condition)(trial.dataset)).user
            )
            value, _ = literal.fill(trial.question.form.schema, text, question=question)
            assert score(trial, msgspec.json.encode(value).decode()).score == right
