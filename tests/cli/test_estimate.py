"""`batchwork estimate`: what a run would need, without sending anything."""

import re
from pathlib import Path

from tests.cli.conftest import Run


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
