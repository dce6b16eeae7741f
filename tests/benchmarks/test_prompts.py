"""A prompt is the same in every condition but for its data part, and that part says exactly the data."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from batchwork import literal
from batchwork.benchmarks.config import BenchmarkConfig, ConfigurationError
from batchwork.benchmarks.datasets import SHAPES, draw
from batchwork.benchmarks.prompts import condition_of, prompt_for
from batchwork.benchmarks.runner import BenchmarkRunner
from batchwork.benchmarks.tasks import TASKS
from batchwork.benchmarks.trial import Dataset
from batchwork.frame import describe_series

NAMES = ("raw", "csv", "frame", "summary-stats")


def dataset(*labels: str, size: int = 60) -> Dataset:
    dice = np.random.default_rng(0)
    series = {label: draw(SHAPES["normal"], dice, size).values for label in labels or ("series",)}
    return Dataset(id="x", kind="normal", series=series)


def test_raw_and_csv_give_every_value_back_exactly():
    for seed in range(30):
        values = draw(SHAPES["skewed"], np.random.default_rng(seed), 60).values
        data = Dataset(id="x", kind="x", series={"series": values})
        assert [float(part) for part in condition_of("raw")(data).split(", ")] == values.tolist()
        head, *lines = condition_of("csv")(data).split("\n")
        assert head == "index,value"
        assert [line.split(",") for line in lines] == [[str(at), part] for at, part in
                                                       enumerate(condition_of("raw")(data).split(", "))]  # fmt: skip


def test_raw_values_have_at_most_six_significant_digits():
    text = condition_of("raw")(dataset(size=500))
    for part in text.split(", "):
        assert len(part.lstrip("-0.").replace(".", "")) <= 7
        assert float(part) == float(f"{float(part):.6g}")


def test_whole_values_are_written_without_a_point():
    data = Dataset(id="x", kind="x", series={"series": np.array([1.0, -20.0, 1234560.0, 0.5])})
    assert condition_of("raw")(data) == "1, -20, 1234560, 0.5"


def test_the_frame_is_the_public_description():
    data = dataset()
    assert condition_of("frame")(data) == describe_series(data.series["series"])


def test_summary_statistics_are_numpys():
    data = Dataset(id="x", kind="x", series={"series": np.array([1.0, 2.0, 3.0, 4.0, 10.0])})
    assert condition_of("summary-stats")(data) == (
        "count 5\nmean 4\nstd 3.16228\nmin 1\np25 2\nmedian 3\np75 4\nmax 10"
    )


@pytest.mark.parametrize("name", NAMES)
def test_both_series_of_a_comparison_stand_in_every_condition(name):
    data = dataset("A", "B")
    first, second = condition_of(name)(data).split("\n\n")
    alone = [condition_of(name)(Dataset(id="x", kind="x", series={"series": data.series[label]})) for label in "AB"]
    assert first == f"Series A:\n{alone[0]}"
    assert second == f"Series B:\n{alone[1]}"


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_prompts_differ_in_their_data_part_alone(task):
    for trial in task.plan(4, 0, 60):
        rests = set()
        for name in NAMES:
            text = condition_of(name)(trial.dataset)
            prompt = prompt_for(trial.question, text)
            assert prompt.user.startswith(text)
            rests.add((prompt.system, prompt.user.removeprefix(text)))
        assert len(rests) == 1
        assert trial.question.text in rests.pop()[1]


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_literal_reader_parts_question_and_data(task):
    for trial in task.plan(4, 0, 60):
        text = condition_of("frame")(trial.dataset)
        question, given = literal.split_prompt(prompt_for(trial.question, text).user)
        assert given.strip() == text
        assert question.startswith(trial.question.text)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_what_counts_as_right_stands_in_the_prompt_and_in_the_readme(task):
    readme = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text()
    for question in task.questions:
        assert f"Right is: {question.form.tolerance}." in prompt_for(question, "1, 2").user
        assert f"| {question.form.tolerance} |" in readme


def test_equal_prompts_have_equal_hashes():
    question = TASKS["trend"].questions[0]
    one, same, other = (prompt_for(question, data) for data in ("1, 2", "1, 2", "1, 3"))
    assert one.sha256 == same.sha256 != other.sha256
    assert len(one.sha256) == 64


# -- what a user brings ---------------------------------------------------------------------------


async def later(values):
    return f"{len(values)} values"


@pytest.fixture
def module(monkeypatch):
    made = ModuleType("a_users_module")
    made.shout = lambda values: f"{len(values)} VALUES"
    made.number = len
    made.constant = 5
    made.sort = lambda values: str(values.sort())
    made.fail = lambda values: str(1 // (len(values) - 60))
    made.leave = lambda values: sys.exit("no more")
    made.later = later
    made.broken = lambda values: "half a character: \ud800"
    monkeypatch.setitem(sys.modules, "a_users_module", made)


@pytest.mark.usefixtures("module")
def test_any_function_of_a_series_is_a_condition():
    assert condition_of("a_users_module:shout")(dataset()) == "60 VALUES"
    assert condition_of("a_users_module:shout")(dataset("A", "B")) == "Series A:\n60 VALUES\n\nSeries B:\n60 VALUES"


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        (
            "words",
            "unknown condition 'words'; there are raw, csv, frame, summary-stats, semantic-frame and MODULE:FUNC",
        ),
        ("no_such_module:shout", "No module named 'no_such_module'"),
        ("a_users_module:whisper", "has no attribute 'whisper'"),
        ("a_users_module:", "condition 'a_users_module:'"),
        (":shout", "condition ':shout'"),
        ("a_users_module:constant", "is not a function of a series, but 5"),
    ],
)
def test_what_is_no_condition_is_refused_with_its_name(name, why):
    with pytest.raises(ConfigurationError, match=why):
        condition_of(name)


@pytest.mark.usefixtures("module")
def test_an_async_function_is_refused_in_words_and_leaves_no_warning():
    with pytest.raises(ConfigurationError, match="'a_users_module:later' is async; it must be a plain function"):
        condition_of("a_users_module:later")(dataset())


@pytest.mark.usefixtures("module")
def test_a_function_that_gives_no_text_is_refused_when_it_is_used():
    with pytest.raises(ConfigurationError, match="must give text, gave int"):
        condition_of("a_users_module:number")(dataset())


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("fail", "failed: ZeroDivisionError: integer division or modulo by zero"),
        ("leave", "failed: SystemExit: no more"),
        ("sort", "failed: ValueError: sort array is read-only"),
        ("broken", "gave text that cannot be sent: .*surrogates not allowed"),
    ],
)
def test_a_function_that_fails_is_refused_with_its_name_and_the_cause_before_anything_is_sent(function, why):
    config = BenchmarkConfig(treatments=(f"a_users_module:{function}",), tasks=("trend",), trials=1, max_data_size=60)
    with pytest.raises(ConfigurationError, match=f"condition 'a_users_module:{function}' {why}"):
        BenchmarkRunner(config, "mock").lay_out()


@pytest.mark.parametrize(
    ("body", "why"), [("def shout(:", "SyntaxError: "), ("shout = whisper", "NameError: name 'whisper' is not defined")]
)
def test_a_module_that_cannot_be_imported_is_refused_with_its_name_and_the_cause(tmp_path, monkeypatch, body, why):
    (tmp_path / "a_broken_module.py").write_text(body)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigurationError, match=f"condition 'a_broken_module:shout': {why}"):
        condition_of("a_broken_module:shout")


def test_no_condition_can_change_the_numbers_that_the_others_are_shown():
    data = dataset("A", "B")
    for values in data.series.values():
        with pytest.raises(ValueError, match="read-only"):
            values.sort()


@pytest.mark.skipif(importlib.util.find_spec("semantic_frame") is not None, reason="it is installed")
def test_without_semantic_frame_the_error_says_how_to_install_it():
    with pytest.raises(ConfigurationError, match=r"pip install semantic-frame==0\.4\.0"):
        condition_of("semantic-frame")
