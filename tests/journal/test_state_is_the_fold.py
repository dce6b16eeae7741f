"""The tables, the memory journal and the fold of the events say the same, whatever runs went over them."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from batchwork.core.runstate import fold
from batchwork.journal import JournalReader
from tests.support.journals import Pass, memory_journal, run_pass, sqlite_journal, told

_FATES = ["succeeded", "failed", "deferred", "skipped", "pending", "attempted", "cut off"]
_ROWS = st.lists(st.tuples(st.sampled_from("aaabbcd"), st.sampled_from([None, None, 1, 2])), max_size=12)


@st.composite
def _passes(draw: st.DrawFn) -> list[Pass]:
    """Runs whose inputs grow out of each other: rows inserted, removed, changed, doubled, or all new."""
    rows = draw(_ROWS)
    passes = []
    for _ in range(draw(st.integers(1, 5))):
        change = draw(st.sampled_from(["same", "insert", "remove", "change", "append", "new", "swap"]))
        at = draw(st.integers(0, max(0, len(rows) - 1)))
        extra = draw(_ROWS)[:2]
        rows = {
            "same": rows,
            "insert": rows[:at] + extra + rows[at:],
            "remove": rows[:at] + rows[at + 1 :],
            "change": rows[:at] + extra[:1] + rows[at + 1 :],
            "append": rows + extra,
            "new": draw(_ROWS),
            "swap": rows[at:] + rows[:at],
        }[change]
        fates = draw(st.lists(st.sampled_from(_FATES), max_size=len(rows)))
        read = draw(st.one_of(st.none(), st.integers(0, len(rows))))
        passes.append(Pass(rows, fates, read, kept=draw(st.booleans())))
    return passes


# Without shrinking: every example writes to disk, and a failing one is small enough to read.
@settings(max_examples=60, phases=[Phase.explicit, Phase.generate])
@given(_passes())
def test_both_journals_and_the_fold_agree_after_every_run(passes: list[Pass]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "j.db"
        disk, memory = sqlite_journal(path), memory_journal(path)
        for run in passes:
            on_disk, in_memory = run_pass(disk, run), run_pass(memory, run)
            assert [state.item for state in on_disk] == [state.item for state in in_memory]
            assert told(disk) == told(memory)
            if not run.kept:
                disk.close()
                disk = sqlite_journal(path)
        disk.close()
        reader = JournalReader(path)
        state = fold(reader.events())
        rows = {item: reader.items.row(item) for item in state.items}
        for item, folded in state.items.items():
            row = rows[item]
            assert row is not None
            assert [getattr(row, name) for name in folded.__slots__] == [
                getattr(folded, name) for name in folded.__slots__
            ]
        outcomes = {entry.item: entry.outcome for entry in reader.entries() if entry.outcome is not None}
        assert {i: o.status for i, o in outcomes.items()} == {
            i: o.status for i, o in state.outcomes.items() if state.items[i].index is not None
        }
        totals = reader.totals()
        assert (totals.spent_nano, totals.unconfirmed_nano) == (state.spent_nano, state.unconfirmed_nano)
        reader.close()


@settings(max_examples=150)
@given(_passes())
def test_no_two_rows_of_a_run_are_the_same_item_and_what_is_known_is_found_again(passes: list[Pass]) -> None:
    journal = memory_journal(Path())
    known: Counter[str] = Counter()
    seen: set[int] = set()
    for run in passes:
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
