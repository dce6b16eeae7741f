"""`batchwork estimate`: what a run would need, without sending anything."""

import re
from contextlib import closing
from pathlib import Path

from batchwork.cli.estimate import Journaled
from batchwork.journal import JournalReader
from tests.cli.conftest import Run
from tests.support.journals import Pass, row, run_pass, sqlite_journal


def test_an_unknown_item_price_is_never_zero(batchwork: Run, rivers: Path) -> None:
    done = batchwork("estimate", rivers.name, "--model", "mock:echo", "--prompt", "{text}", "--price", "1,2")
    assert done.returncode == 0
    assert "items          10" in done.stdout
    assert "$1 in, $2 out" in done.stdout


def test_estimate_sends_nothing_and_writes_nothing(batchwork: Run, rivers: Path, folder: Path) -> None:
    model = "mock:echo?log=calls.log"
    batchwork("estimate", rivers.name, "-o", "out.jsonl", "--model", model, "--prompt", "{text}", "--rpm", "5")
    assert sorted(p.name for p in folder.iterdir()) == [rivers.name]


def test_an_estimate_counts_what_the_claude_program_adds_around_every_prompt(batchwork: Run, rivers: Path) -> None:
    said = batchwork("estimate", rivers.name, "--model", "claude-code:sonnet", "--prompt", "{text}").stdout
    (most,) = [int(found.replace(",", "")) for found in re.findall(r"input tokens .* at most ([\d,]+)", said)]
    assert most > 10 * 2000


def test_an_estimate_of_batches_does_not_speak_of_live_limits(batchwork: Run, rivers: Path) -> None:
    command = ("estimate", rivers.name, "--model", "claude-haiku-5-5", "--prompt", "{text}", "--rpm", "1")
    live, batch = (batchwork(*command, "--mode", mode).stdout for mode in ("live", "batch"))
    assert "at least 10 min" in live
    assert "up to 24 hours for each batch, 5 at once" in batch
    assert "10 min" not in batch


def test_what_the_journal_has_settled_is_not_estimated_again(batchwork: Run, rivers: Path) -> None:
    command = (rivers.name, "-o", "out.jsonl", "--model", "mock:echo", "--prompt", "{text}", "--price", "1,2")
    batchwork("run", *command, "--limit", "4", "-q")
    told = batchwork("estimate", *command, "--max-cost", "1").stdout
    assert "items          10: 4 done before, 6 to ask" in told
    assert "of it spent before: the worst case fits" in told
    assert '"about" is a guess' in told


def test_equal_rows_and_moved_rows_are_known_by_their_number(tmp_path: Path) -> None:
    with closing(sqlite_journal(tmp_path / "j.db")) as journal:
        run_pass(journal, Pass([("a", None), ("b", None), ("a", None)], ["succeeded", "failed", "deferred"]))
        journal.flush()
    with closing(JournalReader(tmp_path / "j.db", pinned=True)) as reader:
        known = Journaled(reader)
        found = [known.is_done(index, row(text).fingerprint) for index, text in enumerate("baac")]
    assert found == [True, True, False, False]  # of two equal rows the first is done
