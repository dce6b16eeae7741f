from pathlib import Path

import pytest

from batchwork import BatchManager, open_results
from batchwork.core.errors import ConfigError
from batchwork.journal import journal_at


@pytest.mark.parametrize(
    ("named", "journal"), [("out.jsonl", "out.jsonl.journal.db"), ("run.state", "run.state.journal")]
)
def test_an_output_or_a_state_file_means_the_journal_beside_it(tmp_path: Path, named: str, journal: str) -> None:
    (tmp_path / journal).touch()
    assert journal_at(tmp_path / named) == tmp_path / journal  # also where the file itself is gone
    (tmp_path / named).touch()
    assert journal_at(tmp_path / named) == tmp_path / journal
    assert journal_at(tmp_path / journal) == tmp_path / journal


def test_a_journal_of_which_only_the_log_is_left_is_still_the_one_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "out.csv.journal.db-wal").touch()
    assert journal_at(tmp_path / "out.csv") == tmp_path / "out.csv.journal.db"


def test_a_path_without_a_journal_beside_it_is_taken_as_it_is(tmp_path: Path) -> None:
    assert journal_at(tmp_path / "copy.db") == tmp_path / "copy.db"


def test_two_journals_beside_one_file_are_not_guessed_between(tmp_path: Path) -> None:
    (tmp_path / "a.json.journal.db").touch()
    (tmp_path / "a.json.journal").touch()
    with pytest.raises(ConfigError, match=r"a\.json\.journal\.db and a\.json\.journal: name one of them"):
        journal_at(tmp_path / "a.json")


def test_results_are_opened_by_the_name_of_the_state_file(tmp_path: Path) -> None:
    BatchManager(["a", "b"], model="mock:echo", state_path=tmp_path / "state.json").run()
    assert [outcome.text for outcome in open_results(tmp_path / "state.json")] == ["a", "b"]
