"""Progress while a run goes on."""

from __future__ import annotations

import asyncio
import io
import re

import pytest

import batchwork
from batchwork import BatchManager, FailureKind
from tests.support.managers import prompts, scripted
from tests.support.scripted import Scripted, failure
from tests.support.virtual_time import run_virtual


def test_progress_says_what_answers(capsys: pytest.CaptureFixture[str]) -> None:
    batchwork.run(["a"], model="mock:echo", progress=True)
    assert "no language model is called" in capsys.readouterr().err


def test_progress_tells_the_five_lines_and_the_end_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    backend = Scripted(lambda prompt, call: failure(FailureKind.REJECTED) if prompt == "p7" else prompt)
    manager = BatchManager(messages=prompts(20), items_per_job=10, max_cost=1, **scripted(backend))
    manager.run(print_progress=True)
    shown = capsys.readouterr().out.splitlines()
    last = shown[-shown[::-1].index("Processing: 20/20 items (100.0%)") - 1 :]
    assert last[0] == "Processing: 20/20 items (100.0%)"
    assert last[1] == "Jobs: 2/2 completed, 0 in progress"
    assert re.fullmatch(r"Cost: \$0\.000285 / \$1\.00 \(0\.0% of limit\)", last[2])
    assert last[3] == "ETA: done"
    assert last[4] == "Failed: 1 item"
    assert last[5] == "Elapsed: 0 sec, 20 calls"
    assert last[6:] == [
        "items    20 inputs = 19 succeeded + 1 failed + 0 deferred + 0 skipped",
        "this run 20 sent, 20 calls, 0 s",
        "tokens   190 in, 95 out (this run)",
        "cost     $0.000285 of $1.00",
        "failed   1 rejected: scripted",
        "         Correct what the provider names, then retry_failed() sends it again, with another base_url= where"
        " that was wrong; what is wrong in the rows, correct there and call retry_failed() (corrected messages need a"
        " manager of their own).",
        "Some failed: retry_failed() tries them again.",
    ]


def test_on_a_terminal_the_lines_are_rewritten_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", terminal := Terminal())
    BatchManager(messages=prompts(3), **scripted(Scripted())).run(print_progress=True)
    assert "\r\x1b[2K" + 4 * "\x1b[1A\x1b[2K" in terminal.getvalue()  # all five are erased, from the last one up
    assert terminal.getvalue().count("Processing: ") >= 2


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_of_a_run_is_on_standard_error_and_goes_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    batchwork.run(["a", "b"], model="mock:echo", backend=Scripted(latency=0.5, free=True), progress=True)
    assert "/2 (0.0%) done" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[1A\x1b[2K")  # what was shown is erased


def test_nothing_is_shown_any_more_when_an_arun_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    async def main() -> None:
        await batchwork.arun(["a"], model="mock:echo", backend=Scripted(latency=12.0, free=True), progress=True)
        await asyncio.sleep(60)

    run_virtual(main())
    assert capsys.readouterr().err.count("in flight") == 2  # after five and ten seconds


def test_a_terminal_that_knows_no_commands_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr("sys.stdout", terminal := Terminal())
    BatchManager(messages=prompts(3), **scripted(Scripted())).run(print_progress=True)
    assert "\x1b" not in terminal.getvalue()
    assert "Processing: 3/3 items (100.0%)" in terminal.getvalue().splitlines()
    assert terminal.getvalue().endswith("All succeeded.\n")
