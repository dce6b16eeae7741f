"""The score of a reply: right, wrong, or not to be read; and the numbers it made up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchwork.benchmarks.datasets import SHAPES, draw
from batchwork.benchmarks.prompts import condition_of
from batchwork.benchmarks.scoring import false_alarm_rate, measured_error, score
from batchwork.benchmarks.scoring.invented import Known, derived
from batchwork.benchmarks.scoring.numerals import numerals
from batchwork.benchmarks.tasks import TASKS
from batchwork.benchmarks.trial import Dataset, State, Trial

VALUES = np.array([10.0, 12.5, 11.25, 40.0, 9.5, 13.75])


def trial(question: str = "mean", task: str = "statistical", **series: np.ndarray) -> Trial:
    (asked,) = [one for one in TASKS[task].questions if one.name == question]
    made = series or {"series": VALUES}
    data = Dataset(id="x", kind="x", series=made, facts=dict.fromkeys(made, ()))
    return Trial(task=task, number=0, dataset=data, question=asked, truth=asked.truth(data))


@pytest.mark.parametrize(
    ("reply", "parsed", "state", "right"),
    [
        ('{"answer": 16.17}', 16.17, State.ANSWERED, 1.0),
        ('{"answer": 17}', 17.0, State.ANSWERED, 0.0),
        ('{"answer": null}', None, State.ANSWERED, 0.0),
        ('{"answer": "unknown"}', None, State.ANSWERED, 0.0),
        ("I cannot find it in the text I was given.", None, State.ANSWERED, 0.0),
        ("It cannot be determined from the data.", None, State.ANSWERED, 0.0),
        ('{"answer": "a lot"}', None, State.UNPARSED, 0.0),
        ('{"answer": 16.17} {"answer": 3}', None, State.UNPARSED, 0.0),
        ("well", None, State.UNPARSED, 0.0),
        ("", None, State.UNPARSED, 0.0),
    ],
)
def test_a_reply_is_right_wrong_or_unreadable(reply, parsed, state, right):
    scored = score(trial(), reply)
    assert (scored.parsed, scored.state, scored.score) == (parsed, state, right)


# -- invented numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "numbers", "invented"),
    [
        ('{"answer": 16.17}', 1, 0),  # the mean
        ('{"answer": 16.2}', 1, 0),  # the mean with fewer digits
        ('{"answer": 27.77}', 1, 1),
        ("The values 12.5, 11.25 and 40 are there.", 3, 0),  # data
        ("6 values, the largest at 3", 2, 0),  # a count and a position
        ("It ranges from 9.5 to 40, a range of 30.5.", 3, 0),
        ("The mean is 83.21 and the max is 512.7.", 2, 2),
        ("-40 is far", 1, 0),  # a fall of 40 is one of -40
        ('{"answer":[3,4]}', 2, 0),
        ("nothing", 0, 0),
    ],
)
def test_numbers_that_follow_from_nothing_are_counted(reply, numbers, invented):
    scored = score(trial(), reply)
    assert (scored.numbers, scored.invented) == (numbers, invented)


def test_the_numbers_of_the_question_and_the_truth_are_not_invented():
    asked = trial("p95")
    assert score(asked, f'The 95th percentile, so 95%: {{"answer": {asked.truth:.4f}}}').invented == 0


def test_percent_is_known_as_a_share_too():
    asked = trial("cv", "multi_step")
    assert score(asked, f"{100 * asked.truth:.2f}%").invented == 0


def test_what_two_series_differ_by_is_not_invented():
    a, b = VALUES, VALUES * 1.7 + 3.1
    asked = trial("mean", "comparative", A=a, B=b)
    assert score(asked, f"B is higher by {b.mean() - a.mean():.4f}.").invented == 0
    assert score(asked, "B is higher by 777.7.").invented == 1


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(SHAPES)), st.integers(3, 6))
def test_what_is_on_the_stated_list_is_never_called_invented(seed, kind, digits):
    values = draw(SHAPES[kind], np.random.default_rng(seed), 60).values
    known = Known((values,), ())
    for number in derived(values):
        assert known.explains(numerals(f"{number:.{digits}g}")[0])


def test_its_errors_are_measured_repeatably_and_apart():
    error = measured_error(seed=1, n=200)
    assert error == measured_error(seed=1, n=200)
    assert error["false_alarm_listed"] == 0
    assert 0.5 < error["false_alarm_unlisted"] < 0.95
    assert 0 < error["miss_50"] < error["miss_500"] < error["miss_5000"] < 0.7
    assert false_alarm_rate(error) == pytest.approx(error["false_alarm_unlisted"] / 4)


def test_who_quotes_the_data_part_has_invented_nothing():
    data = "mean 16.4 (rounded), noise 0.7731, 83.4% explained, total 4,321.5. Series: 3,77.25"
    said = "The noise is 0.773, 0.834 is explained, 83.4% of 4321.5; see 77.25. And 55.55."
    assert score(trial(), said).invented == 6
    assert score(trial(), said, data).invented == 1
    assert score(trial(), "", data).invented == 0


@pytest.mark.parametrize("condition", ["raw", "csv", "frame", "summary-stats"])
def test_every_number_of_every_condition_can_be_quoted(condition):
    for asked in TASKS["comparative"].plan(4, 0, 100):
        data = condition_of(condition)(asked.dataset)
        assert score(asked, data, data).invented == 0


def test_a_constant_series_and_one_at_zero_have_derived_numbers_too():
    assert np.isfinite(derived(np.full(10, 3.0))).all()
    assert np.isfinite(derived(np.zeros(10))).all()


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234.5 and 12", [1234.5, 12.0]),
        ("[78,360]", [78.0, 360.0]),
        ("-5 \u22126 +7", [-5.0, -6.0, 7.0]),
        ("1e3, 2.5E-2", [1000.0, 0.025]),
        ("95th p95 R2 v1.2.3", []),
        ("12k, 3 million", [12000.0, 3e6]),
        (".5", [0.5]),
        ("3.", [3.0]),
        ("9" * 500, []),
        ("1e999", []),
    ],
)
def test_numbers_in_a_text(text, values):
    assert [number.value for number in numerals(text)] == values


@pytest.mark.parametrize(
    ("text", "unit"), [("12.50", 0.01), ("1200", 100.0), ("1000", 100.0), ("10", 1.0), ("1.5e3", 100.0), ("7", 1.0)]
)
def test_the_last_written_digit_says_how_precise_a_number_is(text, unit):
    assert numerals(text)[0].unit == pytest.approx(unit)
