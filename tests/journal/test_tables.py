"""Items are found by what they ask, whether memory or the table of identities knows them."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from batchwork.core.errors import JournalDamagedError
from batchwork.core.event import Ended
from tests.support.journals import BEGAN, row, sqlite_journal

MANY = 9_500  # the first 9,000 go into the table together, the rest stay young


def run(path: Path, texts: list[str]) -> list[int]:
    """The item of every row of an input."""
    with closing(sqlite_journal(path)) as journal:
        journal.begin(BEGAN)
        items = []
        for index, text in enumerate(texts):
            items.append(journal.place(index, row(text)).item)
            journal.release(items[-1])
            if index % 1000 == 999:
                journal.flush()
        journal.record(Ended(inputs=len(texts)))
    return items


def noted(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM identity").fetchone()
    return int(count)


def test_a_shuffled_rerun_finds_every_item_again(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    texts = [f"row {i // 2 if i % 10 == 0 else i}" for i in range(MANY)]  # some stand there twice
    first = run(path, texts)
    assert sorted(first) == list(range(MANY))
    assert 8192 <= noted(path) < MANY
    shuffled = random.Random(1).sample(texts, k=MANY)
    again = run(path, shuffled)
    assert sorted(again) == list(range(MANY))  # every one once, none new
    text_of = dict(zip(first, texts, strict=True))
    assert [text_of[item] for item in again] == shuffled


def test_the_table_takes_up_what_a_later_run_adds(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    run(path, [f"row {i}" for i in range(3000)])
    assert noted(path) == 0
    longer = [f"row {i}" for i in range(MANY)]
    assert run(path, longer) == list(range(MANY))
    assert noted(path) >= 8192
    assert run(path, longer[::-1]) == list(range(MANY))[::-1]


def test_a_table_that_has_lost_an_item_is_noticed_before_it_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    texts = [f"row {i}" for i in range(MANY)]
    run(path, texts)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM identity WHERE item = 17")
        connection.commit()
    with pytest.raises(JournalDamagedError, match="not every item is found again"):
        run(path, texts[::-1])
