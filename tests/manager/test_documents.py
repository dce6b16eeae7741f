"""Every kind of document on its way through a manager, to a provider on loopback and back with citations."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from batchwork import BatchManager
from batchwork.core.event import Event, Settled


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_a_file_that_takes_its_time_holds_up_no_other(tmp_path: Path) -> None:
    slow = tmp_path / "slow.txt"
    slow.write_text("there when the manager looks")

    def feed(event: Event) -> None:
        if isinstance(event, Settled) and event.outcome.index == 0:
            slow.write_text("the rest")  # its reader waits for this, and nobody may wait for its reader

    files = [b"first", slow, b"last"]
    manager = BatchManager(files=files, prompt="Say it.", model="mock:echo", mode="live", on_event=feed)
    slow.unlink()
    os.mkfifo(slow)
    assert [result.document.text for result in manager.run()] == ["first", "the rest", "last"]
