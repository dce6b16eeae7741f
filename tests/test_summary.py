"""The words at the end of a run."""

from __future__ import annotations

import string
from dataclasses import replace
from typing import Any

import pytest

from batchwork.cli import app
from batchwork.core.failure import FailureKind
from batchwork.core.outcome import Status
from batchwork.core.ports import Totals
from batchwork.core.stats import RunFigures, account
from batchwork.core.words import PYTHON, Door, command_line, manager_door
from batchwork.options import RunOptions
from batchwork.summary import _REMEDIES, Exit, Summary, grouped, wrapped

COMMAND = command_line("out.journal.db")
NO_MONEY = Totals(spent_nano=0, unconfirmed_nano=0)


def summary(door: Door = COMMAND, errors: tuple[str, ...] = (), **more: Any) -> Summary:
    counts = dict.fromkeys(Status, 0) | {Status(name): n for name, n in more.items() if name in list(Status)}
    counts[Status.FAILED] = len(errors)
    others = {name: value for name, value in more.items() if name not in list(Status)}
    known: dict[str, Any] = {"totals": NO_MONEY, "priced": True, "failures": grouped(errors)}
    return Summary(accounting=account(counts), door=door, **known | others)


def test_failures_are_grouped_by_kind_the_most_frequent_first_with_one_message_and_its_remedy() -> None:
    ended = summary(errors=("server: down", "bad_input: line 3: no prompt", "server: still down"), succeeded=4)
    assert ended.lines()[-4:] == [
        "failed   2 server, for example: down",
        "         The provider failed; later `batchwork retry out.journal.db` sends them again.",
        "failed   1 bad_input: line 3: no prompt",
        "         Never sent: correct it, then run the same command again.",
    ]
    assert ended.code is Exit.SOME_FAILED
    assert "`batchwork retry out.journal.db` tries them again, which may help 2 of 3." in ended.verdict


@pytest.mark.parametrize("kind", [kind for kind, (_, helps) in _REMEDIES.items() if not helps])
def test_a_retry_is_not_advised_at_the_end_where_it_cannot_help(kind: FailureKind) -> None:
    assert "retry" not in summary(errors=(f"{kind.value}: no",)).verdict


@pytest.mark.parametrize("kind", FailureKind)
@pytest.mark.parametrize("door", [COMMAND, PYTHON, manager_door(None)])
def test_every_kind_has_a_remedy_that_names_only_what_the_door_has(kind: FailureKind, door: Door) -> None:
    (_, remedy) = grouped([f"{kind.value}: no"])[0].lines(door)
    assert "{" not in remedy
    assert ("--" in remedy or "command" in remedy or "batchwork retry" in remedy) <= door.is_command
    options = [name for _, name, _, _ in string.Formatter().parse(_REMEDIES[kind][0]) if name]
    known = {*RunOptions.__annotations__, *Door.__slots__, "them"}
    assert set(options) <= known


def test_what_a_provider_says_is_one_short_line_and_commands_no_terminal() -> None:
    (line, _) = grouped(["server: \x1b[2Jgone\n" + 100 * "and gone "])[0].lines(COMMAND)
    assert line.startswith("failed   1 server: [2Jgone and gone")
    assert line.endswith(" ...")
    assert line.isprintable()
    assert len(line) < 200


def test_an_error_in_a_form_that_nobody_knows_is_still_counted() -> None:
    assert [(group.kind, group.example) for group in grouped(["odd", None])] == [(FailureKind.INTERNAL, "odd")]


def test_what_this_run_did_stands_beside_what_was_done_before() -> None:
    done = RunFigures(
        sent=9, reused=21, calls=12, retries=3, refusals=1, input_tokens=1200, output_tokens=7, elapsed_s=75
    )
    lines = summary(succeeded=30, figures=done).lines()
    assert lines[1:3] == [
        "this run 9 sent, 21 done before, 12 calls, 3 retries, 1 turned away (429, 503, 529), 1 min 15 s",
        "tokens   1,200 in, 7 out (this run)",
    ]


def test_a_run_in_batches_is_told_in_batches() -> None:
    done = RunFigures(sent=20, calls=21, retries=1, batches=2, elapsed_s=3)
    assert (
        "this run 20 sent, 2 new batches, 21 results (1 of them tried again), 3 s"
        in summary(succeeded=20, figures=done).lines()
    )


def test_the_cost_of_this_run_stands_before_that_of_all_and_what_is_short_is_told() -> None:
    done = RunFigures(sent=9, calls=9, charged_nano=2_000_000)
    told = replace(
        summary(succeeded=9, deferred=3, figures=done),
        totals=Totals(spent_nano=5_000_000, unconfirmed_nano=0),
        ceiling_nano=6_000_000,
        needed_nano=21_000_000,
        least_nano=7_000_000,
    )
    assert "cost     $0.002 (this run), $0.005 of $0.006 in all runs" in told.lines()
    (short,) = [line for line in told.lines() if line.startswith("deferred")]
    assert "raise --max-cost to $0.026, " in short
    assert "a single one may cost $0.007, by its --max-tokens" in short


def test_calls_that_were_under_way_at_a_kill_are_told_with_their_worst_case() -> None:
    told = replace(summary(succeeded=1), has_ended=False, under_way=2, under_way_nano=3_000_000)
    assert any("2 calls were under way: up to $0.003 more" in line for line in told.lines())


def test_a_rerun_that_sends_nothing_says_so() -> None:
    lines = summary(succeeded=30, figures=RunFigures(reused=30)).lines()
    assert "this run nothing to send: all 30 were done before" in lines


def test_a_retry_says_what_it_leaves_alone() -> None:
    run = RunFigures(sent=1, reused=1, calls=1, is_retry=True)
    lines = summary(succeeded=3, errors=("bad_input: a",), figures=run).lines()
    assert "this run 1 sent, 1 left alone, 1 call, 0 s" in lines
    none = summary(succeeded=3, figures=RunFigures(is_retry=True)).lines()
    assert "this run nothing to send: nothing has failed" in none


def test_money_that_nobody_has_confirmed_is_explained() -> None:
    totals = Totals(spent_nano=2_000_000_000, unconfirmed_nano=500_000_000)
    (cost,) = [line for line in summary(succeeded=1, totals=totals).lines() if line.startswith("cost")]
    assert cost.startswith("cost     $2.00, of which $0.50 unconfirmed: calls that were cut off")
    assert "may or may not be billed" in cost


@pytest.mark.parametrize(
    ("door", "raised"),
    [
        (COMMAND, "run the same command again with a higher --max-cost"),
        (manager_door(None), "with a higher max_cost= and"),
    ],
)
def test_deferred_items_wait_for_money_and_the_end_says_what_to_raise(door: Door, raised: str) -> None:
    ended = summary(door, succeeded=1, deferred=12, ceiling_nano=1_000_000_000)
    assert ended.code is Exit.BUDGET
    assert raised in ended.verdict
    assert any(line.startswith("deferred 12 wait for money") for line in ended.lines())
    assert any(line.startswith("deferred 1 waits for money") for line in summary(door, deferred=1).lines())


def test_a_run_that_has_not_ended_is_not_called_done() -> None:
    assert summary(succeeded=3, has_ended=False).verdict.startswith("Cut off: ")
    assert summary(succeeded=3, has_ended=False, running="7").verdict == "Running: process 7 is at work on it."


def test_a_long_line_is_broken_between_words_below_its_text() -> None:
    lines = wrapped("cost     $2.00, of which $0.50 unconfirmed: calls", 30).split("\n")
    assert lines == ["cost     $2.00, of which $0.50", "         unconfirmed: calls"]
    assert wrapped("cost     $2.00", None) == "cost     $2.00"


def test_the_command_line_has_every_option_that_its_remedies_name() -> None:
    from typer.main import get_command

    run = get_command(app).commands["run"]  # type: ignore[attr-defined]
    flags = {flag for parameter in run.params for flag in parameter.opts}
    names = {name for text, _ in _REMEDIES.values() for _, name, _, _ in string.Formatter().parse(text) if name}
    assert {COMMAND[name] for name in names - {*Door.__slots__, "them"}} <= flags


def test_answers_that_were_cut_off_are_told_at_the_end_with_the_option_to_raise() -> None:
    lines = summary(succeeded=30, figures=RunFigures(sent=30, calls=30, truncated=2)).lines()
    assert next(line for line in lines if line.startswith("cut off")).startswith(
        "cut off  2 answers were cut off by --max-tokens"
    )
    assert not any(line.startswith("cut off") for line in summary(succeeded=30, figures=RunFigures(sent=30)).lines())
