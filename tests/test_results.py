"""Results are read from the journal while they are looked at."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import batchwork
from batchwork.core.intake import Intake
from batchwork.core.request import Request
from batchwork.journal import MemoryJournal
from batchwork.results import EveryPlace


def test_the_journal_stays_open_while_only_the_iterator_of_the_results_is_held(tmp_path: Path) -> None:
    texts = [r.text for r in batchwork.run(["a", "b", "c"], model="mock:echo", journal=tmp_path / "j.db")]
    assert texts == ["a", "b", "c"]


@given(st.sets(st.integers(0, 30)), st.integers(0, 25), st.integers(0, 30), st.none() | st.integers(0, 30))
def test_every_place_of_an_input_is_there_whatever_was_read_of_it(
    read: set[int], total: int, start: int, stop: int | None
) -> None:
    journal = MemoryJournal()
    for index in sorted(read):
        request = Request.ask(str(index))
        journal.place(index, Intake(fingerprint=request.fingerprint, request=request, columns=None))
    every = EveryPlace(journal, total)
    assert every.count() == total
    found = list(every.entries(start, stop))
    assert [entry.index for entry in found] == list(range(start, min(total, total if stop is None else stop)))
    assert [entry.request is not None for entry in found] == [entry.index in read for entry in found]
