"""Results are read from the journal while they are looked at."""

from pathlib import Path

import batchwork


def test_the_journal_stays_open_while_only_the_iterator_of_the_results_is_held(tmp_path: Path) -> None:
    texts = [r.text for r in batchwork.run(["a", "b", "c"], model="mock:echo", journal=tmp_path / "j.db")]
    assert texts == ["a", "b", "c"]
