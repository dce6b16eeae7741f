"""The side index says what the journal says, however it was filled, and finds items by figures and by words."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from batchwork.core.outcome import Status
from batchwork.journal import JournalReader
from batchwork.view.columns import ItemColumns
from batchwork.view.fold import STATUSES
from batchwork.view.index import SideIndex, index_path, open_index
from batchwork.view.selection import Selection, selection_of
from batchwork.view.watch import JournalWatch
from tests.support.journals import (
    BEGAN,
    Pass,
    failed,
    passes,
    row,
    run_pass,
    settle,
    sqlite_journal,
    succeeded,
    write_everything,
)


def shown(index: SideIndex) -> list[tuple[int, int, Status, int, int]]:
    """The places of the latest input, as the index has them."""
    rows = [index.at(int(values[1])) for values in index.rows() if values[1] >= 0]
    told = [
        (r.place, r.id, STATUSES[r.status], r.paid, r.attempts) for r in rows if r is not None and r.place is not None
    ]
    return sorted(told)


def recorded(reader: JournalReader) -> list[tuple[int, int, Status, int, int]]:
    entries = reader.entries(bodies=False)
    return [(entry.index, entry.item, entry.status, entry.paid_nano, entry.attempts) for entry in entries]


@given(runs=passes())
@settings(max_examples=40, deadline=None)
def test_the_index_adds_up_to_what_the_journal_says_whenever_it_is_looked_at(runs: list[Pass]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.db"
        journal = sqlite_journal(path)
        for number, run in enumerate(runs):
            run_pass(journal, run)
            journal.flush()
            with (
                closing(JournalReader(path)) as reader,
                closing(open_index(Path(folder) / "i.db", reader)) as index,
            ):
                while index.seq < reader.sums().seq:
                    index.fill(reader, 3 + number)
                assert shown(index) == recorded(reader)
        journal.close()


def filled(path: Path, cache: Path) -> tuple[SideIndex, ItemColumns]:
    columns = ItemColumns()
    with closing(JournalReader(path)) as reader:
        index = open_index(index_path(path, cache), reader)
        while index.seq < reader.sums().seq:
            columns.change(index.fill(reader, 50))
    return index, columns


def test_columns_are_the_same_filled_step_by_step_and_loaded(tmp_path: Path) -> None:
    write_everything(tmp_path / "run.db")
    index, columns = filled(tmp_path / "run.db", tmp_path)
    loaded = ItemColumns()
    loaded.load(index.rows(), at_once=7)
    index.close()
    for selection in (Selection(), Selection(sort="paid", descending=True), Selection(status=("failed", "deferred"))):
        assert loaded.select(selection).tolist() == columns.select(selection).tolist() != []
    assert loaded.counts() == columns.counts()
    assert loaded.failures() == columns.failures()


def test_several_who_look_at_a_journal_for_the_first_time_make_one_index(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    write_everything(path)

    def look(_: int) -> str:
        with closing(JournalReader(path)) as reader, closing(open_index(tmp_path / "i.db", reader)) as index:
            return str(index.fits(reader))

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(look, range(24))) == {"True"}


def test_an_index_of_another_journal_or_of_no_index_at_all_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    for prompts in (["a", "b"], ["c"]):
        for part in ("", "-wal", "-shm", ".mark"):
            path.with_name(path.name + part).unlink(missing_ok=True)
        journal = sqlite_journal(path)
        run_pass(journal, Pass([(prompt, None) for prompt in prompts], ["succeeded"] * 2))
        journal.close()
        index, columns = filled(path, tmp_path)
        index.close()
        assert columns.counts()["succeeded"] == len(prompts)
    index_path(path, tmp_path).write_bytes(b"not a database at all, whatever its name says")
    index, columns = filled(path, tmp_path)
    index.close()
    assert columns.counts()["succeeded"] == 1


def found(index: SideIndex, columns: ItemColumns, words: str) -> list[int]:
    hits = index.with_words(Selection(words=words).terms)
    assert hits.most is None
    return [int(item) for item in columns.select(Selection(words=words), hits)]


def test_words_are_found_in_prompts_and_in_the_answers_that_items_have_now(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "run.db")
    journal.begin(BEGAN)
    items = [journal.place(i, row(text)).item for i, text in enumerate(["Where is Zürich?", "the Nile", "a-b_c"])]
    settle(journal, items[0], succeeded(0, "in the mountains"))
    settle(journal, items[1], failed(1))
    journal.reopen(items[1])
    settle(journal, items[1], succeeded(1, "north of Zurich's lake"))
    journal.close()
    index, columns = filled(tmp_path / "run.db", tmp_path)
    assert found(index, columns, "zurich") == [0, 1]
    assert found(index, columns, "ZÜRICH lake") == [1], "all words, in one of the texts"
    assert found(index, columns, 'a-b_c" OR x') == []
    assert found(index, columns, 'a-b_c"*') == [2], "what is no word is no syntax either"
    assert found(index, columns, "down") == [], "an answer that was replaced is not found any more"
    index.close()


def test_items_are_filtered_by_every_figure_and_sorted_by_any(tmp_path: Path) -> None:
    write_everything(tmp_path / "run.db")
    index, columns = filled(tmp_path / "run.db", tmp_path)
    index.close()
    rows = {item: (columns["place"][item], columns["paid"][item]) for item in columns.select(Selection()).tolist()}
    cheap = columns.select(selection_of({"max_cost": ["0.000000011"], "sort": ["paid"], "order": ["desc"]})).tolist()
    assert set(cheap) == {item for item, (_, paid) in rows.items() if paid <= 11}
    assert [rows[item][1] for item in cheap] == sorted((rows[item][1] for item in cheap), reverse=True)
    failures = columns.select(selection_of({"status": ["failed"], "kind": ["server"]})).tolist()
    assert columns.failures() == [("server", len(failures), failures[0])]


def test_a_journal_is_followed_as_it_grows_and_when_another_takes_its_place(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    journal = sqlite_journal(path)
    run_pass(journal, Pass([("a", None)], ["succeeded"]))
    journal.flush()
    watch = JournalWatch(path, tmp_path)
    with closing(watch):
        while watch.catch_up():
            pass
        assert (watch.columns.counts()["succeeded"], watch.progress.is_whole) == (1, True)
        run_pass(journal, Pass([("a", None), ("b", None)], ["failed"]))
        journal.flush()
        while watch.catch_up():
            pass
        assert watch.columns.counts()["failed"] == 1
        journal.close()
        path.rename(tmp_path / "old.db")
        other = sqlite_journal(path)
        run_pass(other, Pass([("c", None)] * 3, ["succeeded"] * 3))
        other.close()
        while watch.catch_up():
            pass
        assert watch.columns.counts()["succeeded"] == 3


@pytest.mark.parametrize(
    "query",
    [{"sort": ["x"]}, {"order": ["up"]}, {"page": ["0"]}, {"page": ["²"]}, {"status": ["gone"]}, {"min_cost": ["nan"]}],
)
def test_what_an_address_cannot_ask_for_is_said(query: dict[str, list[str]]) -> None:
    with pytest.raises(Exception, match=next(iter(query))):
        selection_of(query)


def test_a_selection_comes_back_from_its_own_address() -> None:
    from urllib.parse import parse_qs

    selection = Selection(
        status=("failed",),
        kind=("server", "timeout"),
        words="a & b",
        bounds=(("min_cost", "0.1"),),
        sort="paid",
        page=3,
    )
    assert selection_of(parse_qs(selection.query(page=3)[1:])) == selection
    assert "page" not in selection.query(descending=True)


@pytest.mark.parametrize(
    ("text", "words", "is_found"),
    [
        ("東京都の人口は約千四百万人です。", "人口", True),
        ("東京都の人口は約千四百万人です。", "京", True),
        ("東京都の人口は約千四百万人です。", "京東", False),
        ("서울에서 부산까지", "서울 부산", True),
        ("我住在ＮＹＣ的北边", "nyc 北边", True),
        ("ประเทศไทยอยู่ที่ไหน", "ไทย", True),
        ("हिन्दी में पूछो", "हिन्दी", True),
        ("हिन्दी में पूछो", "हिन्द", False),
        ("cafe\u0301 au lait", "café", True),
    ],
)
def test_words_are_found_in_every_script(tmp_path: Path, text: str, words: str, is_found: bool) -> None:
    journal = sqlite_journal(tmp_path / "run.db")
    journal.begin(BEGAN)
    journal.place(0, row(text))
    journal.close()
    index, columns = filled(tmp_path / "run.db", tmp_path)
    assert found(index, columns, words) == [0] * is_found
    index.close()
