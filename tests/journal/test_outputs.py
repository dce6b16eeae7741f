"""Which files a journal calls its own."""

from contextlib import closing
from pathlib import Path

import pytest

from batchwork.journal import JournalReader, is_ours, remember_output
from batchwork.journal.connections import connect
from tests.support.journals import Pass, run_pass, sqlite_journal


def _journal(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    journal = sqlite_journal(path)
    run_pass(journal, Pass([("a", None)], ["succeeded"]))
    journal.close()
    return path


@pytest.mark.parametrize("name", ["out.jsonl", "deeper/out.jsonl"])
def test_a_journal_and_its_output_may_be_moved_together(name: str, tmp_path: Path) -> None:
    journal, out = _journal(tmp_path / "here" / "j.db"), tmp_path / "here" / name
    out.parent.mkdir(exist_ok=True)
    out.write_text("rows")
    remember_output(journal, out)
    assert is_ours(journal, out)
    moved = (tmp_path / "here").rename(tmp_path / "there")
    assert is_ours(moved / "j.db", moved / name)
    with closing(JournalReader(moved / "j.db")) as reader:
        assert [path for path, _, _ in reader.outputs()] == [moved / name]


def test_an_output_elsewhere_stays_where_it_is_while_the_journal_moves(tmp_path: Path) -> None:
    journal, out = _journal(tmp_path / "here" / "j.db"), tmp_path / "out.jsonl"
    out.write_text("rows")
    remember_output(journal, out)
    moved = (tmp_path / "here").rename(tmp_path / "there")
    assert is_ours(moved / "j.db", out)


def test_a_file_that_has_changed_is_no_longer_the_journals(tmp_path: Path) -> None:
    journal, out = _journal(tmp_path / "j.db"), tmp_path / "out.jsonl"
    out.write_text("rows")
    remember_output(journal, out)
    out.write_text("other rows")
    assert not is_ours(journal, out)


def test_a_whole_path_as_journals_used_to_note_it_is_still_known(tmp_path: Path) -> None:
    journal, out = _journal(tmp_path / "j.db"), tmp_path / "out.jsonl"
    out.write_text("rows")
    seen = out.stat()
    with closing(connect(journal, writable=True)) as connection:
        connection.execute("INSERT INTO output VALUES (?,?,?)", (str(out.resolve()), seen.st_size, seen.st_mtime_ns))
    assert is_ours(journal, out)
