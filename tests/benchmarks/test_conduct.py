"""One engine run over a flat plan: its order, its window, what counts as missing and what as wrong."""

import dataclasses
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import batchwork
from batchwork.benchmarks.claude_client import CAME_TO_NOTHING, MockClient
from batchwork.benchmarks.conduct import conduct, lay_out
from batchwork.benchmarks.config import BenchmarkConfig
from batchwork.benchmarks.prompts import prompt_for
from batchwork.benchmarks.tasks import TASKS
from batchwork.benchmarks.trial import State
from batchwork.core.failure import FailureKind
from tests.support.scripted import Scripted, failure, prompt_of, reply


class ScriptedClient(MockClient):
    """A client whose answers a test writes."""

    def __init__(self, config, answer):
        super().__init__(config)
        self.there = Scripted(answer, free=True)

    def ask_all(self, requests, *, window, journal=None, max_cost=None, progress=False):
        config = self.config
        return batchwork.run(
            requests, model="scripted", backend=self.there, max_in_flight=window, journal=journal, reask=0,
            retries=0, max_consecutive_failures=config.max_consecutive_errors, retry_failed=CAME_TO_NOTHING,
        )  # fmt: skip


def plan(config, task="trend"):
    return lay_out(TASKS[task].plan(config.trials, config.seed, config.max_data_size), config)


def small(**fields):
    """Few points, in a condition that takes no time to write."""
    return BenchmarkConfig(**{"trials": 6, "max_data_size": 60, "treatments": ("summary-stats",), **fields})


def test_the_conditions_of_a_trial_stand_side_by_side_in_an_order_that_the_seed_draws():
    asks = plan(small(trials=40))
    pairs = list(zip(asks[::2], asks[1::2], strict=True))
    assert all(a.trial is b.trial and {a.condition, b.condition} == {"raw", "summary-stats"} for a, b in pairs)
    first = Counter(a.condition for a, _ in pairs)
    assert min(first.values()) >= 10
    assert [ask.condition for ask in asks] == [ask.condition for ask in plan(small(trials=40))]
    assert [ask.condition for ask in asks] != [ask.condition for ask in plan(small(trials=40, seed=1))]


def test_both_conditions_are_asked_the_same_question_of_the_same_data():
    a, b = plan(small(trials=1))
    assert a.trial.dataset is b.trial.dataset
    assert a.prompt.system == b.prompt.system
    assert a.prompt.user.rpartition("Question:")[2] == b.prompt.user.rpartition("Question:")[2]


def test_several_treatments_are_asked_beside_one_baseline():
    asks = plan(small(trials=2, treatments=("frame", "summary-stats", "csv")))
    assert Counter(ask.condition for ask in asks) == {"raw": 2, "frame": 2, "summary-stats": 2, "csv": 2}


def test_a_baseline_that_is_too_large_is_left_out_and_said_so(tmp_path: Path):
    config = BenchmarkConfig(trials=4, skip_baseline_above=10, max_data_size=60)
    done = conduct(MockClient(config), plan(config), journal=tmp_path / "j.db")
    skipped = [call for call in done.calls if call.condition == "raw"]
    assert {call.state for call in skipped} == {State.SKIPPED}
    assert all(call.missing and "more than 10 points" in call.error for call in skipped)
    assert {call.cost_usd for call in skipped} == {None}, "what was not sent has no cost"
    assert all(call.state is State.ANSWERED for call in done.calls if call.condition == "frame")


def test_a_treatment_that_writes_every_number_out_is_left_out_like_the_baseline():
    asks = plan(BenchmarkConfig(trials=4, treatments=("frame", "csv"), skip_baseline_above=10, max_data_size=60))
    assert {ask.condition for ask in asks if ask.prompt is None} == {"raw", "csv"}


def answers(*, raw):
    def answer(prompt, call):
        return raw if "," in prompt.partition("Question:")[0][:40] else reply('{"answer": null}')

    return answer


@pytest.mark.parametrize(
    ("said", "state", "score"),
    [
        (failure(FailureKind.SERVER), State.FAILED, None),
        (failure(FailureKind.REFUSED), State.UNPARSED, 0.0),
        (reply("I would rather not say, perhaps 3 or 4"), State.UNPARSED, 0.0),
        (reply('{"answer": null}'), State.ANSWERED, 0.0),
    ],
)
def test_a_failed_call_is_missing_and_an_answer_that_cannot_be_read_is_wrong(said, state, score, tmp_path: Path):
    config = small(trials=1)
    done = conduct(ScriptedClient(config, answers(raw=said)), plan(config, "statistical"), journal=tmp_path / "j.db")
    (raw,) = (call for call in done.calls if call.condition == "raw")
    assert (raw.state, raw.score) == (state, score)


def test_numbers_that_a_condition_was_told_are_not_invented_by_it(tmp_path: Path):
    config = small(trials=12, treatments=("summary-stats",))
    said = "It is 12.3456789, I think."
    asks = [
        dataclasses.replace(ask, prompt=prompt_for(ask.trial.question, "noise 12.3456789"), data_chars=16)
        if ask.condition == "summary-stats"
        else ask
        for ask in plan(config, "statistical")
    ]
    done = conduct(ScriptedClient(config, lambda prompt, call: reply(said)), asks, journal=tmp_path / "j.db")
    assert {(call.condition, call.numbers, call.invented) for call in done.calls} == {
        ("raw", 1, 1),
        ("summary-stats", 1, 0),
    }


@pytest.mark.parametrize(("workers", "trials_at_once"), [(1, 1), (2, 1), (1, 4), (2, 4)])
def test_three_errors_in_a_row_abort_in_every_mode_before_the_quota_is_burnt(workers, trials_at_once, tmp_path: Path):
    config = small(trials=50, parallel_workers=workers, trial_parallelism=trials_at_once)
    client = ScriptedClient(config, lambda prompt, call: failure(FailureKind.REJECTED))
    done = conduct(client, plan(config), journal=tmp_path / "j.db")
    started = len(client.there.asked)
    assert started <= 3 + config.window
    assert done.cause == "failures"
    told = f"Aborting: 3 consecutive API errors. Total errors: {started}. The last one: rejected: scripted"
    assert done.aborted == told
    assert Counter(call.state for call in done.calls) == {State.FAILED: started, State.PENDING: 100 - started}


@pytest.mark.parametrize(("workers", "trials_at_once", "window"), [(1, 1, 1), (2, 1, 2), (1, 4, 4), (2, 4, 8)])
def test_no_more_calls_are_in_flight_than_the_modes_allow(workers, trials_at_once, window, tmp_path: Path):
    config = small(trials=10, parallel_workers=workers, trial_parallelism=trials_at_once)
    client = ScriptedClient(config, lambda prompt, call: reply('{"answer": null}'))
    conduct(client, plan(config), journal=tmp_path / "j.db")
    assert client.there.most_in_flight == config.window == window


def test_going_on_asks_only_what_has_no_answer(tmp_path: Path):
    config = small(trials=5)
    broken = ScriptedClient(config, lambda prompt, call: failure(FailureKind.REJECTED) if call else "")
    broken.there._answer = lambda prompt, call: (
        reply('{"answer": null}') if len(broken.there.asked) <= 4 else failure(FailureKind.REJECTED)
    )
    first = conduct(broken, plan(config), journal=tmp_path / "j.db")
    assert first.cause == "failures"
    mended = ScriptedClient(config, lambda prompt, call: reply('{"answer": null}'))
    second = conduct(mended, plan(config), journal=tmp_path / "j.db")
    assert second.aborted is None
    assert len(mended.there.asked) == 10 - 4
    assert {call.state for call in second.calls} == {State.ANSWERED}


def test_a_quota_of_prompts_ends_the_run_and_the_next_sitting_goes_on(tmp_path: Path):
    config = small(trials=5)
    client = ScriptedClient(config, lambda prompt, call: reply('{"answer": null}'))
    first = conduct(client, plan(config), journal=tmp_path / "j.db", most_new=4)
    assert (first.cause, first.made) == ("prompts", 4)
    again = conduct(client, plan(config), journal=tmp_path / "j.db", most_new=0)
    assert (again.cause, again.made) == ("prompts", 0)
    last = conduct(client, plan(config), journal=tmp_path / "j.db", most_new=100)
    assert (last.cause, last.made) == (None, 6)
    assert len(client.there.asked) == 10


def test_every_call_is_kept_raw(tmp_path: Path):
    config = small(trials=1)
    asks = plan(config, "statistical")
    client = ScriptedClient(config, lambda prompt, call: reply('{"answer": 7.5}', tokens_in=90, tokens_out=6))
    done = conduct(client, asks, journal=tmp_path / "j.db")
    for ask, call in zip(asks, done.calls, strict=True):
        assert call.prompt_sha256 == ask.prompt.sha256
        assert call.answer == '{"answer": 7.5}'
        assert call.parsed == 7.5
        assert call.truth == ask.trial.truth
        assert (call.input_tokens, call.output_tokens, call.attempts) == (90, 6, 1)
        assert (call.backend, call.cost_usd) == ("mock", 0.0)
        assert call.latency_s is not None
    assert {prompt_of(ask.request) for ask in asks} == set(client.there.asked)


@pytest.mark.parametrize(
    "said", [reply("I would rather not say"), failure(FailureKind.REFUSED), failure(FailureKind.TRUNCATED)]
)
def test_an_answer_that_came_is_never_asked_for_again(said, tmp_path: Path):
    config = small(trials=3)
    client = ScriptedClient(config, lambda prompt, call: said)
    first = conduct(client, plan(config), journal=tmp_path / "j.db")
    again = conduct(client, plan(config), journal=tmp_path / "j.db")
    assert len(client.there.asked) == 6
    assert first.calls == again.calls
    assert again.made == 0


class Lenient:
    """A form that says what counts as right, around one that reads."""

    tolerance = "within 5% of the truth"

    def __init__(self, form):
        self._form = form

    def __getattr__(self, name):
        return getattr(self._form, name)


def test_a_call_keeps_what_counts_as_right_where_the_form_says_so(tmp_path):
    config = small(trials=1)
    (trial,) = TASKS["trend"].plan(1, config.seed, config.max_data_size)
    question = replace(trial.question, form=Lenient(trial.question.form))
    asks = lay_out([replace(trial, question=question)], config)
    done = conduct(MockClient(config), asks, journal=tmp_path / "journal.db")
    assert {call.tolerance for call in done.calls} == {"within 5% of the truth"}
