"""No two rows of an input are the same item, and every item that is known is found again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.journals import Pass, memory_journal, passes, run_pass


@settings(max_examples=150)
@given(passes())
def test_no_two_rows_of_a_run_are_the_same_item_and_what_is_known_is_found_again(runs: list[Pass]) -> None:
    journal = memory_journal(Path())
    known: Counter[str] = Counter()
    seen: set[int] = set()
    for run in runs:
        states = run_pass(journal, run)
        items = [state.item for state in states]
        assert len(set(items)) == len(items)
        read = Counter(text for text, _ in run.rows[: len(states)])
        found = Counter(text for (text, _), state in zip(run.rows, states, strict=False) if state.item in seen)
        assert found == Counter({text: min(n, known[text]) for text, n in read.items() if known[text]})
        known |= read
        seen |= set(items)


@given(st.integers(0, 3), st.integers(1, 9))
def test_many_equal_rows_are_told_apart_after_an_unfinished_run(gap: int, more: int) -> None:
    journal = memory_journal(Path())
    first = [("a", None)] * (gap + 3) + [("y", None), ("a", None)]
    run_pass(journal, Pass(first, ["succeeded"] * 20))
    changed = [*first[: gap + 2], ("q", None), *first[gap + 3 :]]
    run_pass(journal, Pass(changed, ["succeeded"] * 20, read=gap + 3))
    states = run_pass(journal, Pass(changed + [("a", None)] * more, ["succeeded"] * 20))
    assert {state.item for state in states} >= set(range(gap + 5))
