"""Which files a journal calls its own."""

from contextlib import closing
from pathlib import Path

import pytest

from batchwork.journal import JournalReader, remember_output
from batchwork.journal.connections import connect
from batchwork.journals import write_output, wrote
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
    assert wrote(journal, out)
    moved = (tmp_path / "here").rename(tmp_path / "there")
    assert wrote(moved / "j.db", moved / name)
    with closing(JournalReader(moved / "j.db")) as reader:
        assert [path for path, _, _ in reader.outputs()] == [moved / name]


def test_an_output_elsewhere_stays_where_it_is_while_the_journal_moves(tmp_path: Path) -> None:
    journal, out = _journal(tmp_path / "here" / "j.db"), tmp_path / "out.jsonl"
    out.write_text("rows")
    remember_output(journal, out)
    moved = (tmp_path / "here").rename(tmp_path / "there")
    assert wrote(moved / "j.db", out)


def test_a_file_that_has_changed_is_no_longer_the_journals(tmp_path: Path) -> None:
    journal, out = _journal(tmp_path / "j.db"), tmp_path / "out.jsonl"
    out.write_text("rows")
    remember_output(journal, out)
    out.write_text("other rows")
    assert not wrote(journal, out)


def test_a_whole_path_as_journals_used_to_note_it_is_still_known(tmp_path: Path) -> None:
    journal, out = _journal(tmp_path / "j.db"), tmp_path / "out.jsonl"
    out.write_text("rows")
    seen = out.stat()
    with closing(connect(journal, writable=True)) as connection:
        connection.execute("INSERT INTO output VALUES (?,?,?)", (str(out.resolve()), seen.st_size, seen.st_mtime_ns))
    assert wrote(journal, out)


@pytest.mark.parametrize("step", ["before it is noted", "before it takes its place", "afterwards"])
def test_whenever_a_writer_is_killed_the_file_that_stands_there_is_the_journals(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, out = _journal(tmp_path / "j.db"), tmp_path / "out.jsonl"
    write_output(journal, out, lambda path: path.write_text("rows"))

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def write(path: Path) -> None:
        path.write_text("other rows")
        if step == "before it is noted":
            raise KeyboardInterrupt
        if step == "before it takes its place":
            monkeypatch.setattr(Path, "replace", killed)
        else:
            monkeypatch.setattr("batchwork.journals.sync_folder", killed)

    with pytest.raises(KeyboardInterrupt):
        write_output(journal, out, write)
    assert out.read_text() == ("other rows" if step == "afterwards" else "rows")
    assert wrote(journal, out)
    out.write_text("somebody's own")
    assert not wrote(journal, out)
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


def test_a_written_file_is_noted_once_and_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    journal, out, link = _journal(tmp_path / "j.db"), tmp_path / "real" / "out.jsonl", tmp_path / "out.jsonl"
    out.parent.mkdir()
    out.write_text("rows")
    out.chmod(0o640)
    link.symlink_to(out)
    assert write_output(journal, link, lambda path: path.write_text("other rows")) == (10, True)
    assert (link.is_symlink(), out.read_text(), out.stat().st_mode & 0o777) == (True, "other rows", 0o640)
    with closing(JournalReader(journal)) as reader:
        assert [path.resolve() for path, _, _ in reader.outputs()] == [out.resolve()]
